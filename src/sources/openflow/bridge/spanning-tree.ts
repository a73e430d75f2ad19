/**
 * Computes which links may carry floods: a spanning forest of the switches. Pure, in steps.
 *
 * Open links are preferred, so that adding a link does not change a tree that carries traffic. Among the others, links
 * near the lowest-numbered switch are preferred, so that a new network gets a shallow tree. A link with an unreachable
 * end cannot be changed: an open one is chosen before all others, a closed one is never chosen.
 */
import { pausing, type Steps, sortInSteps } from "../../../lib/steps.ts";
import { UnionFind } from "../../../lib/union-find.ts";

const EDGES_PER_STEP = 128;

export interface GraphEdge {
  readonly id: string;
  readonly a: string;
  readonly b: string;
  readonly open: boolean;
  /** The switch at one end has no session now. */
  readonly unreachable: boolean;
}

export interface Forest {
  /** The ids of the chosen edges. */
  readonly chosen: ReadonlySet<string>;
  /** The lowest-numbered switch of the component that a switch belongs to, by switch. */
  readonly rootOf: ReadonlyMap<string, string>;
}

export function* spanningForest(edges: readonly GraphEdge[]): Steps<Forest> {
  const { hops: depth, rootOf } = yield* hopsFromRoots(edges);
  const rank = (edge: GraphEdge) => (edge.open ? (edge.unreachable ? 0 : 1) : 2);
  const hops = (edge: GraphEdge) => Math.min(depth.get(edge.a) ?? 0, depth.get(edge.b) ?? 0);
  const candidates: { readonly edge: GraphEdge; readonly rank: number; readonly hops: number }[] = [];
  for (const edge of pausing(edges, EDGES_PER_STEP)) {
    if (!edge) yield;
    else if (edge.open || !edge.unreachable) candidates.push({ edge, rank: rank(edge), hops: hops(edge) });
  }
  const sorted = yield* sortInSteps(
    candidates,
    (x, y) => x.rank - y.rank || x.hops - y.hops || (x.edge.id < y.edge.id ? -1 : 1),
  );
  const components = new UnionFind<string>();
  const chosen = new Set<string>();
  for (const candidate of pausing(sorted, EDGES_PER_STEP)) {
    if (!candidate) yield;
    else if (components.union(candidate.edge.a, candidate.edge.b)) chosen.add(candidate.edge.id);
  }
  return { chosen, rootOf };
}

/** The hops of every switch from the lowest-numbered switch of its component, its root. */
function* hopsFromRoots(
  edges: readonly GraphEdge[],
): Steps<{ readonly hops: Map<string, number>; readonly rootOf: Map<string, string> }> {
  const neighbours = new Map<string, string[]>();
  const connect = (a: string, b: string) => {
    const known = neighbours.get(a);
    if (known) known.push(b);
    else neighbours.set(a, [b]);
  };
  for (const edge of pausing(edges, EDGES_PER_STEP)) {
    if (!edge) {
      yield;
      continue;
    }
    connect(edge.a, edge.b);
    connect(edge.b, edge.a);
  }
  const hops = new Map<string, number>();
  const rootOf = new Map<string, string>();
  let left = EDGES_PER_STEP;
  for (const root of yield* sortInSteps([...neighbours.keys()], (a, b) => (a < b ? -1 : 1))) {
    if (hops.has(root)) continue;
    hops.set(root, 0);
    const queue = [root];
    for (const node of queue) {
      rootOf.set(node, root);
      for (const next of neighbours.get(node) ?? []) {
        if (--left <= 0) {
          yield;
          left = EDGES_PER_STEP;
        }
        if (hops.has(next)) continue;
        hops.set(next, (hops.get(node) ?? 0) + 1);
        queue.push(next);
      }
    }
  }
  return { hops, rootOf };
}
