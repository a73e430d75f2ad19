/** The network at a moment of the past, and two moments held against each other. */
import type { Client, EntityDiff } from "../client/client.ts";
import { cableId } from "../model/cable.ts";
import type { Marks } from "./map/focus.ts";
import type { Mark } from "./map/style.ts";
import { Network, type NetworkEntity } from "./network.ts";

export async function loadNetworkAt(client: Client, at: string, signal: AbortSignal): Promise<Network> {
  const query = { at };
  const [devices, links, hosts] = await Promise.all([
    client.list("devices", query, { signal }),
    client.list("links", query, { signal }),
    client.list("hosts", query, { signal }),
  ]);
  const network = new Network();
  for (const value of devices.items) network.set({ resource: "devices", value });
  for (const value of links.items) network.set({ resource: "links", value });
  for (const value of hosts.items) network.set({ resource: "hosts", value });
  network.setHostsLoaded();
  return network;
}

export type NetworkDifference = Extract<EntityDiff, { resource: NetworkEntity["resource"] }>;

export interface Comparison {
  /** Everything of both moments: what is gone is still drawn, marked. */
  readonly network: Network;
  readonly marks: Marks;
  readonly differences: readonly NetworkDifference[];
  readonly from: number;
  readonly to: number;
}

export async function loadComparison(
  client: Client,
  from: string,
  to: string | undefined,
  later: Network,
  signal: AbortSignal,
): Promise<Comparison> {
  const answer = await client.diff(
    "topology",
    moment(from),
    to === undefined ? undefined : moment(to),
    {},
    { signal },
  );
  const differences = answer.changes.filter(isShown).filter(isSeen);
  const network = copied(later);
  for (const change of differences) if (change.event === "removed") network.set(change);
  return { network, differences, marks: marksOf(differences), from: answer.from.time, to: answer.to.time };
}

const isShown = (change: EntityDiff): change is NetworkDifference => change.resource !== "ports";

/** What changed and changed back in between differs in nothing that can be seen. */
const isSeen = (change: NetworkDifference): boolean =>
  change.event !== "updated" || change.changed.length > 0;

/** A revision is written as a number, a time as itself. */
const moment = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);

function copied(network: Network): Network {
  const copy = new Network();
  for (const value of network.devices.values()) copy.set({ resource: "devices", value });
  for (const value of network.links.values()) copy.set({ resource: "links", value });
  for (const value of network.hosts.values()) copy.set({ resource: "hosts", value });
  if (network.hostsLoaded) copy.setHostsLoaded();
  return copy;
}

/** A host that came, went or moved marks the device it is seen on as changed. */
export function marksOf(differences: readonly NetworkDifference[]): Marks {
  const devices = new Map<string, Mark>();
  const cables = new Map<string, Mark>();
  for (const change of differences) {
    if (change.resource === "devices") devices.set(change.value.id, change.event);
    else if (change.resource === "links") {
      const id = cableId(change.value);
      const other = cables.get(id);
      // One direction of two: the cable is there, but not as it was.
      cables.set(id, other === undefined || other === change.event ? change.event : "updated");
    }
  }
  for (const change of differences) {
    if (change.resource !== "hosts") continue;
    const { elementId } = change.value.location;
    if (!devices.has(elementId)) devices.set(elementId, "updated");
  }
  return { devices, cables };
}
