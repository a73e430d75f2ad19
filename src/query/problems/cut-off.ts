/**
 * What problems cut off: the devices outside the largest part of the network that would be in it without the problems, and
 * their hosts. The comparison is with the repaired network, not with an earlier state, because that would be a different
 * state for each problem. The only history that it needs are the lost links and the removed hosts. So the result becomes
 * smaller when these are older than the time for which lost links are listed (decision 0016).
 *
 * A device is cut off by each problem that alone separates it from the largest part. Where no single problem does (a ring
 * that is open at two places), it is cut off by all problems of the blocks between the two, because together they separate
 * it.
 */
import { lowerBound } from "../../lib/sorted.ts";
import { COST, Pause, type Steps, sortInSteps } from "../../lib/steps.ts";
import type { CutOff } from "../../model/network-problem.ts";
import type { LinkGraph } from "../../view/link-graph.ts";
import {
  buildRepairedGraph,
  type DevicePair,
  findParts,
  type LocatedHosts,
  type Parts,
  type RepairedGraph,
  ROOT,
} from "./parts.ts";

/*
 * For each place of the search: since when it is cut off, and the outermost problem that alone cuts it off. Each place is
 * visited once, whatever the number of problems that cover it.
 */

/** A range of places in the order of the search; the end is exclusive. */
type Range = readonly [from: number, to: number];

interface Cause {
  /** The id of the problem. */
  readonly id: string;
  /** The places that the problem separates alone. */
  readonly alone: readonly Range[];
  /** The places of its block and of everything behind the block. */
  readonly block: Range | undefined;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** Epoch milliseconds since when each place is cut off; infinite where nothing cuts it off. */
function* findSince(count: number, causes: readonly Cause[]): Steps<Float64Array> {
  const places = new Places(new Float64Array(count).fill(Number.POSITIVE_INFINITY));
  const oldestFirst = yield* sortInSteps([...causes], (a, b) => a.since - b.since);
  for (const { alone, since } of oldestFirst) for (const range of alone) yield* places.set(range, since);
  // The rest are places that no problem cuts off alone.
  for (const { block, since } of oldestFirst) if (block) yield* places.set(block, since);
  return places.values;
}

/**
 * For each place, the index of the outermost problem that separates it alone, or -1. The problems that each separate one
 * place alone lie one behind the other, so the outermost is the one whose places begin first. Two cables that are each
 * known in one direction may be the same cable in the graph; then the older problem is used, then the one with the lower
 * id.
 */
function* findOutermost(count: number, causes: readonly Cause[]): Steps<Int32Array> {
  const places = new Places(new Int32Array(count).fill(-1));
  const outermostFirst = yield* sortInSteps([...causes.entries()], ([, a], [, b]) => {
    const [start, otherStart] = [a.alone[0]?.[0] ?? count, b.alone[0]?.[0] ?? count];
    return start - otherStart || a.since - b.since || (a.id < b.id ? -1 : 1);
  });
  for (const [index, { alone }] of outermostFirst) for (const range of alone) yield* places.set(range, index);
  return places.values;
}

class Places<Values extends Float64Array | Int32Array> {
  readonly values: Values;
  /** For each place, the place itself if it is not set; otherwise a later place before which all are set. */
  readonly #next: Int32Array;
  readonly #pause = new Pause();

  constructor(values: Values) {
    this.values = values;
    this.#next = Int32Array.from({ length: values.length + 1 }, (_, place) => place);
  }

  /** Sets those places of the range that are not set yet. */
  *set([from, to]: Range, value: number): Steps<void> {
    for (let place = this.#firstUnset(from); place < to; place = this.#firstUnset(place)) {
      this.values[place] = value;
      this.#next[place] = place + 1;
      if (this.#pause.due(COST.item)) yield;
    }
  }

  #firstUnset(from: number): number {
    let place = from;
    for (let next = this.#next[place] ?? place; next !== place; next = this.#next[place] ?? place) {
      // Halves the path for the next search.
      this.#next[place] = this.#next[next] ?? next;
      place = next;
    }
    return place;
  }
}

/*
 * The hosts at devices outside the largest part: the current ones, and those that were removed since the device was cut
 * off, or shortly before, because a source removes hosts that it no longer sees.
 */

/** One source may report that hosts are gone before another source, or a later batch, reports that the link is gone. */
const NOTICED_BEFORE_MS = 120_000;

/** Functions that describe a device outside the largest part. */
interface Outside {
  readonly repaired: RepairedGraph;
  /** Whether the device was joined with the largest part. */
  isJoined(device: string): boolean;
  /** Epoch milliseconds since when the device is cut off; infinite where nothing cuts it off. */
  cutOffSince(device: string): number;
}

/**
 * Returns a function that gives the number of hosts at a device. A host at several devices is outside if all of them are,
 * and then it counts once: at the first of them that was joined with the largest part.
 */
function* countOutsideHosts(
  { at, groups, removed }: LocatedHosts,
  { repaired, isJoined, cutOffSince }: Outside,
): Steps<(device: string) => number> {
  const more = new Map<string, number>();
  const deviceOf = (devices: readonly string[]): string | undefined =>
    devices.every((id) => repaired.nodeOf(id) !== ROOT) ? (devices.find(isJoined) ?? devices[0]) : undefined;
  const add = (device: string, count: number) => more.set(device, (more.get(device) ?? 0) + count);
  const pause = new Pause();
  for (const { devices, count } of groups) {
    const device = deviceOf(devices);
    if (device !== undefined) add(device, count);
    if (pause.due(COST.key)) yield;
  }
  for (const { devices, time } of removed) {
    const device = deviceOf(devices);
    if (device !== undefined && cutOffSince(device) <= time + NOTICED_BEFORE_MS) add(device, 1);
    if (pause.due(COST.key)) yield;
  }
  return (device) => at(device) + (more.get(device) ?? 0);
}

/*
 * A depth-first search of the repaired graph from the largest part. A device and everything behind it are a range in the
 * order of the search, so that counts are differences of sums. `low` finds what a single device or cable separates
 * (Tarjan), and the blocks: within a block, no single device or cable separates anything. The stack is explicit.
 */

const NONE = -1;

interface SearchTree {
  /** The nodes in the order of the search; the first is the root. */
  readonly order: Int32Array;
  /** The place of each node in the order, or -1 if no path leads to it. */
  readonly place: Int32Array;
  /** The number of nodes in the subtree of each node. */
  readonly size: Int32Array;
  readonly parent: Int32Array;
  /** The lowest place that the subtree of each node is joined to, other than by a single cable to its parent. */
  readonly low: Int32Array;
  /** For each node, the node whose subtree is its block and everything behind that. */
  readonly blockTop: Int32Array;
}

function* searchFromRoot(graph: RepairedGraph): Steps<SearchTree> {
  const count = graph.devices.length;
  const place = new Int32Array(count).fill(NONE);
  const low = new Int32Array(count);
  const size = new Int32Array(count).fill(1);
  const parent = new Int32Array(count).fill(NONE);
  const order: number[] = [];
  const stack: { readonly node: number; readonly neighbours: readonly number[]; next: number }[] = [];
  const enter = (node: number): void => {
    place[node] = low[node] = order.length;
    order.push(node);
    stack.push({ node, neighbours: graph.neighbours(node), next: 0 });
  };
  enter(ROOT);
  const pause = new Pause();
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    if (pause.due(COST.key)) yield;
    const { node } = top;
    const neighbour = top.neighbours[top.next++];
    if (neighbour === undefined) {
      stack.pop();
      const up = parent[node] ?? NONE;
      if (up === NONE) continue;
      low[up] = Math.min(low[up] ?? 0, low[node] ?? 0);
      size[up] = (size[up] ?? 0) + (size[node] ?? 0);
    } else if (place[neighbour] === NONE) {
      parent[neighbour] = node;
      enter(neighbour);
    } else if (neighbour !== parent[node] || graph.cables(node, neighbour) > 1)
      low[node] = Math.min(low[node] ?? 0, place[neighbour] ?? 0);
  }
  const blockTop = new Int32Array(count).fill(NONE);
  for (const node of order) {
    const up = parent[node] ?? NONE;
    const begins = up === NONE || (low[node] ?? 0) >= (place[up] ?? 0);
    blockTop[node] = begins ? node : (blockTop[up] ?? node);
  }
  return { order: Int32Array.from(order), place, size, parent, low, blockTop };
}

const MAX_NAMED_DEVICES = 100;

export interface Fault {
  /** The id of the problem. */
  readonly id: string;
  /** A device that is unavailable, or a cable that is inactive or lost. */
  readonly at: string | DevicePair;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** The effect of a fault, and the fault that it follows from. */
export interface FaultEffect {
  readonly cutOff: CutOff;
  /** The id of the outermost other fault that alone separates the faulty device from the largest part. */
  readonly separatedBy: string | undefined;
}

/** The places that a fault separates. */
type Separated = Pick<Cause, "alone" | "block">;

export const NOTHING_CUT_OFF: CutOff = { devices: [], deviceCount: 0, hostCount: 0 };
const NOTHING_SEPARATED: Separated = { alone: [], block: undefined };

/** Returns the effects by the id of the fault. */
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

/** Whether no cable is known that joins the device with others that work. Such a device cuts off only itself. */
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

/** The device itself, and each subtree that only this device joins with the rest. */
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
  // The problem of the device names what the device cuts off, so its links do not repeat it.
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
  /** The number of hosts before each place. */
  readonly #hosts: Float64Array;
  /** The places that no problem cuts off alone, in order, and the number of hosts before each. */
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
      const [from, to] = block.map((place) =>
        lowerBound(this.#shared.length, (i) => (this.#shared[i] ?? 0) < place),
      ) as [number, number];
      deviceCount += to - from;
      hostCount += (this.#sharedHosts[to] ?? 0) - (this.#sharedHosts[from] ?? 0);
      for (let i = from; i < to && devices.length < MAX_NAMED_DEVICES; i++) name(this.#shared[i] ?? 0);
    }
    return deviceCount === 0 ? NOTHING_CUT_OFF : { devices, deviceCount, hostCount };
  }
}
