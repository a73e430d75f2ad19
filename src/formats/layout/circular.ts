/** The layout of dense graphs: on a circle no edge runs behind a node. */
import type { Adjacency, Point, Size } from "./adjacency.ts";
import { removeOverlaps } from "./overlap-removal.ts";

const MAX_NODES = 60;
/** The part of all possible edges above which a graph is dense. */
const MIN_DENSITY = 0.5;

export function isDense({ nodes, edges }: Adjacency): boolean {
  const n = nodes.length;
  return n > 3 && n <= MAX_NODES && edges.length >= (MIN_DENSITY * n * (n - 1)) / 2;
}

export function circularLayout({ nodes }: Adjacency, spacing: Size): Point[] {
  // Nodes are wider than high, so the circle is an ellipse.
  const [radiusX, radiusY] = [(nodes.length * spacing.width) / 5, (nodes.length * spacing.height) / 3];
  const points = nodes.map((_, i) => {
    const angle = (i / nodes.length) * 2 * Math.PI - Math.PI / 2;
    return { x: radiusX * Math.cos(angle), y: radiusY * Math.sin(angle) };
  });
  return removeOverlaps(points, spacing);
}
