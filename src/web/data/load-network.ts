/**
 * Loads the current network, the network of a past moment, and the differences between two moments. Parsing and adding the
 * entities takes a second for 10,000 devices, so it is done in slices.
 */
import { type Client, ClientError, type EntityDiff, type Query } from "../../client/client.ts";
import type { RevisionTime } from "../../client/types.ts";
import { cableId } from "../../model/cable.ts";
import type { MapMarks } from "../map/highlights.ts";
import type { ChangeMark } from "../map/style.ts";
import { Hosts } from "./hosts.ts";
import { Slices } from "./pacing.ts";
import { type EntityKind, PageNetwork } from "./page-network.ts";
import { isRevision } from "./view-state.ts";

export interface LoadedNetwork {
  readonly network: PageNetwork;
  /** The revision up to which the network has all changes. It may have some later ones. */
  readonly revision: number;
}

/** `at` is a past moment; undefined is now. The network is partial while `sources` are starting. */
export async function loadNetwork(
  client: Client,
  at: string | undefined,
  signal: AbortSignal,
  sources?: Promise<{ readonly isStarting: boolean }>,
): Promise<LoadedNetwork> {
  const query: Query = { at };
  const slices = new Slices();
  const [devices, links, counts, state] = await Promise.all([
    client.stream("devices", query, { signal }),
    client.stream("links", query, { signal }),
    client.hostCounts(query, { signal }),
    sources,
  ]);
  const network = new PageNetwork(new Hosts(counts, at), new Map(), state?.isStarting);
  const addAll = async <T>(batches: AsyncIterable<T[]>, add: (value: T) => void) => {
    for await (const batch of batches) {
      batch.forEach(add);
      await slices.pause();
    }
  };
  await Promise.all([
    addAll(devices.batches, (value) => network.set({ resource: "devices", value })),
    addAll(links.batches, (value) => network.set({ resource: "links", value })),
  ]);
  return { network, revision: Math.min(devices.revision, links.revision, counts.revision) };
}

/** Maximum time between the shown moment and the next one for which the page loads only the differences. */
const MAX_MOVE_MS = 3_600_000;

export interface Past {
  readonly network: PageNetwork;
  /** The revision and time of the last change up to the moment. */
  readonly moment: RevisionTime;
  /** Epoch milliseconds of the time in the address, or of its revision. It may be long after the last change. */
  readonly shownMs: number;
}

/**
 * Loads a network of the past. If the moment is near that of `previous`, earlier or later, the function loads the
 * differences and moves `previous` in place, so that playback does not load the whole network at each step. Otherwise it
 * loads the lists, because the differences over a long time may be larger. It also loads the lists when the service no
 * longer has the moment of `previous`. An aborted call changes nothing.
 */
export async function loadPast(
  client: Client,
  at: string,
  previous: Past | undefined,
  signal: AbortSignal,
): Promise<Past> {
  const named = isRevision(at) ? await loadMoment(client, at, signal) : undefined;
  const shownMs = named?.time ?? Date.parse(at);
  if (previous && Math.abs(shownMs - previous.shownMs) <= MAX_MOVE_MS) {
    try {
      return { network: previous.network, moment: await move(client, at, previous, signal), shownMs };
    } catch (error) {
      // If it is the requested moment that has expired, loading its lists fails too.
      if (!(error instanceof ClientError && error.code === "revision-expired")) throw error;
    }
  }
  const moment = named ?? (await loadMoment(client, at, signal));
  // The lists are loaded by revision, so that all are of one state.
  const { network } = await loadNetwork(client, String(moment.revision), signal);
  return { network, moment, shownMs };
}

/** Requests the difference of a moment to itself, which is empty and has the revision and time of the moment. */
async function loadMoment(client: Client, at: string, signal: AbortSignal): Promise<RevisionTime> {
  const moment = parseMoment(at);
  return (await client.diff("devices", moment, moment, {}, { signal })).to;
}

/** Applies the differences between the moment of `past` and `at` to its network. Returns the moment of `at`. */
async function move(client: Client, at: string, past: Past, signal: AbortSignal): Promise<RevisionTime> {
  const { network, moment } = past;
  const { to, changes } = await client.diff("topology", moment.revision, parseMoment(at), {}, { signal });
  signal.throwIfAborted();
  for (const change of changes) {
    if (change.resource === "hosts" || change.resource === "ports") continue;
    if (change.event === "removed") network.remove(change.resource, change.value.id);
    else network.set(change);
  }
  const hosts = changes.filter((change) => change.resource === "hosts");
  network.openedHosts.moveTo(String(to.revision), to.revision, hosts);
  return to;
}

export type NetworkDifference = Extract<EntityDiff, { resource: EntityKind }>;

export interface Comparison {
  /** The later network with the entities that were removed since, so that the map draws them with a mark. */
  readonly network: PageNetwork;
  readonly marks: MapMarks;
  readonly differences: readonly NetworkDifference[];
  /** The earlier and the later moment. */
  readonly from: RevisionTime;
  readonly to: RevisionTime;
}

/** `base` is the network at one of the moments, which may be in any order: the result compares the earlier with the later one. */
export async function loadComparison(
  client: Client,
  from: string,
  to: string | undefined,
  base: PageNetwork,
  signal: AbortSignal,
): Promise<Comparison> {
  const end = to === undefined ? undefined : parseMoment(to);
  const diff = await client.diff("topology", parseMoment(from), end, {}, { signal });
  if (to !== undefined && diff.from.revision > diff.to.revision)
    return loadComparison(client, to, from, base, signal);
  const differences = diff.changes.filter(isNetworkDifference).filter(isVisible);
  const hosts = differences.flatMap(({ resource, value }) => (resource === "hosts" ? [value] : []));
  const network = base.withHosts(new Map(hosts.map((host) => [host.id, host])));
  // Added and updated entities are set too, because the base may be the earlier network.
  for (const change of differences) if (change.resource !== "hosts") network.set(change);
  return { network, differences, marks: marksOf(differences), from: diff.from, to: diff.to };
}

const isNetworkDifference = (change: EntityDiff): change is NetworkDifference => change.resource !== "ports";

/** False for an entity that changed and changed back between the two moments. */
const isVisible = (change: NetworkDifference): boolean =>
  change.event !== "updated" || change.changed.length > 0;

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
      // If the marks of the two directions differ, the cable still exists in another state.
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
