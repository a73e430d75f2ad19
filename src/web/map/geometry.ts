/** Points, rectangles and lines of the map: the projection of map units (y upwards) to pixels (y downwards), bounds, routes. */
import { SPACING } from "../../layout/map-layout.ts";

export interface MapPoint {
  readonly x: number;
  readonly y: number;
}

/** The centre of the visible section, and the length of the shorter side of the viewport in map units. */
export interface CameraPosition extends MapPoint {
  readonly span: number;
}

export type Projection = ReturnType<typeof createProjection>;

const MIN_RADIUS_PX = 2.4;
const MAX_RADIUS_PX = 12;

/** `width` and `height` are the size of the viewport in pixels of CSS, and `pixelRatio` the number of pixels of a canvas for each. */
export function createProjection(
  { x, y, span }: CameraPosition,
  width: number,
  height: number,
  pixelRatio = globalThis.devicePixelRatio || 1,
) {
  const scale = Math.max(1, Math.min(width, height)) / span;
  const spacingPx = SPACING.width * scale;
  return {
    width,
    height,
    pixelRatio,
    centre: { x, y },
    /** Pixels per map unit. */
    scale,
    /** The distance between neighbouring devices. */
    spacingPx,
    /** The radius of a device. */
    radiusPx: Math.min(MAX_RADIUS_PX, Math.max(MIN_RADIUS_PX, spacingPx * 0.13)),
    x: (mapX: number): number => width / 2 + (mapX - x) * scale,
    y: (mapY: number): number => height / 2 - (mapY - y) * scale,
    toMap: (pixel: MapPoint): MapPoint => ({
      x: x + (pixel.x - width / 2) / scale,
      y: y - (pixel.y - height / 2) / scale,
    }),
  };
}

/** The space around bounds that are fitted into the view, in map units. */
const FIT_MARGIN = 60;

/** A rectangle in map units; y points upwards. */
export interface Bounds {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

/** The bounds of the points; empty bounds at the origin if there are none. */
export function boundsOf(points: Iterable<{ readonly x: number; readonly y: number }>): Bounds {
  let [left, right, bottom, top] = [
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ];
  for (const { x, y } of points) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [bottom, top] = [Math.min(bottom, y), Math.max(top, y)];
  }
  return left > right ? { left: 0, right: 0, bottom: 0, top: 0 } : { left, right, bottom, top };
}

export const cornersOf = ({ left, right, bottom, top }: Bounds): MapPoint[] => [
  { x: left, y: bottom },
  { x: right, y: top },
];

export const containsBounds = (outer: Bounds, inner: Bounds): boolean =>
  outer.left <= inner.left &&
  outer.right >= inner.right &&
  outer.bottom <= inner.bottom &&
  outer.top >= inner.top;

export const containsPoint = ({ left, right, bottom, top }: Bounds, { x, y }: MapPoint): boolean =>
  left <= x && x <= right && bottom <= y && y <= top;

export const overlapBounds = (p: Bounds, q: Bounds): boolean =>
  p.left <= q.right && q.left <= p.right && p.bottom <= q.top && q.bottom <= p.top;

/** The bounds with some space around them. */
export const widened = ({ left, right, bottom, top }: Bounds): Bounds => ({
  left: left - FIT_MARGIN,
  right: right + FIT_MARGIN,
  bottom: bottom - FIT_MARGIN,
  top: top + FIT_MARGIN,
});

/**
 * Routes by `pairName`: the x and y of each corner, flat, from the centre of the device with the lower id to the centre of
 * the other.
 */
export type Routes = ReadonlyMap<string, Float64Array>;

/** The line of a bundle: the route of the layout around other devices, or a straight line if there is none. */
export const linePoints = (a: MapPoint, b: MapPoint, route: Float64Array | undefined): Float64Array =>
  route ?? Float64Array.of(a.x, a.y, b.x, b.y);

interface PointOnLine extends MapPoint {
  /** The direction of the line at the point, as a unit vector. */
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
