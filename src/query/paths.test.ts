import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/property.ts";
import { runToEnd, withoutPauses } from "../lib/steps.ts";
import { linkId } from "../model/ids.ts";
import { type GraphLink, LinkGraph } from "../view/link-graph.ts";
import { pathCost, findDisjointPaths as searchDisjointPaths } from "./disjoint-paths.ts";
import { costOf, type Path, findShortestPaths as searchShortestPaths } from "./shortest-paths.ts";

/** Each link is `[src, dst]` or `[src, dst, "INDIRECT"]`. The index is its port, so that links may be parallel. */
type Wire = readonly [src: string, dst: string, type?: "INDIRECT" | undefined];

function graphOf(wires: readonly Wire[]): LinkGraph {
  const devices = wires.flatMap(([src, dst]) => [dst, src]).map((id) => [id, { available: true }] as const);
  const links = wires.map(([src, dst, type], i) => {
    const ends = { src: { device: src, port: String(i) }, dst: { device: dst, port: String(i) } };
    return [linkId(ends.src, ends.dst), { ...ends, state: "ACTIVE", type: type ?? "DIRECT" }] as const;
  });
  return runToEnd(LinkGraph.empty.with({ devices, links }));
}

const findDisjointPaths = (...given: Parameters<typeof searchDisjointPaths>) =>
  runToEnd(searchDisjointPaths(...given));

function findShortestPaths(...given: Parameters<typeof searchShortestPaths>) {
  const { count, slice } = runToEnd(searchShortestPaths(...given));
  return { count, slice: (from: bigint, max: number) => [...withoutPauses(slice(from, max))] };
}

const idsOf = (path: Path): string => path.map(({ id }) => id).join(" ");

/** All simple paths, by depth-first search. */
function allPaths(
  graph: LinkGraph,
  src: string,
  dst: string,
  visited: readonly string[] = [src],
): GraphLink[][] {
  return graph.outgoing(src).flatMap((link) => {
    if (link.dst === dst) return [[link]];
    if (visited.includes(link.dst)) return [];
    return allPaths(graph, link.dst, dst, [...visited, link.dst]).map((rest) => [link, ...rest]);
  });
}

const device = fc.constantFrom("a", "b", "c", "d", "e", "f");
const wires = fc.array(
  fc.tuple(device, device, fc.constantFrom(undefined, undefined, undefined, "INDIRECT" as const)),
  { maxLength: 14 },
);

function grid(size: number): LinkGraph {
  const links: Wire[] = [];
  for (let x = 0; x < size; x++) {
    for (let y = 0; y < size; y++) {
      if (x + 1 < size) links.push([`${x},${y}`, `${x + 1},${y}`], [`${x + 1},${y}`, `${x},${y}`]);
      if (y + 1 < size) links.push([`${x},${y}`, `${x},${y + 1}`], [`${x},${y + 1}`, `${x},${y}`]);
    }
  }
  return graphOf(links);
}

describe("shortest paths", () => {
  test("are those with the lowest cost, in the order of their link ids", () => {
    fc.assert(
      fc.property(wires, (given) => {
        const graph = graphOf(given);
        const every = allPaths(graph, "a", "b");
        const lowest = Math.min(...every.map(pathCost));
        const expected = every.filter((path) => pathCost(path) === lowest);
        const found = findShortestPaths(graph, "a", "b");
        expect(found.count).toBe(BigInt(expected.length));
        const paths = found.slice(0n, 1000).map((path) => path.map(({ id }) => id));
        expect(paths).toEqual(expected.map((path) => path.map(({ id }) => id)).sort(compareLists));
        expect(found.slice(1n, 2)).toEqual(found.slice(0n, 3).slice(1));
      }),
      { numRuns: runs(500) },
    );
  });

  test("are counted without making them, and made from any position", () => {
    const paths = findShortestPaths(grid(40), "0,0", "39,39");
    // The binomial coefficient of 78 over 39.
    expect(paths.count).toBe(27217014869199032015600n);
    const last = paths.slice(paths.count - 1n, 256);
    expect(last).toHaveLength(1);
    expect(last[0]).toHaveLength(78);
    expect(new Set(paths.slice(10n ** 20n, 256).map(idsOf)).size).toBe(256);
  });

  test("avoid INDIRECT links where there is another way", () => {
    const graph = graphOf([
      ["a", "b", "INDIRECT"],
      ["a", "c"],
      ["c", "b"],
      ["b", "d", "INDIRECT"],
    ]);
    expect(findShortestPaths(graph, "a", "b").slice(0n, 9).map(idsOf)).toEqual(["a/1-c/1 c/2-b/2"]);
    const [path = []] = findShortestPaths(graph, "a", "d").slice(0n, 9);
    expect(path.map(costOf)).toEqual([1, 1, 32_767]);
  });
});

const compareLists = (a: readonly string[], b: readonly string[]): number => {
  for (const [i, id] of a.entries()) if (id !== b[i]) return id < (b[i] ?? "") ? -1 : 1;
  return 0;
};

describe("disjoint paths", () => {
  test("share no link, and no pair has a smaller sum of costs", () => {
    fc.assert(
      fc.property(wires, (given) => {
        const graph = graphOf(given);
        const every = allPaths(graph, "a", "b");
        const sums: number[] = [];
        for (const first of every) {
          for (const second of every) {
            if (first.every((link) => !second.includes(link))) sums.push(pathCost(first) + pathCost(second));
          }
        }
        const { pairs, complete } = findDisjointPaths(graph, "a", "b", 1000);
        expect(complete).toBe(true);
        expect(pairs.length > 0).toBe(sums.length > 0);
        for (const [primary, backup] of pairs) {
          expect(primary.some((link) => backup.includes(link))).toBe(false);
          expect(pathCost(primary) + pathCost(backup)).toBe(Math.min(...sums));
          expect(pathCost(primary)).toBeLessThanOrEqual(pathCost(backup));
        }
        expect(new Set(pairs.map((pair) => pair.map(idsOf).join("|"))).size).toBe(pairs.length);
      }),
      { numRuns: runs(500) },
    );
  });

  test("are found where the shortest path blocks all others", () => {
    const graph = graphOf([
      ["a", "c"],
      ["c", "d"],
      ["d", "b"],
      ["a", "e"],
      ["e", "f"],
      ["f", "d"],
      ["c", "g"],
      ["g", "h"],
      ["h", "b"],
    ]);
    const { pairs } = findDisjointPaths(graph, "a", "b", 9);
    expect(pairs.map((pair) => pair.map(idsOf))).toEqual([
      ["a/0-c/0 c/6-g/6 g/7-h/7 h/8-b/8", "a/3-e/3 e/4-f/4 f/5-d/5 d/2-b/2"],
    ]);
  });

  test("of a grid end with the limit", () => {
    const { pairs, complete } = findDisjointPaths(grid(20), "0,0", "19,19", 256);
    expect(pairs.length).toBeGreaterThan(0);
    expect(complete).toBe(false);
  });
});
