/** The layout of rings and of dense graphs: on a circle no edge runs behind a node. */
import type { Adjacency, Point, Size } from "./adjacency.ts";
import { depthFirst } from "./grid.ts";
import { removeOverlaps } from "./overlap-removal.ts";

const MAX_NODES = 60;
/** The part of all possible edges above which a graph is dense. */
const MIN_DENSITY = 0.5;

export function isDense({ nodes, edges }: Adjacency): boolean {
  const n = nodes.length;
  return n > 3 && n <= MAX_NODES && edges.length >= (MIN_DENSITY * n * (n - 1)) / 2;
}

/** In a connected graph, two neighbours each make one ring. */
export function isRing({ nodes, neighbours }: Adjacency): boolean {
  return nodes.length > 2 && neighbours.every((list) => list.length === 2);
}

/** In the order of the links, as far as they go: the nodes of a ring are side by side. */
export function circularLayout(graph: Adjacency, spacing: Size): Point[] {
  const count = graph.nodes.length;
  // Nodes are wider than high, so the circle is an ellipse.
  const [radiusX, radiusY] = [(count * spacing.width) / 5, (count * spacing.height) / 3];
  const points: Point[] = [];
  let i = 0;
  for (const node of depthFirst(graph)) {
    const angle = (i++ / count) * 2 * Math.PI - Math.PI / 2;
    points[node] = { x: radiusX * Math.cos(angle), y: radiusY * Math.sin(angle) };
  }
  return removeOverlaps(points, spacing);
}
