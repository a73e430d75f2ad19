/**
 * The layout of graphs that are too large for the others: the nodes in depth-first order along a Hilbert curve. Nodes
 * that are near in that order are near in the plane, so a branch of the network becomes one area of the drawing.
 */
import type { Adjacency, Point, Size } from "./adjacency.ts";

export function gridLayout(graph: Adjacency, spacing: Size): Point[] {
  let side = 1;
  while (side * side < graph.nodes.length) side *= 2;
  const points: Point[] = [];
  let index = 0;
  for (const node of depthFirst(graph)) {
    const { x, y } = hilbertCell(side, index++);
    points[node] = { x: x * spacing.width, y: y * spacing.height };
  }
  return points;
}

export function* depthFirst({ neighbours }: Adjacency): Generator<number> {
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

/** The cell number `index` of the curve that fills a square of `side` cells, a power of two. */
function hilbertCell(side: number, index: number): Point {
  let [x, y, rest] = [0, 0, index];
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
