/**
 * Computes which links may carry floods: a spanning forest of the switches. Pure functions.
 *
 * Open links are preferred, so that adding a link does not change a tree that carries traffic. Among the others, links
 * near the lowest-numbered switch are preferred, so that a new network gets a shallow tree. A link with an unreachable
 * end cannot be changed: an open one is chosen before all others, a closed one is never chosen.
 */
export interface GraphEdge {
  readonly id: string;
  readonly a: string;
  readonly b: string;
  readonly open: boolean;
  /** The switch at one end has no session now. */
  readonly unreachable: boolean;
}

/** Returns the ids of the chosen edges. */
export function spanningForest(edges: readonly GraphEdge[]): Set<string> {
  const depth = hopsFromRoots(edges);
  const rank = (edge: GraphEdge) => (edge.open ? (edge.unreachable ? 0 : 1) : 2);
  const hops = (edge: GraphEdge) => Math.min(depth.get(edge.a) ?? 0, depth.get(edge.b) ?? 0);
  const candidates = edges
    .filter((edge) => edge.open || !edge.unreachable)
    .map((edge) => ({ edge, rank: rank(edge), hops: hops(edge) }))
    .sort((x, y) => x.rank - y.rank || x.hops - y.hops || (x.edge.id < y.edge.id ? -1 : 1));
  const components = new UnionFind();
  const chosen = new Set<string>();
  for (const { edge } of candidates) if (components.union(edge.a, edge.b)) chosen.add(edge.id);
  return chosen;
}

/** The hops of every switch from the lowest-numbered switch of its component. */
function hopsFromRoots(edges: readonly GraphEdge[]): Map<string, number> {
  const neighbours = new Map<string, string[]>();
  for (const { a, b } of edges) {
    neighbours.set(a, [...(neighbours.get(a) ?? []), b]);
    neighbours.set(b, [...(neighbours.get(b) ?? []), a]);
  }
  const hops = new Map<string, number>();
  for (const root of [...neighbours.keys()].sort()) {
    if (hops.has(root)) continue;
    hops.set(root, 0);
    const queue = [root];
    for (const node of queue) {
      for (const next of neighbours.get(node) ?? []) {
        if (hops.has(next)) continue;
        hops.set(next, (hops.get(node) ?? 0) + 1);
        queue.push(next);
      }
    }
  }
  return hops;
}

class UnionFind {
  readonly #parent = new Map<string, string>();

  #root(node: string): string {
    let root = node;
    for (let up = this.#parent.get(root); up !== undefined; up = this.#parent.get(root)) root = up;
    for (let at = node; at !== root; ) {
      const up = this.#parent.get(at) ?? root;
      this.#parent.set(at, root);
      at = up;
    }
    return root;
  }

  /** Returns false when both were in one set already. */
  union(a: string, b: string): boolean {
    const [rootA, rootB] = [this.#root(a), this.#root(b)];
    if (rootA === rootB) return false;
    this.#parent.set(rootA, rootB);
    return true;
  }
}
