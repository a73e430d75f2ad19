import { describe, expect, test } from "bun:test";
import { demoGraph } from "../../../test/support/demo-graph.ts";
import { campus, type ListedGraph, leafSpine, listCables } from "../../../test/support/sample-network.ts";
import type { Point } from "./adjacency.ts";
import { namedLayer } from "./layer-names.ts";
import { layoutNetwork } from "./layout.ts";
import { boundingBox, curvePoint, type EdgePath, routeEdges } from "./route.ts";

const SIZE = { width: 100, height: 40 };
const GUTTER = { width: 20, height: 20 };
const edge = (from: Point, to: Point, layered = false) => ({ from, to, layered });

function routeGraph(graph: ListedGraph): { paths: EdgePath[]; nodes: Point[] } {
  const cables = listCables(graph);
  const nodes = graph.devices.map(({ id, annotations }) => {
    const layer = namedLayer(annotations.layer);
    return layer === undefined ? { id } : { id, layer };
  });
  const spacing = { width: SIZE.width + GUTTER.width, height: SIZE.height + GUTTER.height };
  const { positions, layered } = layoutNetwork(
    { nodes, edges: cables.map(({ from, to }) => ({ a: from.device, b: to.device })) },
    spacing,
  );
  const at = (id: string) => positions.get(id) ?? { x: 0, y: 0 };
  const edgeEnds = cables.map(({ from, to }) =>
    edge(at(from.device), at(to.device), layered.has(from.device)),
  );
  return { paths: routeEdges(edgeEnds, positions.values(), SIZE, GUTTER), nodes: [...positions.values()] };
}

/** Points along a path. */
function* pointsOn({ from, to, control, via = [] }: EdgePath): Generator<Point> {
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

describe("in hierarchies no edge runs behind a node that it does not end at", () => {
  test.each([
    ["demo", demoGraph()],
    ["campus", campus()],
    ["leaf and spine", leafSpine(4, 40)],
  ])("%s", (_, graph) => {
    const { paths, nodes } = routeGraph(graph);
    expect(paths).toHaveLength(listCables(graph).length);
    for (const path of paths) {
      const ends = nodes.filter((node) => touches(node, path.from) || touches(node, path.to));
      for (const at of pointsOn(path)) {
        const covering = nodes.filter((node) => covers(node, at) && !ends.includes(node));
        expect(covering).toEqual([]);
      }
    }
  });

  const touches = (node: Point, end: Point): boolean =>
    Math.abs(node.x - end.x) <= SIZE.width / 2 && Math.abs(node.y - end.y) <= SIZE.height / 2;
});

test("an edge is straight, and bent when a node is in the way", () => {
  const [from, to, between] = [
    { x: 0, y: 0 },
    { x: 400, y: 0 },
    { x: 200, y: 0 },
  ];
  expect(routeEdges([edge(from, to)], [from, to], SIZE, GUTTER)).toEqual([{ from, to }]);
  const [path] = routeEdges([edge(from, to)], [from, to, between], SIZE, GUTTER);
  expect(path?.control).toBeDefined();
});

test("an edge between layers runs from the bottom to the top of the nodes, in either direction", () => {
  const [upper, lower] = [
    { x: 0, y: 0 },
    { x: 50, y: 200 },
  ];
  expect(
    routeEdges([edge(upper, lower, true), edge(lower, upper, true)], [upper, lower], SIZE, GUTTER),
  ).toEqual([
    { from: { x: 0, y: 20 }, to: { x: 50, y: 180 } },
    { from: { x: 50, y: 180 }, to: { x: 0, y: 20 } },
  ]);
});

test("the bounding box contains nodes and edges", () => {
  const from = { x: 0, y: 0 };
  const to = { x: 100, y: 0 };
  const box = boundingBox([{ from, to, control: { x: 50, y: -200 } }], [from, to], SIZE);
  expect(box).toEqual({ left: -50, top: -100, right: 150, bottom: 20 });
});
