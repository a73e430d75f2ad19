/**
 * The graph that the layouts work on: nodes are numbers, neighbours are lists of numbers, without loops and multiple
 * edges. Everything in this folder is pure and uses neither a DOM nor a runtime, so that the page can run it in a
 * worker.
 */

export interface LayoutNode {
  /** The layer that an annotation assigns, 0 at the top. */
  readonly layer?: number;
}

/** A width and a height. As a spacing: two nodes are at least `width` apart horizontally or at least `height` vertically. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Adjacency {
  readonly nodes: readonly LayoutNode[];
  readonly neighbours: readonly (readonly number[])[];
  /** The pairs of neighbours, each once and with the lower number first. */
  readonly edges: readonly (readonly [number, number])[];
}

/** Ignores loops and repeated edges. */
export function createAdjacency(
  nodes: readonly LayoutNode[],
  edges: readonly (readonly [number, number])[],
): Adjacency {
  const neighbourSets = nodes.map(() => new Set<number>());
  const pairs: [number, number][] = [];
  for (const [i, j] of edges) {
    if (i === j || neighbourSets[i]?.has(j)) continue;
    neighbourSets[i]?.add(j);
    neighbourSets[j]?.add(i);
    pairs.push(i < j ? [i, j] : [j, i]);
  }
  return { nodes, neighbours: neighbourSets.map((set) => [...set].sort((p, q) => p - q)), edges: pairs };
}

/** The number of hops from the nearest of `from` to every node; -1 where there is no path. Breadth-first search. */
export function shortestDistances({ neighbours }: Adjacency, from: Iterable<number>): Int32Array {
  const distance = new Int32Array(neighbours.length).fill(-1);
  const queue = [...from];
  for (const node of queue) distance[node] = 0;
  // The queue grows during the iteration.
  for (const node of queue) {
    const next = (distance[node] ?? 0) + 1;
    for (const other of neighbours[node] ?? []) {
      if (distance[other] !== -1) continue;
      distance[other] = next;
      queue.push(other);
    }
  }
  return distance;
}

/** A connected part of a graph. */
export interface Component extends Adjacency {
  /** The numbers of the nodes in the whole graph. */
  readonly members: readonly number[];
}

/** The components by size, the largest first. The nodes of each component keep their order. */
export function connectedComponents(graph: Adjacency): Component[] {
  const componentOf = new Int32Array(graph.nodes.length).fill(-1);
  const members: number[][] = [];
  for (const start of graph.nodes.keys()) {
    if (componentOf[start] !== -1) continue;
    const found = [start];
    componentOf[start] = members.length;
    for (const node of found) {
      for (const other of graph.neighbours[node] ?? []) {
        if (componentOf[other] !== -1) continue;
        componentOf[other] = members.length;
        found.push(other);
      }
    }
    members.push(found.sort((p, q) => p - q));
  }
  const indexInComponent = new Int32Array(graph.nodes.length);
  for (const nodes of members) for (const [i, node] of nodes.entries()) indexInComponent[node] = i;
  const renumber = (node: number) => indexInComponent[node] ?? 0;
  const edges: [number, number][][] = members.map(() => []);
  for (const [a, b] of graph.edges) edges[componentOf[a] ?? 0]?.push([renumber(a), renumber(b)]);
  return members
    .map((nodes, i) => ({
      members: nodes,
      nodes: nodes.flatMap((node) => graph.nodes[node] ?? []),
      neighbours: nodes.map((node) => (graph.neighbours[node] ?? []).map(renumber)),
      edges: edges[i] ?? [],
    }))
    .sort((p, q) => q.nodes.length - p.nodes.length);
}

/** `Math.max(...values)` for more values than a call can have arguments. */
export function maxOf(values: Iterable<number>): number {
  let max = Number.NEGATIVE_INFINITY;
  for (const value of values) if (value > max) max = value;
  return max;
}

export function minOf(values: Iterable<number>): number {
  let min = Number.POSITIVE_INFINITY;
  for (const value of values) if (value < min) min = value;
  return min;
}

/** One number for a cell of a grid, whose column and row may be negative. A number is a faster map key than a string. */
export const cellKey = (column: number, row: number): number => column * 0x400000 + row;

/** Mulberry32: pseudo-random numbers from 0 to 1 that depend on the seed alone, so that layouts are the same each time. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Shuffles the list in place (Fisher–Yates). */
export function shuffle(
  list: { readonly length: number; [index: number]: number },
  random: () => number,
): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const swapped = list[i] ?? 0;
    list[i] = list[j] ?? 0;
    list[j] = swapped;
  }
}
