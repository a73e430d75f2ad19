/** Nodes of which almost each is joined to almost each other: on a ring no line runs behind a node. */
import type { Adjacency, Point, Spacing } from "./adjacency.ts";
import { separated } from "./overlap-removal.ts";

const MAX_NODES = 60;
const DENSE = 0.5;

export function isDense({ nodes, edges }: Adjacency): boolean {
  const n = nodes.length;
  return n > 3 && n <= MAX_NODES && edges.length >= (DENSE * n * (n - 1)) / 2;
}

export function ringLayout({ nodes }: Adjacency, spacing: Spacing): Point[] {
  // Nodes are wide, so the ring is an oval: room for a half of the nodes side by side, and for a half one below another.
  const [across, down] = [(nodes.length * spacing.x) / 5, (nodes.length * spacing.y) / 3];
  const points = nodes.map((_, i) => {
    const angle = (i / nodes.length) * 2 * Math.PI - Math.PI / 2;
    return { x: across * Math.cos(angle), y: down * Math.sin(angle) };
  });
  return separated(points, spacing);
}
