/** Rectangles in map units, y upwards. */
import type { MapPoint } from "./projection.ts";

/** The space around what is fitted into the view. */
const FIT_MARGIN = 60;

export interface Bounds {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

/** Empty bounds at the origin for no points. */
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

/** With some space around it. */
export const widened = ({ left, right, bottom, top }: Bounds): Bounds => ({
  left: left - FIT_MARGIN,
  right: right + FIT_MARGIN,
  bottom: bottom - FIT_MARGIN,
  top: top + FIT_MARGIN,
});
