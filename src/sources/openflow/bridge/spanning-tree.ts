/**
 * Computes which links may carry floods: a spanning forest of the switches and of the segments between them. The functions
 * are pure and run in steps.
 *
 * Open links are preferred, so that adding a link does not change a tree that carries traffic. Among the others, links
 * near the lowest-numbered switch are preferred, so that a new network gets a shallow tree. A link with an unreachable
 * end cannot be changed: an open one is chosen before all others, a closed one is never chosen.
 */
import { COST, Pause, type Steps, sortInSteps } from "../../../lib/steps.ts";
import { UnionFind } from "../../../lib/union-find.ts";
import { type PortRef, portKey } from "../codec/port.ts";
import type { DiscoveredLink } from "../discovery/link-table.ts";

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
  /** The lowest-numbered switch of each switch's component, by switch. */
  readonly rootOf: ReadonlyMap<string, string>;
}

export function* spanningForest(edges: readonly TreeEdge[]): Steps<Forest> {
  const { hops: depth, rootOf } = yield* hopsFromRoots(edges);
  const rank = (edge: TreeEdge) => (edge.open ? (edge.unreachable ? 0 : 1) : 2);
  const hops = (edge: TreeEdge) => Math.min(depth.get(edge.a) ?? 0, depth.get(edge.b) ?? 0);
  const candidates: { readonly edge: TreeEdge; readonly rank: number; readonly hops: number }[] = [];
  const pause = new Pause();
  for (const edge of edges) {
    if (pause.due(COST.record)) yield;
    if (edge.open || !edge.unreachable) candidates.push({ edge, rank: rank(edge), hops: hops(edge) });
  }
  const sorted = yield* sortInSteps(
    candidates,
    (x, y) => x.rank - y.rank || x.hops - y.hops || (x.edge.id < y.edge.id ? -1 : 1),
  );
  const components = new UnionFind<string>();
  const chosen = new Set<string>();
  for (const candidate of sorted) {
    if (pause.due(COST.record)) yield;
    if (components.union(candidate.edge.a, candidate.edge.b)) chosen.add(candidate.edge.id);
  }
  return { chosen, rootOf };
}

/** Computes the number of hops from every switch to its root, the lowest-numbered switch of its component. */
function* hopsFromRoots(
  edges: readonly TreeEdge[],
): Steps<{ readonly hops: Map<string, number>; readonly rootOf: Map<string, string> }> {
  const neighbours = new Map<string, string[]>();
  const connect = (a: string, b: string) => {
    const known = neighbours.get(a);
    if (known) known.push(b);
    else neighbours.set(a, [b]);
  };
  const pause = new Pause();
  for (const edge of edges) {
    if (pause.due(COST.record)) yield;
    connect(edge.a, edge.b);
    connect(edge.b, edge.a);
  }
  const hops = new Map<string, number>();
  const rootOf = new Map<string, string>();
  for (const root of yield* sortInSteps([...neighbours.keys()], (a, b) => (a < b ? -1 : 1))) {
    if (hops.has(root)) continue;
    hops.set(root, 0);
    const queue = [root];
    for (const node of queue) {
      rootOf.set(node, root);
      for (const next of neighbours.get(node) ?? []) {
        if (pause.due(COST.record)) yield;
        if (hops.has(next)) continue;
        hops.set(next, (hops.get(node) ?? 0) + 1);
        queue.push(next);
      }
    }
  }
  return { hops, rootOf };
}

interface SegmentPort {
  readonly ref: PortRef;
  readonly others: PortRef[];
}

/**
 * Finds segments. A segment is a set of ports that receive each other's broadcast probes, because a bridge without OpenFlow
 * connects them. Returns the ports of each segment by its name.
 */
export function* findSegments(links: readonly DiscoveredLink[]): Steps<Map<string, PortRef[]>> {
  const neighbours = new Map<string, SegmentPort>();
  const connect = (ref: PortRef, other: PortRef) => {
    const known = neighbours.get(portKey(ref)) ?? { ref, others: [] };
    known.others.push(other);
    neighbours.set(portKey(ref), known);
  };
  const pause = new Pause();
  for (const link of links) {
    if (pause.due(COST.record)) yield;
    connect(link.src, link.dst);
    connect(link.dst, link.src);
  }
  const segments = new Map<string, PortRef[]>();
  const visited = new Set<string>();
  for (const key of yield* sortInSteps([...neighbours.keys()], (a, b) => (a < b ? -1 : 1))) {
    if (visited.has(key)) continue;
    segments.set(`segment ${key}`, yield* reachablePorts(key, neighbours, visited));
  }
  return segments;
}

function* reachablePorts(
  first: string,
  neighbours: ReadonlyMap<string, SegmentPort>,
  visited: Set<string>,
): Steps<PortRef[]> {
  const ports: PortRef[] = [];
  const queue = [first];
  visited.add(first);
  for (const next of queue) {
    const node = neighbours.get(next);
    if (!node) continue;
    ports.push(node.ref);
    for (const other of node.others.map(portKey)) {
      if (!visited.has(other)) queue.push(other);
      visited.add(other);
    }
    yield;
  }
  return ports;
}
