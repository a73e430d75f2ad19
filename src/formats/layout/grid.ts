/**
 * The coarse layout, for networks too large for the others: nodes in depth-first order along a Hilbert curve, which
 * puts what is near in the order near in the plane. A branch of the network becomes a patch of the picture.
 */
import type { Adjacency, Point, Spacing } from "./adjacency.ts";

export function gridLayout(graph: Adjacency, spacing: Spacing): Point[] {
  let side = 1;
  while (side * side < graph.nodes.length) side *= 2;
  const points: Point[] = [];
  let along = 0;
  for (const node of depthFirst(graph)) {
    const { x, y } = hilbert(side, along++);
    points[node] = { x: x * spacing.x, y: y * spacing.y };
  }
  return points;
}

function* depthFirst({ neighbours }: Adjacency): Generator<number> {
  const seen = new Uint8Array(neighbours.length);
  for (const root of neighbours.keys()) {
    const stack = [root];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (seen[node]) continue;
      seen[node] = 1;
      yield node;
      for (const other of neighbours[node] ?? []) if (!seen[other]) stack.push(other);
    }
  }
}

/** The cell at `along` steps of the curve that fills a square of `side` cells, a power of two. */
function hilbert(side: number, along: number): Point {
  let [x, y, rest] = [0, 0, along];
  for (let s = 1; s < side; s *= 2) {
    const right = 1 & (rest >> 1);
    const up = 1 & (rest ^ right);
    if (up === 0) {
      if (right === 1) [x, y] = [s - 1 - x, s - 1 - y];
      [x, y] = [y, x];
    }
    x += s * right;
    y += s * up;
    rest >>= 2;
  }
  return { x, y };
}
