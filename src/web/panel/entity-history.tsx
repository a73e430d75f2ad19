/** The changes of one entity, newest first, as far back as the history of the service goes. */
import type { Client } from "../../client/client.ts";
import type { NetworkChange } from "../data/live.ts";
import type { Collection } from "../data/loaded-network.ts";
import { useStore } from "../data/page-store.ts";
import { EntityChanges } from "./change-list.tsx";
import { Loaded } from "./loaded.tsx";

const MAX_SHOWN = 40;

interface HistoryEntity {
  readonly id: string;
  readonly revision: number;
  readonly firstSeen: string;
  readonly lastChanged: string;
}

interface EntityHistoryProps {
  readonly kind: Collection;
  readonly entity: HistoryEntity;
}

export function EntityHistory({ kind, entity }: EntityHistoryProps) {
  const { client } = useStore();
  return (
    <Loaded version={String(entity.revision)} load={(signal) => loadChanges(client, kind, entity, signal)}>
      {(changes) =>
        changes.length === 0 ? (
          <p class="muted">Nothing has happened to it since it was first seen.</p>
        ) : (
          <EntityChanges changes={changes.slice(0, MAX_SHOWN)} />
        )
      }
    </Loaded>
  );
}

/** Reading a long history is expensive for the service: no request for an entity that never changed. */
async function loadChanges(
  client: Client,
  kind: Collection,
  { id, firstSeen, lastChanged }: HistoryEntity,
  signal: AbortSignal,
): Promise<NetworkChange[]> {
  if (firstSeen === lastChanged) return [];
  const { oldest } = await client.timeline(1, {}, { signal });
  const { changes } = await client.changes(kind, oldest.revision, { id }, { signal });
  return changes.reverse();
}
