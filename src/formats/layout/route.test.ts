import { describe, expect, test } from "bun:test";
import { demoGraph } from "../../../test/support/demo-graph.ts";
import { campus, leafSpine } from "../../../test/support/sample-network.ts";
import { cablesOf, type TopologyGraph } from "../graph.ts";
import type { Point } from "./adjacency.ts";
import { layoutNetwork } from "./layout.ts";
import { boundingBox, curvePoint, type EdgePath, routeEdges } from "./route.ts";

const SIZE = { width: 100, height: 40 };
const GUTTER = { width: 20, height: 20 };
const line = (from: Point, to: Point, layered = false) => ({ from, to, layered });

function routed(graph: TopologyGraph): { paths: EdgePath[]; nodes: Point[] } {
  const edges = cablesOf(graph);
  const layers: Record<string, number> = { core: 0, spine: 1, leaf: 2, access: 3 };
  const nodes = graph.devices.map(({ id, annotations }) => {
    const layer = layers[annotations.layer ?? ""];
    return layer === undefined ? { id } : { id, layer };
  });
  const spacing = { width: SIZE.width + GUTTER.width, height: SIZE.height + GUTTER.height };
  const { positions, layered } = layoutNetwork(
    { nodes, edges: edges.map(({ from, to }) => ({ a: from.device, b: to.device })) },
    spacing,
  );
  const at = (id: string) => positions.get(id) ?? { x: 0, y: 0 };
  const lines = edges.map(({ from, to }) => line(at(from.device), at(to.device), layered.has(from.device)));
  return { paths: routeEdges(lines, positions.values(), SIZE, GUTTER), nodes: [...positions.values()] };
}

/** Points along a path, without its last bits at the two nodes it joins. */
function* along({ from, to, control, via = [] }: EdgePath): Generator<Point> {
  const corners = [from, ...via, to];
  for (const [i, end] of corners.entries()) {
    const start = corners[i - 1];
    if (start === undefined) continue;
    const bend = control ?? { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
    for (let step = 0; step <= 50; step++) yield curvePoint(start, bend, end, step / 50);
  }
}

const covers = (node: Point, at: Point): boolean =>
  Math.abs(node.x - at.x) < SIZE.width / 2 - 1 && Math.abs(node.y - at.y) < SIZE.height / 2 - 1;

describe("in hierarchies no line runs behind a node it does not end at", () => {
  test.each([
    ["demo", demoGraph()],
    ["campus", campus()],
    ["leaf and spine", leafSpine(4, 40)],
  ])("%s", (_, graph) => {
    const { paths, nodes } = routed(graph);
    expect(paths).toHaveLength(cablesOf(graph).length);
    for (const path of paths) {
      const ends = nodes.filter((node) => touches(node, path.from) || touches(node, path.to));
      for (const at of along(path)) {
        const hiding = nodes.filter((node) => covers(node, at) && !ends.includes(node));
        expect(hiding).toEqual([]);
      }
    }
  });

  const touches = (node: Point, end: Point): boolean =>
    Math.abs(node.x - end.x) <= SIZE.width / 2 && Math.abs(node.y - end.y) <= SIZE.height / 2;
});

test("a free way is straight, and bent when a node stands in it", () => {
  const [from, to, between] = [
    { x: 0, y: 0 },
    { x: 400, y: 0 },
    { x: 200, y: 0 },
  ];
  expect(routeEdges([line(from, to)], [from, to], SIZE, GUTTER)).toEqual([{ from, to }]);
  const [path] = routeEdges([line(from, to)], [from, to, between], SIZE, GUTTER);
  expect(path?.control).toBeDefined();
});

test("between layers it goes from foot to head, in whichever direction the line was given", () => {
  const [upper, lower] = [
    { x: 0, y: 0 },
    { x: 50, y: 200 },
  ];
  expect(
    routeEdges([line(upper, lower, true), line(lower, upper, true)], [upper, lower], SIZE, GUTTER),
  ).toEqual([
    { from: { x: 0, y: 20 }, to: { x: 50, y: 180 } },
    { from: { x: 50, y: 180 }, to: { x: 0, y: 20 } },
  ]);
});

test("the extent holds nodes and lines", () => {
  const from = { x: 0, y: 0 };
  const to = { x: 100, y: 0 };
  const box = boundingBox([{ from, to, control: { x: 50, y: -200 } }], [from, to], SIZE);
  expect(box).toEqual({ left: -50, top: -100, right: 150, bottom: 20 });
});
