/**
 * Pairs of paths between two devices that share no link and whose costs have the smallest sum: Suurballe's algorithm, as
 * ONOS uses it. Each shortest path is tried as the first one. The second is a shortest path in the residual graph, where
 * the links of the first lead backwards and cost nothing; where it uses one of them, both paths leave that link out.
 *
 * Pairs cannot be counted without being computed. The search ends after `max` pairs or `MAX_LINK_VISITS`, so that it is
 * short in any graph.
 */
import { COST, collectPaced, Pause, type Steps } from "../lib/steps.ts";
import type { GraphLink, LinkGraph } from "../view/link-graph.ts";
import { costOf, distancesFrom, findShortestPaths, type Path } from "./shortest-paths.ts";

/** About 50 ms of work. The first pair is searched for even if the graph alone has more links. */
const MAX_LINK_VISITS = 50_000;

export interface DisjointPaths {
  /** The pairs. The cheaper path of a pair comes first; if both cost the same, the one with the lower link ids. */
  readonly pairs: readonly (readonly [primary: Path, backup: Path])[];
  /** Whether there are no other pairs. */
  readonly complete: boolean;
}

/** A link of the residual graph. `reversed` marks a link of the first path that the second path removes from it. */
interface ResidualLink {
  readonly link: GraphLink;
  readonly from: string;
  readonly to: string;
  readonly reversed: boolean;
  readonly cost: number;
}

/** Finds pairs of disjoint paths. The two ends must differ. */
export function* findDisjointPaths(
  graph: LinkGraph,
  src: string,
  dst: string,
  max: number,
): Steps<DisjointPaths> {
  const shortest = yield* findShortestPaths(graph, src, dst);
  const potentials = yield* distancesFrom(src, (id) =>
    graph.outgoing(id).map((link) => [link.dst, costOf(link)]),
  );
  const pairs = new Map<string, readonly [Path, Path]>();
  const budget = { visits: MAX_LINK_VISITS };
  const firsts = yield* collectPaced(shortest.slice(0n, max));
  let complete = BigInt(firsts.length) === shortest.count;
  for (const first of firsts) {
    for (const second of residualPaths(graph, src, dst, first, potentials, budget)) {
      if (second === undefined) {
        yield;
        continue;
      }
      const pair = separate(src, dst, first, second);
      const key = pair.map(keyOf).join(" ");
      if (!pairs.has(key) && pairs.size === max) return { pairs: inOrder(pairs), complete: false };
      pairs.set(key, pair);
      yield;
    }
    complete &&= budget.visits > 0;
    if (budget.visits <= 0) break;
  }
  return { pairs: inOrder(pairs), complete };
}

const inOrder = (pairs: ReadonlyMap<string, readonly [Path, Path]>): (readonly [Path, Path])[] =>
  [...pairs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pair]) => pair);

const byId = (a: GraphLink, b: GraphLink): number => (a.id < b.id ? -1 : 1);

const keyOf = (path: Path): string => path.map(({ id }) => id).join(" ");

/** Every shortest path of the residual graph that visits no device twice. */
function* residualPaths(
  graph: LinkGraph,
  src: string,
  dst: string,
  first: Path,
  potentials: ReadonlyMap<string, number>,
  budget: { visits: number },
): Generator<readonly ResidualLink[] | undefined, void, void> {
  const onFirst = new Set(first.map(({ id }) => id));
  const reducedCost = (link: GraphLink): number =>
    costOf(link) + (potentials.get(link.src) ?? 0) - (potentials.get(link.dst) ?? 0);
  const into = Map.groupBy(first, (link) => link.src);
  const outOf = Map.groupBy(first, (link) => link.dst);
  const reversed = (link: GraphLink): ResidualLink => ({
    link,
    from: link.dst,
    to: link.src,
    reversed: true,
    cost: 0,
  });
  const forward = (link: GraphLink): ResidualLink => ({
    link,
    from: link.src,
    to: link.dst,
    reversed: false,
    cost: reducedCost(link),
  });
  const isUsable = (link: GraphLink): boolean =>
    !onFirst.has(link.id) && link.dst !== src && potentials.has(link.src);
  const linksInto = (id: string): ResidualLink[] => {
    const links = [
      ...graph.incoming(id).filter(isUsable).map(forward),
      ...(into.get(id) ?? []).map(reversed),
    ];
    budget.visits -= links.length;
    return links;
  };
  const linksFrom = (id: string): ResidualLink[] => {
    const links = [
      ...graph.outgoing(id).filter(isUsable).map(forward),
      ...(outOf.get(id) ?? []).filter((link) => link.src !== src).map(reversed),
    ];
    budget.visits -= links.length;
    return links.sort((a, b) => (a.link.id < b.link.id ? -1 : 1));
  };
  const distances = yield* distancesFrom(dst, (id) => linksInto(id).map(({ from, cost }) => [from, cost]));
  if (!distances.has(src)) return;
  const stepsFrom = (id: string): ResidualLink[] =>
    linksFrom(id).filter(({ to, cost }) => {
      const rest = distances.get(to);
      return rest !== undefined && rest + cost === distances.get(id);
    });
  // The search is depth-first with an explicit stack: each level holds the steps that were not tried yet.
  const path: ResidualLink[] = [];
  const visited = new Set([src]);
  const levels = [stepsFrom(src)];
  let visitsLeft = Math.max(budget.visits, MAX_LINK_VISITS);
  const pause = new Pause();
  for (let level = levels.at(-1); level && visitsLeft > 0; level = levels.at(-1)) {
    if (pause.due(COST.record)) yield undefined;
    const step = level.shift();
    if (!step) {
      levels.pop();
      const last = path.pop();
      if (last) visited.delete(last.to);
    } else if (step.to === dst) {
      yield [...path, step];
      if (budget.visits <= 0) return;
    } else if (!visited.has(step.to)) {
      visitsLeft -= 1;
      visited.add(step.to);
      path.push(step);
      levels.push(stepsFrom(step.to));
    }
  }
}

/** The two paths that remain when the links that both use in opposite directions are removed. */
function separate(
  src: string,
  dst: string,
  first: Path,
  second: readonly ResidualLink[],
): readonly [Path, Path] {
  const takenBack = new Set(second.filter(({ reversed }) => reversed).map(({ link }) => link.id));
  const links = [
    ...first.filter((link) => !takenBack.has(link.id)),
    ...second.filter(({ reversed }) => !reversed).map(({ link }) => link),
  ];
  const linksFrom = Map.groupBy(links.sort(byId), (link) => link.src);
  const walk = (): Path => {
    const path: GraphLink[] = [];
    for (let at = src; at !== dst; ) {
      const next = linksFrom.get(at)?.shift();
      if (!next) throw new Error(`no link from ${at}`);
      path.push(next);
      at = next.dst;
    }
    return path;
  };
  const pair = [walk(), walk()] as const;
  const [a, b] = pair;
  const [costA, costB] = [pathCost(a), pathCost(b)];
  return costA < costB || (costA === costB && keyOf(a) < keyOf(b)) ? pair : [b, a];
}

export const pathCost = (path: Path): number => path.reduce((sum, link) => sum + costOf(link), 0);
