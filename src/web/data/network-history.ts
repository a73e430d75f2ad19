/** The network as of an earlier moment, and the comparison of two moments. */
import type { Client, EntityDiff } from "../../client/client.ts";
import type { RevisionTime } from "../../client/types.ts";
import { cableId } from "../../model/cable.ts";
import type { MapMarks } from "../map/highlights.ts";
import type { ChangeMark } from "../map/style.ts";
import { loadNetwork } from "./load-network.ts";
import type { Collection, Network } from "./loaded-network.ts";
import { isRevision } from "./view-state.ts";

export const loadNetworkAt = async (client: Client, at: string, signal: AbortSignal): Promise<Network> =>
  (await loadNetwork(client, at, signal)).network;

export type NetworkDifference = Extract<EntityDiff, { resource: Collection }>;

export interface Comparison {
  /** The later network with the entities that were removed since, so that the map draws them with a mark. */
  readonly network: Network;
  readonly marks: MapMarks;
  readonly differences: readonly NetworkDifference[];
  /** The earlier and the later moment. */
  readonly from: RevisionTime;
  readonly to: RevisionTime;
}

/** `base` is the network at `to`. The moments may be in any order: the result is from the earlier to the later one. */
export async function loadComparison(
  client: Client,
  from: string,
  to: string | undefined,
  base: Network,
  signal: AbortSignal,
): Promise<Comparison> {
  const end = to === undefined ? undefined : parseMoment(to);
  const diff = await client.diff("topology", parseMoment(from), end, {}, { signal });
  const found = diff.changes.filter(isNetworkDifference).filter(isVisible);
  const isBackwards = diff.from.revision > diff.to.revision;
  const differences = isBackwards ? found.map(reverse) : found;
  const [first, last] = isBackwards ? [diff.to, diff.from] : [diff.from, diff.to];
  const hosts = differences.flatMap(({ resource, value }) => (resource === "hosts" ? [value] : []));
  const network = base.withHosts(new Map(hosts.map((host) => [host.id, host])));
  // Also what was added and updated: the base may be the earlier network.
  for (const change of differences) if (change.resource !== "hosts") network.set(change);
  return { network, differences, marks: marksOf(differences), from: first, to: last };
}

export const isNetworkDifference = (change: EntityDiff): change is NetworkDifference =>
  change.resource !== "ports";

/** An entity that changed and changed back between the two moments looks the same at both. */
const isVisible = (change: NetworkDifference): boolean =>
  change.event !== "updated" || change.changed.length > 0;

/** The same difference in the other direction of time. */
function reverse(change: NetworkDifference): NetworkDifference {
  if (change.event !== "updated") return { ...change, event: change.event === "added" ? "removed" : "added" };
  switch (change.resource) {
    case "devices":
      return { ...change, value: change.before, before: change.value };
    case "links":
      return { ...change, value: change.before, before: change.value };
    case "hosts":
      return { ...change, value: change.before, before: change.value };
  }
}

/** A number is a revision; any other text is a timestamp. */
export const parseMoment = (text: string): number | string => (isRevision(text) ? Number(text) : text);

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
