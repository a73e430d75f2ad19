/**
 * Orders the nodes of each layer so that few edges cross. An edge that skips layers has a virtual node in each of them,
 * so that every edge joins neighbouring layers or stays within one.
 *
 * Sweeps down and up sort each layer by the mean position of its neighbours in the layer before (barycentre heuristic);
 * then neighbours in a layer are exchanged while that lowers the cost. A cycle within a layer keeps its order. Small graphs
 * start from several orders, and the best result is used. Everything is deterministic.
 */
import { type Adjacency, createRandom, maxOf, shuffle } from "./adjacency.ts";

/** A hierarchy with virtual nodes. Nodes with numbers from `realCount` on are virtual. */
export interface LayerGraph {
  readonly realCount: number;
  readonly layers: readonly number[];
  /** The neighbours of each node in the layer above and in the one below. */
  readonly up: readonly (readonly number[])[];
  readonly down: readonly (readonly number[])[];
  /** The neighbours within the layer. */
  readonly peers: readonly (readonly number[])[];
  /** The cycles of peers, each by the numbers of its nodes. */
  readonly cycles: readonly (readonly number[])[];
}

const SWEEPS = 16;
const STARTS = 12;
const MAX_NODES_FOR_STARTS = 400;
/**
 * In graphs with more nodes, attempts stop after `MAX_FAILURES` in a row without a better result, because a large network
 * may have a hundred such sites.
 */
const MAX_NODES_FOR_ALL_ATTEMPTS = 60;
const MAX_FAILURES = 3;
const MAX_EXCHANGE_ROUNDS = 30;
/** The cost of a node between two peers that are joined: their edge is led around it. */
const BETWEEN_PEERS_COST = 2;

export function createLayerGraph(graph: Adjacency, layers: readonly number[]): LayerGraph {
  const realCount = graph.nodes.length;
  const all = [...layers];
  const emptyLists = (): number[][] => graph.nodes.map(() => []);
  const [up, down, peers] = [emptyLists(), emptyLists(), emptyLists()];
  for (const [a, b] of graph.edges) {
    const [upper, lower] = (layers[a] ?? 0) <= (layers[b] ?? 0) ? [a, b] : [b, a];
    const [first, last] = [layers[upper] ?? 0, layers[lower] ?? 0];
    if (first === last) {
      peers[upper]?.push(lower);
      peers[lower]?.push(upper);
      continue;
    }
    let previous = upper;
    for (let layer = first + 1; layer <= last; layer++) {
      let next = lower;
      if (layer < last) {
        next = all.push(layer) - 1;
        up.push([]);
        down.push([]);
        peers.push([]);
      }
      down[previous]?.push(next);
      up[next]?.push(previous);
      previous = next;
    }
  }
  return { realCount, layers: all, up, down, peers, cycles: findCycles(peers) };
}

/** A shorter cycle needs no order: all its nodes are neighbours. */
const MIN_CYCLE = 4;

/**
 * The cycles within layers, each in its order. What hangs on a cycle does not belong to it. Parts with several cycles that
 * share nodes, such as meshes, are left out.
 */
function findCycles(peers: readonly (readonly number[])[]): number[][] {
  const degrees = Int32Array.from(peers, (list) => list.length);
  const ends = [...degrees.keys()].filter((node) => (degrees[node] ?? 0) === 1);
  // Nodes with one peer left are removed until only cycles and what is between them remain.
  for (const end of ends) {
    degrees[end] = 0;
    for (const peer of peers[end] ?? []) {
      degrees[peer] = (degrees[peer] ?? 0) - 1;
      if (degrees[peer] === 1) ends.push(peer);
    }
  }
  const cycles: number[][] = [];
  const seen = new Uint8Array(peers.length);
  for (const start of peers.keys()) {
    if (seen[start] || (degrees[start] ?? 0) < 2) continue;
    const cycle: number[] = [];
    for (let next: number | undefined = start; next !== undefined; ) {
      seen[next] = 1;
      cycle.push(next);
      next = (peers[next] ?? []).find((peer) => !seen[peer] && (degrees[peer] ?? 0) >= 2);
    }
    const isSimple = cycle.every((node) => degrees[node] === 2);
    // What is left of a part with several cycles may be a path, whose ends are not joined.
    const isClosed = peers[cycle.at(-1) ?? start]?.includes(start) ?? false;
    if (isSimple && isClosed && cycle.length >= MIN_CYCLE) cycles.push(cycle);
  }
  return cycles;
}

/**
 * Sorts a layer by the keys of its nodes. The nodes of a cycle stay together in the order of the cycle, turned so that
 * their keys rise as far as possible. Its closing link is then the only one that is led around other nodes.
 */
function sortLayer(graph: LayerGraph, layer: number[], key: (node: number) => number): void {
  const inLayer = graph.cycles.filter(([node = -1]) => layer.includes(node));
  if (inLayer.length === 0) {
    layer.sort((p, q) => key(p) - key(q));
    return;
  }
  const members = new Set(inLayer.flat());
  const blocks = [
    ...layer.filter((node) => !members.has(node)).map((node) => [node]),
    ...inLayer.map((cycle) => turnCycle(cycle, key)),
  ].map((nodes) => ({ nodes, key: nodes.reduce((sum, node) => sum + key(node), 0) / nodes.length }));
  blocks.sort((p, q) => p.key - q.key);
  layer.splice(0, layer.length, ...blocks.flatMap(({ nodes }) => nodes));
}

/** A smaller difference between two turns of a cycle is a rounding error. */
const MIN_RISE = 1e-9;

/** The cycle in the direction and from the node with which the keys rise most along it. */
export function turnCycle(cycle: readonly number[], key: (node: number) => number): readonly number[] {
  const sum = cycle.reduce((total, node) => total + key(node), 0);
  let [best, bestStart, most]: [readonly number[], number, number] = [cycle, 0, Number.NEGATIVE_INFINITY];
  for (const nodes of [cycle, cycle.toReversed()]) {
    // The sum of each key times its place. In the next turn the first node is the last, and all others are one place earlier.
    let rise = nodes.reduce((total, node, i) => total + i * key(node), 0);
    for (const [start, node] of nodes.entries()) {
      if (rise > most + MIN_RISE) [best, bestStart, most] = [nodes, start, rise];
      rise += nodes.length * key(node) - sum;
    }
  }
  return [...best.slice(bestStart), ...best.slice(0, bestStart)];
}

/** The nodes of each layer from left to right. */
export function orderLayers(graph: LayerGraph): number[][] {
  const starts = graph.layers.length <= MAX_NODES_FOR_STARTS ? STARTS : 1;
  let best: number[][] = [];
  let bestCost = Number.POSITIVE_INFINITY;
  let failures = 0;
  for (let start = 0; start < starts && bestCost > 0 && failures < maxFailuresFor(graph); start++) {
    const order = improve(graph, initialOrder(graph, start));
    const cost = costOf(graph, order);
    failures = cost < bestCost ? 0 : failures + 1;
    if (cost < bestCost) [best, bestCost] = [order, cost];
  }
  return best;
}

const maxFailuresFor = ({ layers }: LayerGraph): number =>
  layers.length > MAX_NODES_FOR_ALL_ATTEMPTS ? MAX_FAILURES : Number.POSITIVE_INFINITY;

/**
 * Visits the nodes depth first from the top, so that the nodes of a subtree are next to each other. All starts except the
 * first one shuffle the nodes.
 */
function initialOrder(graph: LayerGraph, start: number): number[][] {
  const order: number[][] = Array.from({ length: maxOf(graph.layers) + 1 }, () => []);
  const random = createRandom(start);
  const shuffled = (nodes: readonly number[]): number[] => {
    const copy = [...nodes];
    if (start > 0) shuffle(copy, random);
    return copy;
  };
  const roots = shuffled([...graph.layers.keys()]).sort(
    (p, q) => (graph.layers[p] ?? 0) - (graph.layers[q] ?? 0),
  );
  const seen = new Uint8Array(graph.layers.length);
  for (const root of roots) {
    const stack = [root];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (seen[node]) continue;
      seen[node] = 1;
      order[graph.layers[node] ?? 0]?.push(node);
      // The lists are reversed, because a stack returns the last one first. Peers are pushed last and so follow directly.
      for (const list of [graph.down, graph.peers]) {
        for (const other of shuffled(list[node] ?? []).toReversed()) stack.push(other);
      }
    }
  }
  const index = indexesOf(graph, order);
  if (graph.cycles.length > 0) for (const layer of order) sortLayer(graph, layer, (node) => index[node] ?? 0);
  return order;
}

function improve(graph: LayerGraph, initial: number[][]): number[][] {
  let order = initial;
  let previous: number[][] = [];
  let best = order.map((layer) => [...layer]);
  let bestCost = costOf(graph, best);
  let failures = 0;
  for (let sweep = 0; sweep < SWEEPS && bestCost > 0 && failures < maxFailuresFor(graph); sweep++) {
    const next = sortByBarycentre(graph, order, sweep % 2 === 0);
    // A sweep in the same direction began with this order, so the next ones only repeat what was tried.
    if (isSameOrder(next, previous)) break;
    [previous, order] = [order, next];
    const cost = costOf(graph, order);
    failures = cost < bestCost ? 0 : failures + 1;
    if (cost >= bestCost) continue;
    [best, bestCost] = [order.map((layer) => [...layer]), cost];
  }
  exchangeNeighbours(graph, best);
  return best;
}

const isSameOrder = (a: readonly (readonly number[])[], b: readonly (readonly number[])[]): boolean =>
  a.every((layer, l) => layer.every((node, i) => b[l]?.[i] === node));

function sortByBarycentre(
  graph: LayerGraph,
  order: readonly (readonly number[])[],
  isDown: boolean,
): number[][] {
  const result = order.map((layer) => [...layer]);
  const position = positionsOf(graph, result);
  const count = result.length;
  for (let step = 0; step < count; step++) {
    const layer = result[isDown ? step : count - 1 - step] ?? [];
    const [before, after] = isDown ? [graph.up, graph.down] : [graph.down, graph.up];
    const key = new Map<number, number>();
    for (const node of layer) {
      const near = before[node] ?? [];
      const others = near.length > 0 ? near : (after[node] ?? []);
      key.set(node, mean(others, position) ?? position[node] ?? 0);
    }
    sortLayer(graph, layer, (node) => key.get(node) ?? 0);
    for (const [i, node] of layer.entries()) position[node] = (i + 0.5) / layer.length;
  }
  return result;
}

function mean(nodes: readonly number[], values: Float64Array): number | undefined {
  let sum = 0;
  for (const node of nodes) sum += values[node] ?? 0;
  return nodes.length === 0 ? undefined : sum / nodes.length;
}

/** The position of each node within its layer, from 0 to 1. */
function positionsOf(graph: LayerGraph, order: readonly (readonly number[])[]): Float64Array {
  const position = new Float64Array(graph.layers.length);
  for (const layer of order)
    for (const [i, node] of layer.entries()) position[node] = (i + 0.5) / layer.length;
  return position;
}

/** Exchanges neighbours in a layer while that lowers the cost. */
function exchangeNeighbours(graph: LayerGraph, order: number[][]): void {
  const index = indexesOf(graph, order);
  const sortedUp = graph.up.map((list) => [...list]);
  const sortedDown = graph.down.map((list) => [...list]);
  const inCycles = new Set(graph.cycles.flat());
  for (let round = 0; round < MAX_EXCHANGE_ROUNDS; round++) {
    const byIndex = (p: number, q: number) => (index[p] ?? 0) - (index[q] ?? 0);
    let exchanged = false;
    for (const [l, layer] of order.entries()) {
      for (const node of layer) {
        sortedUp[node]?.sort(byIndex);
        sortedDown[node]?.sort(byIndex);
      }
      if (exchangeInLayer(graph, order[l] ?? [], index, sortedUp, sortedDown, inCycles)) exchanged = true;
    }
    if (!exchanged) return;
  }
}

function exchangeInLayer(
  graph: LayerGraph,
  layer: number[],
  index: Int32Array,
  up: readonly (readonly number[])[],
  down: readonly (readonly number[])[],
  fixed: ReadonlySet<number>,
): boolean {
  let exchanged = false;
  for (let i = 0; i + 1 < layer.length; i++) {
    const [u, v] = [layer[i] ?? 0, layer[i + 1] ?? 0];
    if (fixed.has(u) || fixed.has(v)) continue;
    let gain = 0;
    for (const side of [up, down]) {
      const [p, q] = [side[u] ?? [], side[v] ?? []];
      gain += crossingsBetween(p, q, index) - crossingsBetween(q, p, index);
    }
    gain += BETWEEN_PEERS_COST * (peersToRight(graph, u, i + 1, index) - peersToRight(graph, v, i, index));
    if (gain <= 0) continue;
    layer[i] = v;
    layer[i + 1] = u;
    index[v] = i;
    index[u] = i + 1;
    exchanged = true;
  }
  return exchanged;
}

/**
 * The number of peers of the node to the right of the position minus the number to the left of it. A peer at the position
 * itself is not counted.
 */
function peersToRight(graph: LayerGraph, node: number, position: number, index: Int32Array): number {
  const own = index[node] ?? 0;
  let difference = 0;
  for (const peer of graph.peers[node] ?? []) {
    const at = index[peer] ?? 0;
    const [low, high] = own < position ? [own, position] : [position, own];
    if (at === low || at === high) continue;
    difference += at > high ? 1 : -1;
  }
  return difference;
}

/** The number of crossings between the edges of a node and those of a node to its right. Both lists are sorted by index. */
function crossingsBetween(left: readonly number[], right: readonly number[], index: Int32Array): number {
  let [count, j] = [0, 0];
  for (const node of left) {
    while (j < right.length && (index[right[j] ?? 0] ?? 0) < (index[node] ?? 0)) j++;
    count += j;
  }
  return count;
}

function indexesOf(graph: LayerGraph, order: readonly (readonly number[])[]): Int32Array {
  const index = new Int32Array(graph.layers.length);
  for (const layer of order) for (const [i, node] of layer.entries()) index[node] = i;
  return index;
}

/** The number of crossings plus the cost of nodes between joined peers. */
function costOf(graph: LayerGraph, order: readonly (readonly number[])[]): number {
  const index = indexesOf(graph, order);
  let cost = 0;
  for (const [l, layer] of order.entries()) {
    cost += crossingsBelow(graph, layer, index, order[l + 1]?.length ?? 0);
    for (const node of layer) {
      for (const peer of graph.peers[node] ?? []) {
        const between = (index[peer] ?? 0) - (index[node] ?? 0) - 1;
        if (between > 0) cost += between * BETWEEN_PEERS_COST;
      }
    }
  }
  return cost;
}

/** Counts inversions with a binary indexed tree (Barth, Mutzel and Jünger 2004). */
function crossingsBelow(
  graph: LayerGraph,
  layer: readonly number[],
  index: Int32Array,
  below: number,
): number {
  const tree = new Int32Array(below + 1);
  let [count, inserted] = [0, 0];
  for (const node of layer) {
    const ends = (graph.down[node] ?? []).map((other) => index[other] ?? 0);
    for (const end of ends) {
      let notAfter = 0;
      for (let i = end + 1; i > 0; i -= i & -i) notAfter += tree[i] ?? 0;
      count += inserted - notAfter;
    }
    for (const end of ends) {
      for (let i = end + 1; i <= below; i += i & -i) tree[i] = (tree[i] ?? 0) + 1;
      inserted++;
    }
  }
  return count;
}
