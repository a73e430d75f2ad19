import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/property.ts";
import { createAdjacency } from "./adjacency.ts";
import { createLayerGraph, turnCycle } from "./layer-order.ts";

/** The cycles of a graph whose nodes are all in one layer. */
function cyclesOf(count: number, edges: [number, number][]): readonly (readonly number[])[] {
  const nodes = Array.from({ length: count }, () => ({}));
  return createLayerGraph(
    createAdjacency(nodes, edges),
    nodes.map(() => 0),
  ).cycles;
}

/** The edges of a path through the nodes. */
const path = (...nodes: number[]): [number, number][] =>
  nodes.slice(1).map((node, i): [number, number] => [nodes[i] ?? 0, node]);

describe("the cycles of a layer", () => {
  test("are found in their order, without what hangs on them", () => {
    const [cycle, ...others] = cyclesOf(6, [...path(0, 1, 2, 3, 0), ...path(2, 4, 5)]);
    expect(others).toEqual([]);
    expect(cycle?.toSorted()).toEqual([0, 1, 2, 3]);
    expect(Math.abs((cycle?.indexOf(0) ?? 0) - (cycle?.indexOf(2) ?? 0))).toBe(2);
  });
  test.each([
    ["before", [0, 1]],
    ["after", [12, 13]],
    ["between", [4, 9]],
  ])("are not the paths between two nodes of which several cycles consist, numbered %s them", (_, ends) => {
    const [a = 0, b = 0] = ends;
    const inner = Array.from({ length: 14 }, (_, i) => i).filter((node) => node !== a && node !== b);
    const paths = [inner.slice(0, 4), inner.slice(4, 8), inner.slice(8)];
    expect(
      cyclesOf(
        14,
        paths.flatMap((nodes) => path(a, ...nodes, b)),
      ),
    ).toEqual([]);
  });
});

test("a cycle is turned so that the keys rise most along it", () => {
  const riseOf = (keys: readonly number[]) => keys.reduce((sum, key, i) => sum + i * key, 0);
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 }),
      (keys) => {
        const cycle = [...keys.keys()];
        const turned = turnCycle(cycle, (node) => keys[node] ?? 0);
        const turns = [cycle, cycle.toReversed()].flatMap((nodes) =>
          nodes.map((_, start) => [...nodes.slice(start), ...nodes.slice(0, start)]),
        );
        expect(turns).toContainEqual([...turned]);
        const rises = turns.map((nodes) => riseOf(nodes.map((node) => keys[node] ?? 0)));
        expect(riseOf(turned.map((node) => keys[node] ?? 0))).toBeCloseTo(Math.max(...rises), 6);
      },
    ),
    { numRuns: runs(400) },
  );
});
