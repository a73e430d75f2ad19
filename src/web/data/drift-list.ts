/**
 * The list of entities that are not as planned: every device, port, link and host for which the service reports `drift`,
 * including those that are only planned and so are in no list without `drift`. The page follows it over a separate stream,
 * and only while it needs the list.
 */
import { type Client, idOf } from "../../client/client.ts";
import type { Drift, DriftState, Port } from "../../model/entity.ts";
import type { NetworkEntity } from "./page-network.ts";

type AnyEntity = NetworkEntity | { readonly resource: "ports"; readonly value: Port };
export type DriftEntity = AnyEntity & { readonly drift: Drift };

export interface DriftList {
  /** Entities by resource and id. */
  readonly entities: ReadonlyMap<string, DriftEntity>;
  /** The reason why the list is not available, as the service states it. */
  readonly error?: string;
}

const keyOf = ({ resource, value }: AnyEntity): string => `${resource} ${idOf(value)}`;

/** Calls `onChange` with the whole list, first when it is complete and then after each revision that changes it. */
export async function watchDrift(
  client: Client,
  onChange: (list: DriftList) => void,
  signal: AbortSignal,
): Promise<void> {
  const entities = new Map<string, DriftEntity>();
  const set = (entity: AnyEntity) => {
    const { drift } = entity.value;
    if (drift) entities.set(keyOf(entity), { ...entity, drift });
    else entities.delete(keyOf(entity));
  };
  for await (const event of client.watch("topology", { drift: "any" }, { signal })) {
    if (event.type === "reset") entities.clear();
    else if (event.type === "snapshot") set(event);
    else if (event.type === "removed") entities.delete(keyOf(event));
    else if (event.type !== "synced") set(event);
    const isComplete = event.type === "synced" || ("last" in event && event.last);
    if (isComplete) onChange({ entities });
  }
}

export async function loadDriftAt(client: Client, at: string, signal: AbortSignal): Promise<DriftList> {
  const query = { drift: "any", at };
  const [devices, ports, links, hosts] = await Promise.all([
    client.list("devices", query, { signal }),
    client
      .raw("devices/ports", query, { signal })
      .then((response): Promise<{ ports: Port[] }> => response.json()),
    client.list("links", query, { signal }),
    client.list("hosts", query, { signal }),
  ]);
  const all: AnyEntity[] = [
    ...devices.items.map((value) => ({ resource: "devices", value }) as const),
    ...ports.ports.map((value) => ({ resource: "ports", value }) as const),
    ...links.items.map((value) => ({ resource: "links", value }) as const),
    ...hosts.items.map((value) => ({ resource: "hosts", value }) as const),
  ];
  const drifting = all.flatMap((entity): DriftEntity[] => {
    const { drift } = entity.value;
    return drift ? [{ ...entity, drift }] : [];
  });
  return { entities: new Map(drifting.map((entity) => [keyOf(entity), entity])) };
}

/** The devices, links and hosts that are only planned. */
export function missingEntities(list: DriftList): NetworkEntity[] {
  const missing: NetworkEntity[] = [];
  for (const entity of list.entities.values())
    if (entity.resource !== "ports" && entity.drift.state === "missing") missing.push(entity);
  return missing;
}

/** The ports of a device that are only planned. */
export function missingPorts(list: DriftList | undefined, device: string): Port[] {
  const ports: Port[] = [];
  for (const { resource, value, drift } of list?.entities.values() ?? [])
    if (resource === "ports" && drift.state === "missing" && value.element === device) ports.push(value);
  return ports;
}

export const DRIFT_TITLES: Readonly<Record<DriftState, string>> = {
  missing: "Missing",
  unplanned: "Not planned",
  differs: "Differs",
};

/** The counts as text, such as `2 missing, 1 not planned, 3 differ`. Counts of zero are left out. */
export function summarizeDrift(entities: readonly DriftEntity[]): string {
  const counts: Record<DriftState, number> = { missing: 0, unplanned: 0, differs: 0 };
  for (const { drift } of entities) counts[drift.state]++;
  const { missing, unplanned, differs } = counts;
  const parts = [
    missing > 0 && `${missing} missing`,
    unplanned > 0 && `${unplanned} not planned`,
    differs > 0 && `${differs} ${differs === 1 ? "differs" : "differ"}`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}
