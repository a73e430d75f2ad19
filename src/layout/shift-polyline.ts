/** A polyline beside another one, at the same distance along all of it: for parallel links. */
const MAX_MITRE = 2;

/** Flat x and y. A positive distance is to the left of the direction in a drawing with y downwards. */
export function shiftPolyline(points: Float64Array, distance: number): Float64Array {
  const shifted = new Float64Array(points.length);
  for (let i = 0; i + 1 < points.length; i += 2) {
    const before = i === 0 ? undefined : normalOf(points, i - 2);
    const after = i + 3 < points.length ? normalOf(points, i) : undefined;
    const [p, q] = [before ?? after, after ?? before];
    if (!p || !q) continue;
    // At a corner, the shifted lines meet on its bisector.
    const factor = Math.min(MAX_MITRE, 2 / Math.max(0.1, 2 + 2 * (p.x * q.x + p.y * q.y))) * distance;
    shifted[i] = (points[i] ?? 0) + (p.x + q.x) * factor;
    shifted[i + 1] = (points[i + 1] ?? 0) + (p.y + q.y) * factor;
  }
  return shifted;
}

/** Of the segment that begins at index `i`, with length 1. */
function normalOf(points: Float64Array, i: number): { readonly x: number; readonly y: number } {
  const dx = (points[i + 2] ?? 0) - (points[i] ?? 0);
  const dy = (points[i + 3] ?? 0) - (points[i + 1] ?? 0);
  const length = Math.hypot(dx, dy) || 1;
  return { x: dy / length, y: -dx / length };
}
