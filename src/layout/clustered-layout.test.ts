/** The layout of whole networks: deterministic, without overlaps, clusters by site, location or links. */
import { describe, expect, test } from "bun:test";
import { demoLayoutGraph, grid, layoutGraph, type NumberedEdge } from "../../test/support/layout-graphs.ts";
import { assignClusters, type DeviceNode } from "./cluster-assignment.ts";
import { type Box, type ClusteredLayout, layoutClusters, separateBoxes } from "./clustered-layout.ts";

const SIZES = { spacing: { width: 84, height: 60 }, margin: { width: 110, height: 120 } };
const layout = (graph: Parameters<typeof layoutClusters>[0]) => layoutClusters(graph, SIZES);

function countOverlaps({ positions }: ClusteredLayout): number {
  let count = 0;
  for (let i = 0; i < positions.length; i += 2) {
    for (let j = 0; j < i; j += 2) {
      const dx = Math.abs((positions[i] ?? 0) - (positions[j] ?? 0));
      const dy = Math.abs((positions[i + 1] ?? 0) - (positions[j + 1] ?? 0));
      if (dx < 83.9 && dy < 59.9) count++;
    }
  }
  return count;
}

describe("layoutClusters", () => {
  test.each([
    ["a demo with sites", demoLayoutGraph(300, { sites: true }), true],
    ["a demo with locations of routers only", demoLayoutGraph(300, { sites: false }), true],
    ["a large grid without sites and locations", grid(25, 25), true],
    ["a small grid", grid(6, 6), false],
    ["an empty network", layoutGraph("", [], []), false],
    ["isolated devices", layoutGraph("", [{ id: "a" }, { id: "b" }, { id: "c" }], []), false],
  ])("%s: no devices overlap, and a second layout is equal", (_, graph, hasClusters) => {
    const first = layout(graph);
    expect(countOverlaps(first)).toBe(0);
    expect(layout(graph)).toEqual(first);
    expect(first.positions.every(Number.isFinite)).toBe(true);
    expect(new Set(first.clusterOf).size > 1).toBe(hasClusters);
  });

  test("west is on the left and north is at the top", () => {
    const locations = {
      seattle: [-122, -47],
      lisbon: [-9, -38],
      tokyo: [139, -35],
      sydney: [151, 33],
    } as const;
    const nodes = Object.entries(locations).map(([id, [x, y]]) => ({ id, location: { x, y } }));
    const { positions } = layout(layoutGraph("", nodes, []));
    const [seattle = 0, seattleY = 0, lisbon = 0, , tokyo = 0, , sydney = 0, sydneyY = 0] = positions;
    expect(seattle).toBeLessThan(lisbon);
    expect(lisbon).toBeLessThan(tokyo);
    expect(tokyo).toBeLessThan(sydney);
    expect(seattleY).toBeLessThan(sydneyY);
  });
});

test("a device without a location is in the cluster of the nearest device that has one", () => {
  const nodes: DeviceNode[] = [
    { id: "r1", location: { x: 8, y: -50 } },
    { id: "s1" },
    { id: "s2" },
    { id: "r2", location: { x: 4, y: -52 } },
  ];
  const edges: NumberedEdge[] = [
    [0, 1],
    [1, 2],
    [0, 3],
  ];
  expect([...assignClusters(layoutGraph("", nodes, edges))]).toEqual([0, 0, 0, 1]);
});

test("separateBoxes leaves no overlap", () => {
  const boxes: Box[] = Array.from({ length: 40 }, (_, i) => ({
    x: i % 7,
    y: Math.floor(i / 7),
    width: 100,
    height: 60,
  }));
  separateBoxes(boxes);
  for (const [i, a] of boxes.entries()) {
    for (const b of boxes.slice(i + 1)) {
      const separate = Math.abs(a.x - b.x) > 99.9 || Math.abs(a.y - b.y) > 59.9;
      expect(separate).toBe(true);
    }
  }
});
