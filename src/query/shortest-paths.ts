/**
 * The shortest paths between two devices, over active links and available devices. A grid can have billions of them, so
 * they are counted before any is built, and built one by one from any position. They are ordered by their link ids, first
 * link first, and the number of paths through each link determines where a position lies.
 *
 * A link costs 1 hop. An INDIRECT link costs as much as in ONOS, so it is used only if there is no other path.
 */
import { COST, Pause, type PausingSteps } from "../lib/steps.ts";
import type { GraphLink, LinkGraph } from "../view/link-graph.ts";

const HOP_COST = 1;
const INDIRECT_COST = 32_767;

export const costOf = ({ indirect }: GraphLink): number => (indirect ? INDIRECT_COST : HOP_COST);

export type Path = readonly GraphLink[];

export interface ShortestPaths {
  readonly count: bigint;
  /** At most `max` paths from position `from` on, which counts from 0. */
  slice(from: bigint, max: number): Generator<Path | undefined, void, void>;
  /** The devices and links that any of the paths uses, without building the paths. */
  union(): PausingSteps<PathUnion>;
}

export interface PathUnion {
  /** The devices, nearest to the start first. */
  readonly devices: readonly string[];
  readonly links: readonly GraphLink[];
}

const NO_PATHS: ShortestPaths = {
  count: 0n,
  *slice() {},
  // biome-ignore lint/correctness/useYield: there is nothing to compute
  *union() {
    return { devices: [], links: [] };
  },
};

/** Finds the shortest paths. The two ends must differ. */
export function* findShortestPaths(graph: LinkGraph, src: string, dst: string): PausingSteps<ShortestPaths> {
  const distances = yield* distancesFrom(
    dst,
    (id) => graph.incoming(id).map((link) => [link.src, costOf(link)]),
    src,
  );
  if (!distances.has(src)) return NO_PATHS;
  const steps = new Map<string, GraphLink[]>();
  const stepsFrom = (id: string) => {
    const known = steps.get(id) ?? nextLinks(graph, distances, id);
    steps.set(id, known);
    return known;
  };
  const counts = yield* countPaths(src, dst, stepsFrom);
  return {
    count: counts.get(src) ?? 0n,
    *slice(from, max) {
      const end = minimum(from + BigInt(max), counts.get(src) ?? 0n);
      for (let n = from; n < end; n++) {
        yield yield* pathAt(n, src, dst, stepsFrom, counts);
        yield undefined;
      }
    },
    union: () => unionOf(src, stepsFrom),
  };
}

function* unionOf(src: string, stepsFrom: (id: string) => readonly GraphLink[]): PausingSteps<PathUnion> {
  const devices = new Set([src]);
  const links: GraphLink[] = [];
  const pause = new Pause();
  // The set grows while it is iterated.
  for (const id of devices) {
    for (const link of stepsFrom(id)) {
      links.push(link);
      devices.add(link.dst);
    }
    if (pause.due(COST.record)) yield;
  }
  return { devices: [...devices], links };
}

/** The links that begin a shortest path from a device, in order of id. */
function nextLinks(graph: LinkGraph, distances: ReadonlyMap<string, number>, id: string): GraphLink[] {
  const distance = distances.get(id);
  return graph
    .outgoing(id)
    .filter((link) => {
      const rest = distances.get(link.dst);
      return rest !== undefined && rest + costOf(link) === distance;
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The number of shortest paths from each device on one of them. The stack is explicit, because a path may be long. */
function* countPaths(
  src: string,
  dst: string,
  stepsFrom: (id: string) => readonly GraphLink[],
): PausingSteps<ReadonlyMap<string, bigint>> {
  const counts = new Map<string, bigint>([[dst, 1n]]);
  const stack = [src];
  const pause = new Pause();
  for (let id = stack.at(-1); id !== undefined; id = stack.at(-1)) {
    if (pause.due(COST.record)) yield;
    const links = counts.has(id) ? [] : stepsFrom(id);
    const unknown = links.filter((link) => !counts.has(link.dst));
    if (unknown.length > 0) {
      for (const link of unknown) stack.push(link.dst);
      continue;
    }
    if (!counts.has(id)) {
      let count = 0n;
      for (const link of links) count += counts.get(link.dst) ?? 0n;
      counts.set(id, count);
    }
    stack.pop();
  }
  return counts;
}

function* pathAt(
  position: bigint,
  src: string,
  dst: string,
  stepsFrom: (id: string) => readonly GraphLink[],
  counts: ReadonlyMap<string, bigint>,
): PausingSteps<Path> {
  const path: GraphLink[] = [];
  let rest = position;
  const pause = new Pause();
  for (let at = src; at !== dst; ) {
    const next = stepsFrom(at).find((link) => {
      const behind = counts.get(link.dst) ?? 0n;
      if (rest < behind) return true;
      rest -= behind;
      return false;
    });
    if (!next) throw new Error(`no path ${position} from ${src} to ${dst}`);
    path.push(next);
    at = next.dst;
    if (pause.due(COST.record)) yield;
  }
  return path;
}

const minimum = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/**
 * Dijkstra's algorithm with one queue for each cost of a link: devices enter each queue in order of distance, so the
 * nearest one is at the head of a queue. Ends at `until`; all nearer devices have their distance by then.
 */
export function* distancesFrom(
  start: string,
  neighboursOf: (id: string) => readonly (readonly [id: string, cost: number])[],
  until?: string,
): PausingSteps<Map<string, number>> {
  const distances = new Map<string, number>();
  const queues = new Map<number, { items: [id: string, distance: number][]; head: number }>();
  const pause = new Pause();
  for (let next: [string, number] | undefined = [start, 0]; next; next = nearest(queues.values())) {
    const [id, distance] = next;
    if (distances.has(id)) continue;
    distances.set(id, distance);
    if (id === until) break;
    if (pause.due(COST.record)) yield;
    for (const [neighbour, cost] of neighboursOf(id)) {
      if (distances.has(neighbour)) continue;
      const item: [string, number] = [neighbour, distance + cost];
      const queue = queues.get(cost);
      if (queue) queue.items.push(item);
      else queues.set(cost, { items: [item], head: 0 });
    }
  }
  return distances;
}

function nearest(
  queues: Iterable<{ items: [id: string, distance: number][]; head: number }>,
): [id: string, distance: number] | undefined {
  let best: { items: [string, number][]; head: number } | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const queue of queues) {
    const distance = queue.items[queue.head]?.[1];
    if (distance === undefined || distance >= bestDistance) continue;
    best = queue;
    bestDistance = distance;
  }
  return best?.items[best.head++];
}
