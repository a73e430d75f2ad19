import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { campus, type ListedGraph, leafSpine, listCables, mesh } from "../../test/support/sample-network.ts";
import {
  type Adjacency,
  connectedComponents,
  createAdjacency,
  type Point,
  type Size,
  shortestDistances,
} from "./adjacency.ts";
import { assignLayers, enforceSpacing } from "./layered.ts";
import { layoutNetwork } from "./layout.ts";
import { LinkRouter } from "./link-router.ts";

const SPACING: Size = { width: 120, height: 60 };

function layoutInput(graph: ListedGraph): Adjacency {
  const numbers = new Map(graph.devices.map(({ id }, i) => [id, i]));
  return numberedGraph(
    graph.devices.length,
    listCables(graph).map(({ from, to }) => [numbers.get(from.device) ?? 0, numbers.get(to.device) ?? 0]),
  );
}

function numberedGraph(count: number, edges: [number, number][], layer?: number[]): Adjacency {
  const nodes = Array.from({ length: count }, (_, i) => ({ ...(layer && { layer: layer[i] ?? 0 }) }));
  return createAdjacency(nodes, edges);
}

/** The first pair that is too close. Uses a grid of cells, because there are up to ten thousand points. */
function findOverlap(points: Iterable<Point>, spacing: Size): [Point, Point] | undefined {
  const cells = new Map<string, Point[]>();
  for (const point of points) {
    const [c, r] = [Math.floor(point.x / spacing.width), Math.floor(point.y / spacing.height)];
    for (let dc = -1; dc <= 1; dc++) {
      for (let dr = -1; dr <= 1; dr++) {
        for (const other of cells.get(`${c + dc},${r + dr}`) ?? []) {
          const isNear = Math.abs(other.x - point.x) < spacing.width - 1e-6;
          if (isNear && Math.abs(other.y - point.y) < spacing.height - 1e-6) return [other, point];
        }
      }
    }
    const key = `${c},${r}`;
    cells.set(key, [...(cells.get(key) ?? []), point]);
  }
  return undefined;
}

const tree = numberedGraph(
  31,
  Array.from({ length: 30 }, (_, i) => [Math.floor(i / 2), i + 1] as [number, number]),
);
const star = numberedGraph(
  20,
  Array.from({ length: 19 }, (_, i) => [0, i + 1] as [number, number]),
);
const line = numberedGraph(
  30,
  Array.from({ length: 29 }, (_, i) => [i, i + 1] as [number, number]),
);

/** Four pods of two upper and two lower switches under four cores. */
function fatTree(): Adjacency {
  const edges: [number, number][] = [];
  for (let pod = 0; pod < 4; pod++) {
    const [upper, lower] = [4 + pod * 4, 6 + pod * 4];
    for (const u of [0, 1]) {
      for (const l of [0, 1]) edges.push([upper + u, lower + l]);
      for (const c of [0, 1]) edges.push([u * 2 + c, upper + u]);
    }
  }
  return numberedGraph(20, edges);
}

describe("layers", () => {
  const layerSizes = (input: Adjacency): number[] | undefined => {
    const [component] = connectedComponents(input);
    const layers = component && assignLayers(component);
    const counts: number[] = [];
    for (const layer of layers ?? []) counts[layer] = (counts[layer] ?? 0) + 1;
    return layers && counts;
  };

  test.each([
    ["leaf and spine", layoutInput(leafSpine(4, 16)), [4, 16]],
    ["campus", layoutInput(campus()), [2, 8, 36]],
    ["binary tree", tree, [1, 2, 4, 8, 16]],
    ["star", star, [1, 19]],
    ["fat tree", fatTree(), [4, 8, 8]],
  ])("%s is a hierarchy", (_, input, expected) => {
    expect(layerSizes(input)).toEqual(expected);
  });

  test.each([
    ["ring", layoutInput(mesh(12, 1, true))],
    ["torus", layoutInput(mesh(6, 6, true))],
    ["mesh", layoutInput(mesh(5, 4))],
    ["long line", line],
    ["two nodes", numberedGraph(2, [[0, 1]])],
  ])("%s is not a hierarchy", (_, input) => {
    expect(layerSizes(input)).toBeUndefined();
  });

  test("annotated layers have priority, and their numbers may have gaps", () => {
    const annotated = numberedGraph(
      6,
      [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 4],
        [4, 5],
        [5, 0],
      ],
      [10, 20, 20, 70, 70, 70],
    );
    expect(layerSizes(annotated)).toEqual([1, 2, 3]);
  });

  test("switches at the bottom may have one uplink or two", () => {
    const edges: [number, number][] = [];
    for (const distribution of [2, 3, 4, 5]) for (const core of [0, 1]) edges.push([core, distribution]);
    for (let access = 6; access < 30; access++) {
      const pair = access % 2 === 0 ? [2, 3] : [4, 5];
      for (const distribution of pair.slice(access % 5 === 0 ? 1 : 0)) edges.push([distribution, access]);
    }
    expect(layerSizes(numberedGraph(30, edges))).toEqual([2, 4, 24]);
  });
});

test("a ring within an annotated layer is in the order of the ring, and its closing link is led around the outside", () => {
  // Two cores, a ring of distribution switches whose numbers are not in its order, and two access switches on each.
  const ring = [2, 6, 4, 8, 3, 7, 5, 9];
  const edges: [number, number][] = [[0, 1]];
  for (const [i, node] of ring.entries()) edges.push([node, ring[(i + 1) % ring.length] ?? 0]);
  edges.push([0, 2], [1, 3]);
  for (const node of ring) edges.push([node, node * 2 + 6], [node, node * 2 + 7]);
  const layers = Array.from({ length: 26 }, (_, node) => (node < 2 ? 0 : node < 10 ? 1 : 2));
  const { points } = layoutNetwork(numberedGraph(26, edges, layers), SPACING);
  const at = (node: number) => points[node] ?? { x: 0, y: 0 };
  const drawn = ring.toSorted((p, q) => at(p).x - at(q).x);
  expect(new Set(ring.map((node) => at(node).y)).size).toBe(1);
  for (const [i, node] of drawn.entries()) {
    const next = drawn[(i + 1) % drawn.length] ?? 0;
    expect(edges.some(([a, b]) => (a === node && b === next) || (a === next && b === node))).toBe(true);
  }
  /** The heights at which the closing link bends, when the drawing is as it is or upside down. */
  const bendsOfClosingLink = (sign: 1 | -1) => {
    const router = new LinkRouter({ box: { width: 40, height: 30 }, gutter: { width: 80, height: 30 } });
    for (const [node, { x, y }] of points.entries()) router.place(node, { x, y: y * sign });
    for (const [a, b] of edges) router.connect(a, b);
    router.update();
    const route = router.route(drawn[0] ?? 0, drawn.at(-1) ?? 0) ?? [];
    return [...route].filter((_, i) => i % 2 === 1).slice(1, -1);
  };
  // The cores have two links to the ring and the access switches sixteen, so the outside is on the side of the cores.
  const row = at(2).y;
  expect(Math.max(...bendsOfClosingLink(1))).toBeLessThan(row - 15);
  expect(Math.min(...bendsOfClosingLink(-1))).toBeGreaterThan(-row + 15);
});

describe("layout", () => {
  test.each([
    ["campus", layoutInput(campus())],
    ["leaf and spine", layoutInput(leafSpine(4, 40))],
    ["torus", layoutInput(mesh(8, 8, true))],
    ["tree", tree],
    ["star", star],
    ["single nodes", numberedGraph(7, [])],
    ["a thousand in a torus", layoutInput(mesh(32, 31, true))],
    ["ten thousand in a torus", layoutInput(mesh(100, 100, true))],
    ["ten thousand leaves", layoutInput(leafSpine(2, 10_000))],
  ])("%s: every node has a position, none overlap, no coordinate is negative", (_, input) => {
    const { points, width, height } = layoutNetwork(input, SPACING);
    expect(points).toHaveLength(input.nodes.length);
    expect(findOverlap(points, SPACING)).toBeUndefined();
    for (const { x, y } of points) {
      expect(x >= -1e-9 && x <= width + 1e-9 && y >= -1e-9 && y <= height + 1e-9).toBe(true);
    }
  });

  test("any graph: every node has a position, none overlap, the layout is deterministic", () => {
    const graphs = fc.integer({ min: 0, max: 40 }).chain((count) =>
      fc.record({
        count: fc.constant(count),
        edges: fc.array(
          fc.tuple(fc.nat({ max: Math.max(0, count - 1) }), fc.nat({ max: Math.max(0, count - 1) })),
          { maxLength: 120 },
        ),
        layers: fc.option(fc.array(fc.nat({ max: 4 }), { minLength: count, maxLength: count }), {
          nil: undefined,
        }),
      }),
    );
    fc.assert(
      fc.property(graphs, ({ count, edges, layers }) => {
        const input = numberedGraph(count, edges, layers);
        const first = layoutNetwork(input, SPACING);
        expect(first.points).toHaveLength(count);
        expect(findOverlap(first.points, SPACING)).toBeUndefined();
        expect(layoutNetwork(input, SPACING)).toEqual(first);
      }),
    );
  });

  test("loops are ignored", () => {
    expect(layoutNetwork(numberedGraph(1, [[0, 0]]), SPACING).points).toEqual([{ x: 0, y: 0 }]);
    expect(layoutNetwork(numberedGraph(0, []), SPACING)).toMatchObject({ width: 0, height: 0 });
  });
});

test("distances and connected components", () => {
  const graph = numberedGraph(6, [
    [0, 1],
    [1, 2],
    [2, 0],
    [3, 4],
  ]);
  expect([...shortestDistances(graph, [0])]).toEqual([0, 1, 1, -1, -1, -1]);
  expect(connectedComponents(graph).map(({ members }) => members)).toEqual([[0, 1, 2], [3, 4], [5]]);
});

test("enforceSpacing keeps the order and the step, and moves nothing that is far enough", () => {
  expect(enforceSpacing([0, 100, 200], [0, 50, 50])).toEqual([0, 100, 200]);
  expect(enforceSpacing([10, 10, 10], [0, 50, 50])).toEqual([-40, 10, 60]);
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -1000, max: 1000 })),
      fc.integer({ min: 1, max: 100 }),
      (desired, step) => {
        const positions = enforceSpacing(
          desired,
          desired.map(() => step),
        );
        expect(positions).toHaveLength(desired.length);
        for (const [i, position] of positions.entries()) {
          if (i > 0) expect(position - (positions[i - 1] ?? 0)).toBeGreaterThanOrEqual(step - 1e-6);
        }
      },
    ),
  );
});
