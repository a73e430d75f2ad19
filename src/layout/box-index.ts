/**
 * Finds the boxes that a line segment runs through. All boxes have one size. They are sorted by x in rows of the plane,
 * because drawings of hierarchies are much wider than high: a segment visits each row that it touches once.
 */
import type { Size } from "./adjacency.ts";

interface Row {
  readonly ids: number[];
  readonly xs: number[];
}

/** Called with the id of each box that is hit; returns whether to stop. */
type HitHandler = (id: number) => boolean;

export class BoxIndex {
  readonly #halfWidth: number;
  readonly #halfHeight: number;
  readonly #rowHeight: number;
  readonly #rows = new Map<number, Row>();
  readonly #boxes = new Map<number, { readonly x: number; readonly y: number }>();

  /** A segment that comes nearer to a box than `margin` counts as running through it. */
  constructor(size: Size, margin: number) {
    this.#halfWidth = size.width / 2 + margin;
    this.#halfHeight = size.height / 2 + margin;
    this.#rowHeight = this.#halfHeight * 2;
  }

  get size(): number {
    return this.#boxes.size;
  }

  get(id: number): { readonly x: number; readonly y: number } | undefined {
    return this.#boxes.get(id);
  }

  /** Adds the box or moves it. */
  set(id: number, x: number, y: number): void {
    this.delete(id);
    this.#boxes.set(id, { x, y });
    const key = Math.floor(y / this.#rowHeight);
    let row = this.#rows.get(key);
    if (!row) {
      row = { ids: [], xs: [] };
      this.#rows.set(key, row);
    }
    const at = lowerBound(row.xs, x);
    row.xs.splice(at, 0, x);
    row.ids.splice(at, 0, id);
  }

  delete(id: number): void {
    const box = this.#boxes.get(id);
    if (!box) return;
    this.#boxes.delete(id);
    const key = Math.floor(box.y / this.#rowHeight);
    const row = this.#rows.get(key);
    if (!row) return;
    const at = row.ids.indexOf(id, lowerBound(row.xs, box.x));
    row.xs.splice(at, 1);
    row.ids.splice(at, 1);
    if (row.ids.length === 0) this.#rows.delete(key);
  }

  /** Whether another box is at the same height at most this far away. */
  hasBeside(id: number, distance: number): boolean {
    const box = this.#boxes.get(id);
    const row = box && this.#rows.get(Math.floor(box.y / this.#rowHeight));
    if (!row) return false;
    for (let i = lowerBound(row.xs, box.x - distance); i < row.xs.length; i++) {
      if ((row.xs[i] ?? 0) > box.x + distance) return false;
      const other = row.ids[i] ?? 0;
      if (other !== id && this.#boxes.get(other)?.y === box.y) return true;
    }
    return false;
  }

  forEachHit(x1: number, y1: number, x2: number, y2: number, onHit: HitHandler): void {
    const [top, bottom] = y1 < y2 ? [y1, y2] : [y2, y1];
    const firstRow = Math.floor((top - this.#halfHeight) / this.#rowHeight);
    const lastRow = Math.floor((bottom + this.#halfHeight) / this.#rowHeight);
    for (let key = firstRow; key <= lastRow; key++) {
      const row = this.#rows.get(key);
      if (!row) continue;
      // The part of the segment that can touch boxes whose centres are in this row.
      const low = key * this.#rowHeight - this.#halfHeight;
      const high = (key + 1) * this.#rowHeight + this.#halfHeight;
      const [from, to] = clipX(x1, y1, x2, y2, low, high);
      if (from > to) continue;
      const end = to + this.#halfWidth;
      for (let i = lowerBound(row.xs, from - this.#halfWidth); i < row.xs.length; i++) {
        const x = row.xs[i] ?? 0;
        if (x > end) break;
        const id = row.ids[i] ?? 0;
        const y = this.#boxes.get(id)?.y ?? 0;
        if (crossesBox(x1 - x, y1 - y, x2 - x, y2 - y, this.#halfWidth, this.#halfHeight) && onHit(id))
          return;
      }
    }
  }
}

/** Whether a segment has a point inside a rectangle around the origin; its border does not count. */
export function crossesBox(
  x1: number,
  y1: number,
  x2: number,
  y2: number,
  halfWidth: number,
  halfHeight: number,
): boolean {
  if (Math.max(x1, x2) <= -halfWidth || Math.min(x1, x2) >= halfWidth) return false;
  if (Math.max(y1, y2) <= -halfHeight || Math.min(y1, y2) >= halfHeight) return false;
  // Compares the distance of the line from the origin with the extent of the rectangle perpendicular to the line. Both are
  // multiplied by the length of the segment.
  const [dx, dy] = [x2 - x1, y2 - y1];
  return Math.abs(x1 * dy - y1 * dx) < halfWidth * Math.abs(dy) + halfHeight * Math.abs(dx);
}

/** The range of x of the part of a segment with y from `low` to `high`; empty when there is none. */
function clipX(
  x1: number,
  y1: number,
  x2: number,
  y2: number,
  low: number,
  high: number,
): readonly [from: number, to: number] {
  const dy = y2 - y1;
  let [start, end] = [0, 1];
  if (dy !== 0) {
    const [p, q] = [(low - y1) / dy, (high - y1) / dy];
    start = Math.max(0, Math.min(p, q));
    end = Math.min(1, Math.max(p, q));
  } else if (y1 < low || y1 > high) return [1, 0];
  if (start > end) return [1, 0];
  const [from, to] = [x1 + (x2 - x1) * start, x1 + (x2 - x1) * end];
  return from < to ? [from, to] : [to, from];
}

function lowerBound(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
