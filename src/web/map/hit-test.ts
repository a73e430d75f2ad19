/** Finds the node or line at a point of the map, and the device next to another one in a direction. */

import type { Bounds, MapPoint, Projection } from "./geometry.ts";
import type { Label } from "./labels.ts";

/** The distances within which the pointer counts as on a node or line. */
const NODE_TOLERANCE_PX = 4;
const LINE_TOLERANCE_PX = 5;

/** The nearest node whose shape contains the point. The function searches the labels, because every drawn node has one. */
export function nodeAt(
  labels: readonly Label[],
  projection: Projection,
  { x, y }: MapPoint,
): string | undefined {
  let [nearest, nearestDistance]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const label of labels) {
    const [dx, dy] = [Math.abs(projection.x(label.x) - x), Math.abs(projection.y(label.y) - y)];
    if (dx > 80 || dy > 80) continue;
    const reachPx = label.size * projection.radiusPx + NODE_TOLERANCE_PX;
    const distance = Math.hypot(dx, dy);
    if (dx > reachPx || dy > reachPx) continue;
    if (distance < nearestDistance) [nearest, nearestDistance] = [label.nodeId, distance];
  }
  return nearest;
}

/** The area that contains the point. */
export function areaAt<T extends Bounds>(
  areas: Iterable<T>,
  projection: Projection,
  pixel: MapPoint,
): T | undefined {
  const { x, y } = projection.toMap(pixel);
  for (const area of areas)
    if (x >= area.left && x <= area.right && y >= area.bottom && y <= area.top) return area;
  return undefined;
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

/** A device counts as in the direction of a key within this angle. The four directions together cover all angles. */
const MAX_ANGLE = Math.PI / 4 + 0.001;

interface PlacedDevice {
  readonly device: { readonly id: string };
  readonly position: MapPoint;
}

/**
 * The device next to another one in a direction, for the keys of the map. Neighbours over a cable come before other
 * devices. Of those, a device that is nearer and less far off the direction is preferred.
 */
export function nextDevice(
  from: PlacedDevice,
  devices: Iterable<PlacedDevice>,
  isNeighbour: (id: string) => boolean,
  direction: MapPoint,
): string | undefined {
  let best: { readonly id: string; readonly cost: number; readonly near: boolean } | undefined;
  for (const { device, position } of devices) {
    const [dx, dy] = [position.x - from.position.x, position.y - from.position.y];
    const distance = Math.hypot(dx, dy);
    if (device.id === from.device.id || distance === 0) continue;
    const near = isNeighbour(device.id);
    if (best?.near && !near) continue;
    const angle = Math.acos(Math.min(1, (dx * direction.x + dy * direction.y) / distance));
    // Neighbours may be further off the direction, because a cable to the next row is often nearly horizontal.
    if (angle > (near ? MAX_ANGLE * 1.6 : MAX_ANGLE)) continue;
    const cost = distance * (1 + angle);
    if (!best || (near && !best.near) || cost < best.cost) best = { id: device.id, cost, near };
  }
  return best?.id;
}
