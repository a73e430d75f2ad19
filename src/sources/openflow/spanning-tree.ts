/**
 * Which links may carry floods: a spanning forest of the switches. Pure functions.
 *
 * Links that forward already are preferred, so that the tree does not move under traffic when a link is added; among
 * the rest, those nearest to the lowest-numbered switch, so that a new network gets a shallow tree. A link with an
 * end we cannot reach stays as it is: an open one is part of the tree before all others, a closed one never is.
 */
export interface Edge {
  readonly id: string;
  readonly a: string;
  readonly b: string;
  readonly open: boolean;
  /** One of its ends is on a switch that has no session now. */
  readonly fixed: boolean;
}

export function spanningForest(edges: readonly Edge[]): Set<string> {
  const depth = depths(edges);
  const rank = (edge: Edge) => (edge.open ? (edge.fixed ? 0 : 1) : 2);
  const near = (edge: Edge) => Math.min(depth.get(edge.a) ?? 0, depth.get(edge.b) ?? 0);
  const candidates = edges
    .filter((edge) => edge.open || !edge.fixed)
    .map((edge) => ({ edge, rank: rank(edge), near: near(edge) }))
    .sort((x, y) => x.rank - y.rank || x.near - y.near || (x.edge.id < y.edge.id ? -1 : 1));
  const groups = new Groups();
  const chosen = new Set<string>();
  for (const { edge } of candidates) if (groups.join(edge.a, edge.b)) chosen.add(edge.id);
  return chosen;
}

/** Hops of every switch from the lowest-numbered one of its part of the network. */
function depths(edges: readonly Edge[]): Map<string, number> {
  const neighbours = new Map<string, string[]>();
  for (const { a, b } of edges) {
    neighbours.set(a, [...(neighbours.get(a) ?? []), b]);
    neighbours.set(b, [...(neighbours.get(b) ?? []), a]);
  }
  const depth = new Map<string, number>();
  for (const root of [...neighbours.keys()].sort()) {
    if (depth.has(root)) continue;
    depth.set(root, 0);
    const queue = [root];
    for (const node of queue) {
      for (const next of neighbours.get(node) ?? []) {
        if (depth.has(next)) continue;
        depth.set(next, (depth.get(node) ?? 0) + 1);
        queue.push(next);
      }
    }
  }
  return depth;
}

/** Union-find. */
class Groups {
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

  /** False when they were in one group already. */
  join(a: string, b: string): boolean {
    const [rootA, rootB] = [this.#root(a), this.#root(b)];
    if (rootA === rootB) return false;
    this.#parent.set(rootA, rootB);
    return true;
  }
}
