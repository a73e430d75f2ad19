/** Lists of changes: the recent ones, and those of one entity. */

import type { ComponentChildren } from "preact";
import type { Client } from "../../client/client.ts";
import { type ChangeGroup, type ChangeText, describeChange } from "../data/change-groups.ts";
import type { NetworkChange } from "../data/live.ts";
import type { EntityKind } from "../data/page-network.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { Button } from "../elements/controls.tsx";
import { formatShortTime, toTimestamp } from "../elements/format-time.ts";
import { EntityLink, Loaded, Rest } from "./parts.tsx";

export function RecentChanges() {
  const { recentChanges, recentSince } = useStore();
  const groups = recentChanges.value;
  const since = formatShortTime(recentSince.value);
  if (groups.length === 0) return <p class="muted">{`Nothing has changed since ${since}.`}</p>;
  return (
    <>
      <ol class="history changes">
        {groups.map((group) => (
          <GroupItem key={group.key} group={group} />
        ))}
      </ol>
      <p class="muted">{`All changes since ${since}.`}</p>
    </>
  );
}

/** A group as one line. The line of several changes opens to a list of them. */
function GroupItem({ group: { changes, count, title, time } }: { readonly group: ChangeGroup }) {
  const [first] = changes;
  if (!first) return null;
  if (count === 1) return <ChangeLine change={first} timeMs={time} />;
  const rest = count - changes.length;
  return (
    <li class={first.tone}>
      <span class="sign" aria-hidden="true">
        {first.sign}
      </span>
      <details>
        <summary>{`${title} ${first.many}`}</summary>
        <ol class="history">
          {changes.map((change) => (
            <ChangeLine key={change.subject} change={change} timeMs={change.time} />
          ))}
        </ol>
        <Rest count={rest} />
      </details>
      <TimeButton timeMs={time} />
    </li>
  );
}

interface ChangeLineProps {
  readonly change: ChangeText;
  readonly timeMs?: number;
  /** Whether the line names the entity. */
  readonly hasTitle?: boolean;
  readonly children?: ComponentChildren;
}

export function ChangeLine({ change, timeMs, hasTitle = true, children }: ChangeLineProps) {
  const { ref, title, text, tone, sign } = change;
  return (
    <li class={tone}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      <span>
        {hasTitle && <EntityLink to={ref}>{title}</EntityLink>}
        {hasTitle ? ` ${text}` : text}
        {children}
      </span>
      {timeMs !== undefined && <TimeButton timeMs={timeMs} />}
    </li>
  );
}

function TimeButton({ timeMs }: { readonly timeMs: number }) {
  const { go } = useStore();
  // A timestamp in an address has whole seconds, so it is rounded up to include the change.
  const show = () => go({ at: toTimestamp(timeMs + 999) });
  return <Button class="when" title="See the network then" label={formatShortTime(timeMs)} onClick={show} />;
}

const MAX_SHOWN = 40;

interface HistoryEntity {
  readonly id: string;
  readonly revision: number;
  readonly firstSeen: string;
  readonly lastChanged: string;
}

interface EntityHistoryProps {
  readonly kind: EntityKind;
  readonly entity: HistoryEntity;
}

/** The changes of one entity, newest first, as far back as the history of the service goes. */
export function EntityHistory({ kind, entity }: EntityHistoryProps) {
  const { client } = useStore();
  const network = useNetwork();
  if (!network) return null;
  return (
    <Loaded version={String(entity.revision)} load={(signal) => loadChanges(client, kind, entity, signal)}>
      {(changes) =>
        changes.length === 0 ? (
          <p class="muted">Nothing has happened to it since it was first seen.</p>
        ) : (
          <ol class="history">
            {changes.slice(0, MAX_SHOWN).map((change) => (
              <ChangeLine
                key={`${change.revision} ${change.event}`}
                change={describeChange(network, change)}
                timeMs={change.time}
                hasTitle={false}
              />
            ))}
          </ol>
        )
      }
    </Loaded>
  );
}

/** Sends no request for an entity that never changed, because reading a long history is expensive for the service. */
async function loadChanges(
  client: Client,
  kind: EntityKind,
  { id, firstSeen, lastChanged }: HistoryEntity,
  signal: AbortSignal,
): Promise<NetworkChange[]> {
  if (firstSeen === lastChanged) return [];
  const { oldest } = await client.timeline(1, {}, { signal });
  const { changes } = await client.changes(kind, oldest.revision, { id }, { signal });
  return changes.reverse();
}
