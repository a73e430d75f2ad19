/**
 * Computes which links may carry floods: a spanning forest of the switches and of the segments between them. The functions
 * are pure and run in steps.
 *
 * Open links are preferred, so that adding a link does not change a tree that carries traffic. Among the others, links
 * near the lowest-numbered switch are preferred, so that a new network gets a shallow tree. A link with an unreachable
 * end cannot be changed: an open one is chosen before all others, a closed one is never chosen.
 */
import { appendTo } from "../../../lib/multimap.ts";
import { COST, forEachInSteps, Pause, type Steps, sortInSteps } from "../../../lib/steps.ts";
import { UnionFind } from "../../../lib/union-find.ts";

export interface TreeEdge {
  readonly id: string;
  readonly a: string;
  readonly b: string;
  readonly open: boolean;
  /** Whether the switch at one end has no session now. */
  readonly unreachable: boolean;
}

export interface Forest {
  /** The ids of the chosen edges. */
  readonly chosen: ReadonlySet<string>;
  /** Returns the lowest-numbered switch of a switch's component. */
  rootOf(device: string): string;
}

export function* spanningForest(edges: readonly TreeEdge[]): Steps<Forest> {
  const { hops: depth, roots } = yield* hopsFromRoots(edges);
  const rank = (edge: TreeEdge) => (edge.open ? (edge.unreachable ? 0 : 1) : 2);
  const hops = (edge: TreeEdge) => Math.min(depth.get(edge.a) ?? 0, depth.get(edge.b) ?? 0);
  const candidates: { readonly edge: TreeEdge; readonly rank: number; readonly hops: number }[] = [];
  yield* forEachInSteps(edges, COST.record, (edge) => {
    if (edge.open || !edge.unreachable) candidates.push({ edge, rank: rank(edge), hops: hops(edge) });
  });
  const sorted = yield* sortInSteps(
    candidates,
    (x, y) => x.rank - y.rank || x.hops - y.hops || (x.edge.id < y.edge.id ? -1 : 1),
  );
  const components = new UnionFind<string>();
  const chosen = new Set<string>();
  yield* forEachInSteps(sorted, COST.record, ({ edge: { id, a, b } }) => {
    if (components.union(a, b)) chosen.add(id);
  });
  return { chosen, rootOf: (device) => roots.get(device) ?? device };
}

/** Computes the number of hops from every switch to its root, the lowest-numbered switch of its component. */
function* hopsFromRoots(
  edges: readonly TreeEdge[],
): Steps<{ readonly hops: Map<string, number>; readonly roots: Map<string, string> }> {
  const neighbours = new Map<string, string[]>();
  yield* forEachInSteps(edges, COST.record, ({ a, b }) => {
    appendTo(neighbours, a, b);
    appendTo(neighbours, b, a);
  });
  const pause = new Pause();
  const hops = new Map<string, number>();
  const roots = new Map<string, string>();
  for (const root of yield* sortInSteps([...neighbours.keys()], (a, b) => (a < b ? -1 : 1))) {
    if (hops.has(root)) continue;
    hops.set(root, 0);
    const queue = [root];
    for (const node of queue) {
      roots.set(node, root);
      for (const next of neighbours.get(node) ?? []) {
        if (pause.due(COST.record)) yield;
        if (hops.has(next)) continue;
        hops.set(next, (hops.get(node) ?? 0) + 1);
        queue.push(next);
      }
    }
  }
  return { hops, roots };
}
