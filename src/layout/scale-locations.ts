/**
 * Converts the locations of clusters to positions on the map. The order from west to east and from north to south does
 * not change. Wide gaps are narrowed, because oceans waste space, and the result is stretched within limits to the
 * aspect ratio of a screen.
 */
import type { Point } from "./adjacency.ts";

const ASPECT_RATIO = 1.8;
/** The maximum ratio between the scales of the two axes. With more, the outline of a country is not recognisable. */
const MAX_STRETCH = 2;
/** The widest gap, relative to the range of the values divided by the square root of their number. */
const MAX_GAP = 0.6;

/** Scales the locations to about this area. The smallest x and y are 0. */
export function scaleLocations(locations: readonly Point[], area: number): Point[] {
  const x = narrowGaps(locations.map((location) => location.x));
  const y = narrowGaps(locations.map((location) => location.y));
  const [maxX, maxY] = [Math.max(...x, 1e-9), Math.max(...y, 1e-9)];
  const width = Math.sqrt(area * ASPECT_RATIO);
  let [scaleX, scaleY] = [width / maxX, width / ASPECT_RATIO / maxY];
  scaleX = Math.min(scaleX, scaleY * MAX_STRETCH);
  scaleY = Math.min(scaleY, scaleX * MAX_STRETCH);
  return locations.map((_, i) => ({ x: (x[i] ?? 0) * scaleX, y: (y[i] ?? 0) * scaleY }));
}

/** The same order, from 0, with no gap wider than the limit. */
function narrowGaps(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((p, q) => (values[p] ?? 0) - (values[q] ?? 0));
  const min = values[order[0] ?? 0] ?? 0;
  const max = values[order.at(-1) ?? 0] ?? 0;
  const maxGap = ((max - min) / Math.sqrt(values.length)) * MAX_GAP;
  const result: number[] = [];
  let [previous, position] = [min, 0];
  for (const i of order) {
    const value = values[i] ?? 0;
    position += Math.min(value - previous, maxGap);
    previous = value;
    result[i] = position;
  }
  return result;
}
