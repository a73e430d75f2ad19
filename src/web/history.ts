/** The network as of an earlier moment, and the comparison of two moments. */
import type { Client, EntityDiff } from "../client/client.ts";
import { cableId } from "../model/cable.ts";
import { loadNetwork } from "./load-network.ts";
import type { MapMarks } from "./map/highlights.ts";
import type { ChangeMark } from "./map/style.ts";
import type { Collection, Network } from "./network.ts";

export const loadNetworkAt = async (client: Client, at: string, signal: AbortSignal): Promise<Network> =>
  (await loadNetwork(client, at, signal)).network;

export type NetworkDifference = Extract<EntityDiff, { resource: Collection }>;

export interface Comparison {
  /** The later network with the entities that were removed since, so that the map draws them with a mark. */
  readonly network: Network;
  readonly marks: MapMarks;
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
  const end = to === undefined ? undefined : parseMoment(to);
  const diff = await client.diff("topology", parseMoment(from), end, {}, { signal });
  const differences = diff.changes.filter(isNetworkDifference).filter(isVisible);
  const removed = differences.filter(({ event }) => event === "removed");
  const removedHosts = removed.flatMap(({ resource, value }) => (resource === "hosts" ? [value] : []));
  const network = later.withHosts(new Map(removedHosts.map((host) => [host.id, host])));
  for (const change of removed) if (change.resource !== "hosts") network.set(change);
  return { network, differences, marks: marksOf(differences), from: diff.from.time, to: diff.to.time };
}

const isNetworkDifference = (change: EntityDiff): change is NetworkDifference => change.resource !== "ports";

/** An entity that changed and changed back between the two moments looks the same at both. */
const isVisible = (change: NetworkDifference): boolean =>
  change.event !== "updated" || change.changed.length > 0;

/** A number is a revision; any other text is a timestamp. */
const parseMoment = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);

/** A changed host marks its device as updated, because the map draws hosts on demand only. */
export function marksOf(differences: readonly NetworkDifference[]): MapMarks {
  const devices = new Map<string, ChangeMark>();
  const cables = new Map<string, ChangeMark>();
  for (const change of differences) {
    if (change.resource === "devices") devices.set(change.value.id, change.event);
    else if (change.resource === "links") {
      const id = cableId(change.value);
      const reverse = cables.get(id);
      // The two directions differ: the cable still exists, in another state.
      cables.set(id, reverse === undefined || reverse === change.event ? change.event : "updated");
    }
  }
  for (const change of differences) {
    if (change.resource !== "hosts") continue;
    const { elementId } = change.value.location;
    if (!devices.has(elementId)) devices.set(elementId, "updated");
  }
  return { devices, cables, word: "changed" };
}
