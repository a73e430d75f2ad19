/** The layout of the map: deterministic, without overlaps, and stable when the network changes. */
import { describe, expect, test } from "bun:test";
import { createPlan } from "../../src/sources/demo/plan.ts";
import { assignClusters, type MapGraph } from "../../src/web/layout/cluster-assignment.ts";
import { type LayoutPosition, updateLayout } from "../../src/web/layout/incremental-layout.ts";
import { layoutMap, type MapLayout, SPACING } from "../../src/web/layout/map-layout.ts";
import type { MapNode } from "../../src/web/layout/messages.ts";
import { type Box, separateBoxes } from "../../src/web/layout/separate-boxes.ts";
import { commonPrefix } from "../../src/web/map/clusters.ts";

function createGraph(nodes: readonly MapNode[], edges: readonly (readonly [number, number])[]): MapGraph {
  const neighbours: number[][] = nodes.map(() => []);
  for (const [a, b] of edges) {
    neighbours[a]?.push(b);
    neighbours[b]?.push(a);
  }
  return { nodes, neighbours };
}

/** The network of the demo source: its core routers have a location; with `sites`, all devices have a site. */
function createDemoGraph(devices: number, options: { readonly sites: boolean }): MapGraph {
  const plan = createPlan(devices);
  const nodes = plan.devices.map((device, i): MapNode => {
    const site = plan.sites[device.site];
    const located = device.layer === "core" && site;
    return {
      id: `d${i}`,
      ...(options.sites && site && { site: site.code }),
      ...(located && { location: { x: site.longitude, y: -site.latitude } }),
    };
  });
  return createGraph(
    nodes,
    plan.cables.map(({ a, b }) => [a, b] as const),
  );
}

const createGrid = (side: number): MapGraph => {
  const nodes = Array.from({ length: side * side }, (_, i) => ({ id: `g${i}` }));
  const edges = nodes.flatMap((_, i): [number, number][] => [
    ...((i + 1) % side === 0 ? [] : [[i, i + 1] satisfies [number, number]]),
    ...(i + side >= side * side ? [] : [[i, i + side] satisfies [number, number]]),
  ]);
  return createGraph(nodes, edges);
};

function countOverlaps({ positions }: MapLayout): number {
  const seen = new Map<string, [number, number][]>();
  let count = 0;
  for (let i = 0; i < positions.length; i += 2) {
    const [x, y] = [positions[i] ?? 0, positions[i + 1] ?? 0];
    const key = `${Math.floor(x / 40)},${Math.floor(y / 40)}`;
    const others = seen.get(key) ?? [];
    if (others.some(([p, q]) => Math.abs(p - x) < 12 && Math.abs(q - y) < 12)) count++;
    others.push([x, y]);
    seen.set(key, others);
  }
  return count;
}

describe("layoutMap", () => {
  test.each([
    ["a demo with sites", createDemoGraph(300, { sites: true }), true],
    ["a demo with locations of routers only", createDemoGraph(300, { sites: false }), true],
    ["a large grid without sites and locations", createGrid(25), true],
    ["a small grid", createGrid(6), false],
    ["an empty network", createGraph([], []), false],
    ["isolated devices", createGraph([{ id: "a" }, { id: "b" }, { id: "c" }], []), false],
  ])("%s: no devices overlap, and a second layout is equal", (_, graph, hasClusters) => {
    const first = layoutMap(graph);
    expect(countOverlaps(first)).toBe(0);
    expect(layoutMap(graph)).toEqual(first);
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
    const { positions } = layoutMap(createGraph(nodes, []));
    const [seattle = 0, seattleY = 0, lisbon = 0, , tokyo = 0, , sydney = 0, sydneyY = 0] = positions;
    expect(seattle).toBeLessThan(lisbon);
    expect(lisbon).toBeLessThan(tokyo);
    expect(tokyo).toBeLessThan(sydney);
    expect(seattleY).toBeLessThan(sydneyY);
  });
});

test("a device without a location is in the cluster of the nearest device that has one", () => {
  const nodes: MapNode[] = [
    { id: "r1", location: { x: 8, y: -50 } },
    { id: "s1" },
    { id: "s2" },
    { id: "r2", location: { x: 4, y: -52 } },
  ];
  const edges = [
    [0, 1],
    [1, 2],
    [0, 3],
  ] as const;
  expect([...assignClusters(createGraph(nodes, edges))]).toEqual([0, 0, 0, 1]);
});

describe("updateLayout", () => {
  test("a new device is placed near its neighbour, and no other device moves", () => {
    const before = createDemoGraph(100, { sites: true });
    const positions = new Map<string, LayoutPosition>();
    const first = updateLayout(before, positions);
    const nodes = [...before.nodes, { id: "new" }, { id: "attached to new" }, { id: "isolated" }];
    const neighbours = [...before.neighbours.map((list) => [...list]), [50, 101], [100], []];
    const second = updateLayout({ nodes, neighbours }, positions);
    expect([...second.positions.slice(0, 200)]).toEqual([...first.positions]);
    expect(countOverlaps(second)).toBe(0);
    const positionOf = (i: number) =>
      [second.positions[i * 2] ?? 0, second.positions[i * 2 + 1] ?? 0] as const;
    const [[x, y], [nearX, nearY]] = [positionOf(100), positionOf(50)];
    expect(Math.hypot(x - nearX, y - nearY)).toBeLessThan(SPACING.width * 6);
    expect(second.clusterOf[100]).toBe(first.clusterOf[50] ?? -1);
  });

  test("a removed device returns to its position; another network gets a new layout", () => {
    const graph = createDemoGraph(100, { sites: true });
    const positions = new Map<string, LayoutPosition>();
    const first = updateLayout(graph, positions);
    const without = createGraph(graph.nodes.slice(0, 90), []);
    expect([...updateLayout(without, positions).positions]).toEqual([...first.positions.slice(0, 180)]);
    expect(updateLayout(graph, positions)).toEqual(first);
    const other = createGrid(5);
    expect(updateLayout(other, positions)).toEqual(layoutMap(other));
  });
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

test.each([
  [["fra1-leaf1", "fra1-leaf2"], "fra1-"],
  [["fra1-core1"], ""],
  [["a", "b"], ""],
  [["of:01", "of:02"], ""],
  [["x-", "x-1"], ""],
  [["dc.row1.a", "dc.row1.b", "dc.row2.a"], "dc."],
])("commonPrefix of %j is %j", (names, prefix) => {
  expect(commonPrefix(names)).toBe(prefix);
});
