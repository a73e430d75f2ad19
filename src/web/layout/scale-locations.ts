/**
 * Places as a drawing can use them. Who is left of whom and above whom stays; oceans do not: a gap much wider than
 * most is narrowed, and the whole is stretched, within reason, to the shape of a screen.
 */
import type { Point } from "../../formats/layout/adjacency.ts";

const ASPECT = 1.8;
/** How far one axis may be stretched against the other before a coast is no longer recognised. */
const MAX_STRETCH = 2;
const WIDEST_GAP = 0.6;

/** The places on a sheet of about this area, its corner at 0, 0. */
export function spread(places: readonly Point[], area: number): Point[] {
  const x = squeezed(places.map((place) => place.x));
  const y = squeezed(places.map((place) => place.y));
  const [across, down] = [Math.max(...x, 1e-9), Math.max(...y, 1e-9)];
  const width = Math.sqrt(area * ASPECT);
  let [scaleX, scaleY] = [width / across, width / ASPECT / down];
  scaleX = Math.min(scaleX, scaleY * MAX_STRETCH);
  scaleY = Math.min(scaleY, scaleX * MAX_STRETCH);
  return places.map((_, i) => ({ x: (x[i] ?? 0) * scaleX, y: (y[i] ?? 0) * scaleY }));
}

/** From 0 on, in the same order, without wide gaps. */
function squeezed(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((p, q) => (values[p] ?? 0) - (values[q] ?? 0));
  const least = values[order[0] ?? 0] ?? 0;
  const most = values[order.at(-1) ?? 0] ?? 0;
  const widest = ((most - least) / Math.sqrt(values.length)) * WIDEST_GAP;
  const result: number[] = [];
  let [before, at] = [least, 0];
  for (const i of order) {
    const value = values[i] ?? 0;
    at += Math.min(value - before, widest);
    before = value;
    result[i] = at;
  }
  return result;
}
