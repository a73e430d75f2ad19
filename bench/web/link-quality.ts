/**
 * How good a layout with routes is: the crossings of links, and the links that run through boxes of devices that they do
 * not end at. For tests, the benchmark, and the choice between layouts of small graphs.
 */
import type { Point, Size } from "../../src/layout/adjacency.ts";
import { crossesBox } from "../../src/layout/box-index.ts";

export interface RoutedLink {
  readonly a: number;
  readonly b: number;
  /** Flat x and y. */
  readonly points: ArrayLike<number>;
}

/** Compares all pairs of segments. Links that cross twice count twice. */
export function countCrossings(links: readonly RoutedLink[]): number {
  let count = 0;
  for (const [i, p] of links.entries()) {
    for (let j = i + 1; j < links.length; j++) {
      const q = links[j];
      if (q) count += crossingsOf(p.points, q.points);
    }
  }
  return count;
}

function crossingsOf(p: ArrayLike<number>, q: ArrayLike<number>): number {
  let count = 0;
  for (let i = 0; i + 3 < p.length; i += 2) {
    for (let j = 0; j + 3 < q.length; j += 2) if (segmentsCross(p, i, q, j)) count++;
  }
  return count;
}

/** Touching ends do not count. */
function segmentsCross(p: ArrayLike<number>, i: number, q: ArrayLike<number>, j: number): boolean {
  const [ax = 0, ay = 0, bx = 0, by = 0] = [p[i], p[i + 1], p[i + 2], p[i + 3]];
  const [cx = 0, cy = 0, dx = 0, dy = 0] = [q[j], q[j + 1], q[j + 2], q[j + 3]];
  const side = (x1: number, y1: number, x2: number, y2: number, x: number, y: number) =>
    (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1);
  const [c, d] = [side(ax, ay, bx, by, cx, cy), side(ax, ay, bx, by, dx, dy)];
  if (c * d >= 0) return false;
  return side(cx, cy, dx, dy, ax, ay) * side(cx, cy, dx, dy, bx, by) < 0;
}

/** The number of links that run through at least one box. */
export function countThroughBoxes(links: readonly RoutedLink[], boxes: readonly Point[], size: Size): number {
  const [halfWidth, halfHeight] = [size.width / 2, size.height / 2];
  const isThrough = ({ a, b, points }: RoutedLink) =>
    boxes.some(({ x, y }, id) => {
      if (id === a || id === b) return false;
      for (let i = 0; i + 3 < points.length; i += 2) {
        const [x1, y1] = [(points[i] ?? 0) - x, (points[i + 1] ?? 0) - y];
        const [x2, y2] = [(points[i + 2] ?? 0) - x, (points[i + 3] ?? 0) - y];
        if (crossesBox(x1, y1, x2, y2, halfWidth, halfHeight)) return true;
      }
      return false;
    });
  return links.filter(isThrough).length;
}
