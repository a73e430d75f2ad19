/** The lines of bundles: along the route of the layout around other devices, or straight where there is none. */
import type { MapPoint } from "./projection.ts";

/** By `pairKey`, from the centre of the device with the lower id to that of the other: x and y of each corner, flat. */
export type Routes = ReadonlyMap<string, Float64Array>;

export const linePoints = (a: MapPoint, b: MapPoint, route: Float64Array | undefined): Float64Array =>
  route ?? Float64Array.of(a.x, a.y, b.x, b.y);

interface PointOnLine extends MapPoint {
  /** The direction of the line there, of length 1. */
  readonly dx: number;
  readonly dy: number;
}

export function lengthOf(points: Float64Array): number {
  let length = 0;
  for (let i = 0; i + 3 < points.length; i += 2) length += segmentLength(points, i);
  return length;
}

/** The point at a distance from the start of the line; the end if the line is shorter. */
export function pointAt(points: Float64Array, distance: number): PointOnLine {
  let rest = distance;
  const last = points.length - 4;
  for (let i = 0; i <= last; i += 2) {
    const length = segmentLength(points, i);
    if (rest > length && i < last) {
      rest -= length;
      continue;
    }
    const share = length === 0 ? 0 : Math.min(1, rest / length);
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = [points[i], points[i + 1], points[i + 2], points[i + 3]];
    const [dx, dy] = length === 0 ? [1, 0] : [(x2 - x1) / length, (y2 - y1) / length];
    return { x: x1 + (x2 - x1) * share, y: y1 + (y2 - y1) * share, dx, dy };
  }
  return { x: points[0] ?? 0, y: points[1] ?? 0, dx: 1, dy: 0 };
}

function segmentLength(points: Float64Array, i: number): number {
  return Math.hypot((points[i + 2] ?? 0) - (points[i] ?? 0), (points[i + 3] ?? 0) - (points[i + 1] ?? 0));
}
