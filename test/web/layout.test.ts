/** Where things stand on the map: always the same, never on each other, and hardly moved by a change. */
import { describe, expect, test } from "bun:test";
import { createPlan } from "../../src/sources/demo/plan.ts";
import { partition, type Topology } from "../../src/web/layout/cluster-assignment.ts";
import { rearrange, type Spot } from "../../src/web/layout/incremental-layout.ts";
import { type Arrangement, arrange, SPACING } from "../../src/web/layout/map-layout.ts";
import type { MapNode } from "../../src/web/layout/messages.ts";
import { type Box, separateBoxes } from "../../src/web/layout/separate-boxes.ts";
import { commonPrefix } from "../../src/web/map/clusters.ts";

function topology(nodes: readonly MapNode[], edges: readonly (readonly [number, number])[]): Topology {
  const neighbours: number[][] = nodes.map(() => []);
  for (const [a, b] of edges) {
    neighbours[a]?.push(b);
    neighbours[b]?.push(a);
  }
  return { nodes, neighbours };
}

/** The demo's network: routers with a place, the rest in fabrics that know their site. */
function demo(devices: number, facts: { readonly sites: boolean }): Topology {
  const plan = createPlan(devices);
  const nodes = plan.devices.map((device, i): MapNode => {
    const site = plan.sites[device.site];
    const located = device.layer === "core" && site;
    return {
      id: `d${i}`,
      ...(facts.sites && site && { group: site.code }),
      ...(located && { place: { x: site.longitude, y: -site.latitude } }),
    };
  });
  return topology(
    nodes,
    plan.cables.map(({ a, b }) => [a, b] as const),
  );
}

const grid = (side: number): Topology => {
  const nodes = Array.from({ length: side * side }, (_, i) => ({ id: `g${i}` }));
  const edges = nodes.flatMap((_, i): [number, number][] => [
    ...((i + 1) % side === 0 ? [] : [[i, i + 1] satisfies [number, number]]),
    ...(i + side >= side * side ? [] : [[i, i + side] satisfies [number, number]]),
  ]);
  return topology(nodes, edges);
};

function overlaps({ positions }: Arrangement): number {
  const seen = new Map<string, [number, number][]>();
  let count = 0;
  for (let i = 0; i < positions.length; i += 2) {
    const [x, y] = [positions[i] ?? 0, positions[i + 1] ?? 0];
    const key = `${Math.floor(x / 40)},${Math.floor(y / 40)}`;
    const near = seen.get(key) ?? [];
    if (near.some(([p, q]) => Math.abs(p - x) < 12 && Math.abs(q - y) < 12)) count++;
    near.push([x, y]);
    seen.set(key, near);
  }
  return count;
}

describe("arrange", () => {
  test.each([
    ["a demo that names its sites", demo(300, { sites: true }), true],
    ["a demo with located routers only", demo(300, { sites: false }), true],
    ["a large grid with neither", grid(25), true],
    ["a small grid", grid(6), false],
    ["nothing", topology([], []), false],
    ["loners", topology([{ id: "a" }, { id: "b" }, { id: "c" }], []), false],
  ])("%s: nobody stands on anybody, and it is the same again", (_, graph, inBlocks) => {
    const first = arrange(graph);
    expect(overlaps(first)).toBe(0);
    expect(arrange(graph)).toEqual(first);
    expect(first.positions.every(Number.isFinite)).toBe(true);
    expect(new Set(first.blockOf).size > 1).toBe(inBlocks);
  });

  test("west is left and north is up", () => {
    const places = { seattle: [-122, -47], lisbon: [-9, -38], tokyo: [139, -35], sydney: [151, 33] } as const;
    const nodes = Object.entries(places).map(([id, [x, y]]) => ({ id, place: { x, y } }));
    const { positions } = arrange(topology(nodes, []));
    const [seattle = 0, seattleY = 0, lisbon = 0, , tokyo = 0, , sydney = 0, sydneyY = 0] = positions;
    expect(seattle).toBeLessThan(lisbon);
    expect(lisbon).toBeLessThan(tokyo);
    expect(tokyo).toBeLessThan(sydney);
    expect(seattleY).toBeLessThan(sydneyY);
  });
});

test("a device nobody located belongs to the nearest that somebody did", () => {
  const nodes: MapNode[] = [
    { id: "r1", place: { x: 8, y: -50 } },
    { id: "s1" },
    { id: "s2" },
    { id: "r2", place: { x: 4, y: -52 } },
  ];
  const edges = [
    [0, 1],
    [1, 2],
    [0, 3],
  ] as const;
  expect([...partition(topology(nodes, edges))]).toEqual([0, 0, 0, 1]);
});

describe("rearrange", () => {
  test("a newcomer stands near its neighbour, and nobody else moves", () => {
    const before = demo(100, { sites: true });
    const kept = new Map<string, Spot>();
    const first = rearrange(before, kept);
    const nodes = [...before.nodes, { id: "new" }, { id: "newer" }, { id: "loner" }];
    const neighbours = [...before.neighbours.map((list) => [...list]), [50, 101], [100], []];
    const second = rearrange({ nodes, neighbours }, kept);
    expect([...second.positions.slice(0, 200)]).toEqual([...first.positions]);
    expect(overlaps(second)).toBe(0);
    const at = (i: number) => [second.positions[i * 2] ?? 0, second.positions[i * 2 + 1] ?? 0] as const;
    const [[x, y], [nearX, nearY]] = [at(100), at(50)];
    expect(Math.hypot(x - nearX, y - nearY)).toBeLessThan(SPACING.width * 6);
    expect(second.blockOf[100]).toBe(first.blockOf[50] ?? -1);
  });

  test("who left and comes back stands where it stood; another network is laid out anew", () => {
    const graph = demo(100, { sites: true });
    const kept = new Map<string, Spot>();
    const first = rearrange(graph, kept);
    const without = topology(graph.nodes.slice(0, 90), []);
    expect([...rearrange(without, kept).positions]).toEqual([...first.positions.slice(0, 180)]);
    expect(rearrange(graph, kept)).toEqual(first);
    const other = grid(5);
    expect(rearrange(other, kept)).toEqual(arrange(other));
  });
});

test("boxes are pushed apart and keep their order", () => {
  const boxes: Box[] = Array.from({ length: 40 }, (_, i) => ({
    x: i % 7,
    y: Math.floor(i / 7),
    width: 100,
    height: 60,
  }));
  separateBoxes(boxes);
  for (const [i, a] of boxes.entries()) {
    for (const b of boxes.slice(i + 1)) {
      const clear = Math.abs(a.x - b.x) > 99.9 || Math.abs(a.y - b.y) > 59.9;
      expect(clear).toBe(true);
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
])("%j share %j", (names, prefix) => {
  expect(commonPrefix(names)).toBe(prefix);
});
