/**
 * A graph as the layouts work on it: nodes are numbers, neighbours are lists of numbers, without loops and doubles.
 * Everything in this folder is pure and knows neither a DOM nor a runtime, so that a page can run it in a worker.
 */
export interface LayoutNode {
  readonly id: string;
  /** Where it belongs in a hierarchy, 0 on top, when somebody said so. */
  readonly layer?: number;
  /** How many leaves that are not drawn hang on it: what has some is at the bottom of a hierarchy. */
  readonly leaves?: number;
}

export interface LayoutEdge {
  readonly a: string;
  readonly b: string;
}

/** Two nodes are at least `x` apart across or at least `y` apart down: the size of what is drawn, with its margin. */
export interface Spacing {
  readonly x: number;
  readonly y: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Adjacency {
  readonly nodes: readonly LayoutNode[];
  readonly neighbours: readonly (readonly number[])[];
  /** Each pair of neighbours once, the lower number first. */
  readonly edges: readonly (readonly [number, number])[];
}

export function createAdjacency(nodes: readonly LayoutNode[], edges: readonly LayoutEdge[]): Adjacency {
  const index = new Map(nodes.map((node, i) => [node.id, i]));
  const sets = nodes.map(() => new Set<number>());
  const pairs: [number, number][] = [];
  for (const { a, b } of edges) {
    const i = index.get(a);
    const j = index.get(b);
    if (i === undefined || j === undefined || i === j || sets[i]?.has(j)) continue;
    sets[i]?.add(j);
    sets[j]?.add(i);
    pairs.push(i < j ? [i, j] : [j, i]);
  }
  return { nodes, neighbours: sets.map((set) => [...set].sort((p, q) => p - q)), edges: pairs };
}

/** Steps from the nearest of `from` to every node; -1 where there is no way. */
export function distances({ neighbours }: Adjacency, from: Iterable<number>): Int32Array {
  const distance = new Int32Array(neighbours.length).fill(-1);
  const queue = [...from];
  for (const node of queue) distance[node] = 0;
  // The queue grows while it is walked.
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

/** The connected parts, the largest first, each with its nodes in the order given. */
export function components(graph: Adjacency): Adjacency[] {
  const part = new Int32Array(graph.nodes.length).fill(-1);
  const members: number[][] = [];
  for (const start of graph.nodes.keys()) {
    if (part[start] !== -1) continue;
    const found = [start];
    part[start] = members.length;
    for (const node of found) {
      for (const other of graph.neighbours[node] ?? []) {
        if (part[other] !== -1) continue;
        part[other] = members.length;
        found.push(other);
      }
    }
    members.push(found.sort((p, q) => p - q));
  }
  const local = new Int32Array(graph.nodes.length);
  for (const nodes of members) for (const [i, node] of nodes.entries()) local[node] = i;
  const here = (node: number) => local[node] ?? 0;
  const edges: [number, number][][] = members.map(() => []);
  for (const [a, b] of graph.edges) edges[part[a] ?? 0]?.push([here(a), here(b)]);
  return members
    .map((nodes, i) => ({
      nodes: nodes.flatMap((node) => graph.nodes[node] ?? []),
      neighbours: nodes.map((node) => (graph.neighbours[node] ?? []).map(here)),
      edges: edges[i] ?? [],
    }))
    .sort((p, q) => q.nodes.length - p.nodes.length);
}

/** `Math.max(...list)` for lists longer than a call has arguments. */
export function largest(list: Iterable<number>): number {
  let most = Number.NEGATIVE_INFINITY;
  for (const value of list) if (value > most) most = value;
  return most;
}

export function smallest(list: Iterable<number>): number {
  let least = Number.POSITIVE_INFINITY;
  for (const value of list) if (value < least) least = value;
  return least;
}

/** One number for a cell of a grid that may go either way from the origin: faster to look up than a string. */
export const cellKey = (column: number, row: number): number => column * 0x400000 + row;
