/**
 * What problems cut off: the devices outside the largest part of the network that would be in it without the problems, and
 * their hosts. The comparison is with the repaired network, not with an earlier state, which would be another one for each
 * problem. Of history it needs the links that were lost and the hosts that were removed: it becomes smaller when these are
 * older than lost links are listed (decision 0016).
 *
 * A device is cut off by each problem that alone separates it from the largest part. Where no problem does (a ring that is
 * open at two places), it is cut off by all problems of the blocks between the two: together they do.
 */
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import type { CutOff } from "../../model/network-problem.ts";
import type { LinkGraph } from "../../view/link-graph.ts";
import { type Cause, findOutermost, findSince, type Range } from "./cut-off-places.ts";
import { type SearchTree, searchFromRoot } from "./depth-first.ts";
import type { LocatedHosts } from "./located-hosts.ts";
import { countOutsideHosts } from "./outside-hosts.ts";
import { findParts, type Parts } from "./parts.ts";
import { buildRepairedGraph, type DevicePair, type RepairedGraph, ROOT } from "./repaired-graph.ts";

const MAX_NAMED_DEVICES = 100;

export interface Fault {
  /** The id of the problem. */
  readonly id: string;
  /** A device that is unavailable, or a cable that is inactive or lost. */
  readonly at: string | DevicePair;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** What follows from a fault, and what it follows from. */
export interface FaultEffect {
  readonly cutOff: CutOff;
  /** Of a device: the id of the outermost other fault that alone separates it from the largest part. */
  readonly separatedBy: string | undefined;
}

/** What a fault separates. */
type Separated = Pick<Cause, "alone" | "block">;

export const NOTHING_CUT_OFF: CutOff = { devices: [], deviceCount: 0, hostCount: 0 };
const NOTHING_SEPARATED: Separated = { alone: [], block: undefined };

/** By the id of the fault. */
export function* findCutOffs(
  graph: LinkGraph,
  hosts: LocatedHosts,
  lost: readonly DevicePair[],
  faults: readonly Fault[],
): Steps<ReadonlyMap<string, FaultEffect>> {
  const found = new Map<string, FaultEffect>();
  if (faults.length === 0) return found;
  const parts = yield* findParts(graph, hosts);
  const repaired = yield* buildRepairedGraph(graph, parts, lost);
  const tree = yield* searchFromRoot(repaired);
  const causes: Cause[] = [];
  const aloneSince = new Map<string, number>();
  const pause = new Pause();
  for (const { id, at, since } of faults) {
    const separated =
      typeof at === "string"
        ? separatedByDevice(repaired, tree, at)
        : separatedByLink(graph, parts, repaired, tree, at);
    causes.push({ ...separated, id, since });
    if (typeof at === "string" && isAlone(repaired, tree, at)) aloneSince.set(at, since);
    if (pause.due(COST.record)) yield;
  }
  const since = yield* findSince(tree.order.length, causes);
  const placeOfDevice = (device: string): number => placeOf(tree, repaired.nodeOf(device) ?? -1);
  const hostsAt = yield* countOutsideHosts(hosts, {
    repaired,
    isJoined: (device) => placeOfDevice(device) >= 0,
    cutOffSince: (device) =>
      since[placeOfDevice(device)] ?? aloneSince.get(device) ?? Number.POSITIVE_INFINITY,
  });
  const sums = new Sums(repaired, tree);
  yield* sums.add(hostsAt, causes);
  const outermost = yield* findOutermost(tree.order.length, causes);
  for (const [i, { id, at }] of faults.entries()) {
    if (pause.due(COST.record)) yield;
    if (typeof at === "string") {
      const by = causes[outermost[placeOfDevice(at)] ?? i]?.id;
      const cutOff = aloneSince.has(at)
        ? { devices: [at], deviceCount: 1, hostCount: hostsAt(at) }
        : sums.cutOff(causes[i]);
      found.set(id, { cutOff, separatedBy: by === id ? undefined : by });
    } else found.set(id, { cutOff: sums.cutOff(causes[i]), separatedBy: undefined });
  }
  return found;
}

/** Nothing is known to join the device with others that work: it cuts off itself. */
function isAlone(repaired: RepairedGraph, tree: SearchTree, device: string): boolean {
  const node = repaired.nodeOf(device);
  if (node === undefined || node === ROOT || placeOf(tree, node) >= 0) return false;
  return repaired.neighbours(node).every((other) => repaired.devices[other]?.available !== true);
}

const placeOf = ({ place }: SearchTree, node: number): number => place[node] ?? -1;

function subtree(tree: SearchTree, node: number): Range {
  const from = placeOf(tree, node);
  return [from, from + (tree.size[node] ?? 1)];
}

/** The device itself, and each subtree that only the device joins with the rest. */
function separatedByDevice(repaired: RepairedGraph, tree: SearchTree, device: string): Separated {
  const node = repaired.nodeOf(device);
  const place = node === undefined || node === ROOT ? -1 : placeOf(tree, node);
  if (node === undefined || place < 0) return NOTHING_SEPARATED;
  const alone: Range[] = [[place, place + 1]];
  const [, end] = subtree(tree, node);
  for (let at = place + 1; at < end; ) {
    const child = tree.order[at] ?? 0;
    const range = subtree(tree, child);
    if ((tree.low[child] ?? 0) >= place) alone.push(range);
    at = range[1];
  }
  return { alone, block: subtree(tree, tree.blockTop[node] ?? node) };
}

function separatedByLink(
  graph: LinkGraph,
  { partOf }: Parts,
  repaired: RepairedGraph,
  tree: SearchTree,
  { src, dst }: DevicePair,
): Separated {
  const [from, to] = [repaired.nodeOf(src), repaired.nodeOf(dst)];
  const [a, b] = [graph.numberOf(src), graph.numberOf(dst)];
  if (from === undefined || to === undefined || a === undefined || b === undefined) return NOTHING_SEPARATED;
  // What such a device cuts off is named once, by its own problem, and not by each of its links too.
  if (!graph.devices[a]?.available || !graph.devices[b]?.available) return NOTHING_SEPARATED;
  // Both ends are joined in another way.
  if (partOf(a) === partOf(b)) return NOTHING_SEPARATED;
  const [upper, lower] = placeOf(tree, from) < placeOf(tree, to) ? [from, to] : [to, from];
  if (placeOf(tree, upper) < 0) return NOTHING_SEPARATED;
  const separates =
    tree.parent[lower] === upper &&
    repaired.cables(upper, lower) === 1 &&
    (tree.low[lower] ?? 0) > placeOf(tree, upper);
  return {
    alone: separates ? [subtree(tree, lower)] : [],
    block: subtree(tree, tree.blockTop[lower] ?? lower),
  };
}

/** Counts of devices and hosts in ranges of the search, and of those that no problem cuts off alone. */
class Sums {
  readonly #repaired: RepairedGraph;
  readonly #tree: SearchTree;
  /** By place: the hosts before it. */
  readonly #hosts: Float64Array;
  /** The places that no problem cuts off alone, in order, and the hosts before each. */
  readonly #shared: number[] = [];
  readonly #sharedHosts: number[] = [0];

  constructor(repaired: RepairedGraph, tree: SearchTree) {
    this.#repaired = repaired;
    this.#tree = tree;
    this.#hosts = new Float64Array(tree.order.length + 1);
  }

  *add(hostsAt: (device: string) => number, causes: readonly Cause[]): Steps<void> {
    const count = this.#tree.order.length;
    const covers = new Int32Array(count + 1);
    for (const { alone } of causes) {
      for (const [from, to] of alone) {
        covers[from] = (covers[from] ?? 0) + 1;
        covers[to] = (covers[to] ?? 0) - 1;
      }
    }
    const pause = new Pause();
    let covering = 0;
    for (let place = 0; place < count; place++) {
      if (pause.due(COST.item)) yield;
      const device = this.#deviceAt(place);
      const hosts = device === undefined ? 0 : hostsAt(device);
      this.#hosts[place + 1] = (this.#hosts[place] ?? 0) + hosts;
      covering += covers[place] ?? 0;
      if (covering > 0 || device === undefined) continue;
      this.#shared.push(place);
      this.#sharedHosts.push((this.#sharedHosts.at(-1) ?? 0) + hosts);
    }
  }

  #deviceAt(place: number): string | undefined {
    return this.#repaired.devices[this.#tree.order[place] ?? ROOT]?.id;
  }

  cutOff({ alone, block }: Separated = NOTHING_SEPARATED): CutOff {
    const devices: string[] = [];
    let deviceCount = 0;
    let hostCount = 0;
    const name = (place: number): void => {
      const id = this.#deviceAt(place);
      if (id !== undefined) devices.push(id);
    };
    for (const [from, to] of alone) {
      deviceCount += to - from;
      hostCount += (this.#hosts[to] ?? 0) - (this.#hosts[from] ?? 0);
      for (let place = from; place < to && devices.length < MAX_NAMED_DEVICES; place++) name(place);
    }
    if (block) {
      const [from, to] = block.map((place) => firstAtLeast(this.#shared, place)) as [number, number];
      deviceCount += to - from;
      hostCount += (this.#sharedHosts[to] ?? 0) - (this.#sharedHosts[from] ?? 0);
      for (let i = from; i < to && devices.length < MAX_NAMED_DEVICES; i++) name(this.#shared[i] ?? 0);
    }
    return deviceCount === 0 ? NOTHING_CUT_OFF : { devices, deviceCount, hostCount };
  }
}

/** The index of the first number that is not less; `sorted.length` where there is none. */
function firstAtLeast(sorted: readonly number[], least: number): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? 0) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
