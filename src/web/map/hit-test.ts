/** Finds the node or line under the pointer from its position. The map has no picking buffer, which would draw it twice. */

import { type Label, nodeExtentPx } from "./label-draw.ts";
import type { MapPoint, Projection } from "./projection.ts";

/** A pointer within this distance of an element counts as on it. */
const NODE_TOLERANCE_PX = 4;
const LINE_TOLERANCE_PX = 5;

/** The nearest node whose shape contains the point. It searches the labels, because every drawn node has one. */
export function nodeAt(
  labels: readonly Label[],
  projection: Projection,
  { x, y }: MapPoint,
): string | undefined {
  let [nearest, nearestDistance]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const label of labels) {
    const [dx, dy] = [Math.abs(projection.x(label.x) - x), Math.abs(projection.y(label.y) - y)];
    if (dx > 80 || dy > 80) continue;
    const [halfWidth, halfHeight] = nodeExtentPx(label, projection);
    const distance = Math.hypot(dx, dy);
    if (dx > halfWidth + NODE_TOLERANCE_PX || dy > halfHeight + NODE_TOLERANCE_PX) continue;
    if (distance < nearestDistance) [nearest, nearestDistance] = [label.nodeId, distance];
  }
  return nearest;
}

/** The nearest line within the tolerance. */
export function lineAt<T extends { readonly points: Float64Array }>(
  lines: Iterable<T>,
  projection: Projection,
  pixel: MapPoint,
): T | undefined {
  const point = projection.toMap(pixel);
  let [nearest, nearestDistance]: [T | undefined, number] = [undefined, LINE_TOLERANCE_PX / projection.scale];
  for (const item of lines) {
    const { points } = item;
    for (let i = 0; i + 3 < points.length; i += 2) {
      const distance = distanceToSegment(point, points, i, nearestDistance);
      if (distance < nearestDistance) [nearest, nearestDistance] = [item, distance];
    }
  }
  return nearest;
}

/** Infinity when the point is farther than `max` from the box around the segment. */
function distanceToSegment({ x, y }: MapPoint, points: Float64Array, i: number, max: number): number {
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = [points[i], points[i + 1], points[i + 2], points[i + 3]];
  if (x < Math.min(x1, x2) - max || x > Math.max(x1, x2) + max) return Number.POSITIVE_INFINITY;
  if (y < Math.min(y1, y2) - max || y > Math.max(y1, y2) + max) return Number.POSITIVE_INFINITY;
  const [segmentX, segmentY] = [x2 - x1, y2 - y1];
  const squared = segmentX * segmentX + segmentY * segmentY || 1;
  const along = Math.min(1, Math.max(0, ((x - x1) * segmentX + (y - y1) * segmentY) / squared));
  return Math.hypot(x - x1 - along * segmentX, y - y1 - along * segmentY);
}
