/**
 * Moves nodes until none overlap: each overlapping pair is pushed apart along the axis that needs less movement. The
 * number of rounds is bounded. Every few rounds the whole layout is scaled up, which makes room in crowded areas.
 */
import { cellKey, type Point, type Size } from "./adjacency.ts";

const ROUNDS_BETWEEN_SCALING = 12;
const MAX_ROUNDS = 600;
const SCALE = 1.12;
/** Pushes slightly further than needed; otherwise rounding could leave an overlap. */
const SLACK = 1.001;

export function removeOverlaps(points: readonly Point[], spacing: Size): Point[] {
  const x = Float64Array.from(points, (point) => point.x);
  const y = Float64Array.from(points, (point) => point.y);
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    if (!pushAllApart(x, y, spacing)) break;
    if (round % ROUNDS_BETWEEN_SCALING !== 0) continue;
    for (let i = 0; i < x.length; i++) {
      x[i] = (x[i] ?? 0) * SCALE;
      y[i] = (y[i] ?? 0) * SCALE;
    }
  }
  return Array.from(x, (value, i) => ({ x: value, y: y[i] ?? 0 }));
}

/** One round over all pairs in neighbouring cells of a grid. Returns whether any node moved. */
function pushAllApart(x: Float64Array, y: Float64Array, spacing: Size): boolean {
  const cells = new Map<number, number[]>();
  const column = (i: number) => Math.floor((x[i] ?? 0) / spacing.width);
  const row = (i: number) => Math.floor((y[i] ?? 0) / spacing.height);
  let moved = false;
  for (let i = 0; i < x.length; i++) {
    for (let c = column(i) - 1; c <= column(i) + 1; c++) {
      for (let r = row(i) - 1; r <= row(i) + 1; r++) {
        for (const j of cells.get(cellKey(c, r)) ?? []) if (pushPairApart(x, y, j, i, spacing)) moved = true;
      }
    }
    const key = cellKey(column(i), row(i));
    const cell = cells.get(key);
    if (cell) cell.push(i);
    else cells.set(key, [i]);
  }
  return moved;
}

function pushPairApart(x: Float64Array, y: Float64Array, i: number, j: number, spacing: Size): boolean {
  const dx = (x[j] ?? 0) - (x[i] ?? 0);
  const dy = (y[j] ?? 0) - (y[i] ?? 0);
  const overlapX = spacing.width - Math.abs(dx);
  const overlapY = spacing.height - Math.abs(dy);
  if (overlapX <= 0 || overlapY <= 0) return false;
  if (overlapX / spacing.width < overlapY / spacing.height) {
    const push = ((overlapX * SLACK) / 2) * (dx < 0 ? -1 : 1);
    x[i] = (x[i] ?? 0) - push;
    x[j] = (x[j] ?? 0) + push;
  } else {
    const push = ((overlapY * SLACK) / 2) * (dy < 0 ? -1 : 1);
    y[i] = (y[i] ?? 0) - push;
    y[j] = (y[j] ?? 0) + push;
  }
  return true;
}
