/**
 * Pushes nodes off each other until none overlap: each overlapping pair gives way along the axis that needs less.
 * Rounds are bounded; every few rounds the whole picture grows a little, so that a crowd has somewhere to go.
 */
import { cellKey, type Point, type Spacing } from "./adjacency.ts";

const ROUNDS_BEFORE_GROWING = 12;
const MAX_ROUNDS = 600;
const GROWTH = 1.12;
/** Pushed a hair further than needed, or rounding would bring the pair back. */
const SLACK = 1.001;

export function separated(points: readonly Point[], spacing: Spacing): Point[] {
  const x = Float64Array.from(points, (point) => point.x);
  const y = Float64Array.from(points, (point) => point.y);
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    if (!pushApart(x, y, spacing)) break;
    if (round % ROUNDS_BEFORE_GROWING !== 0) continue;
    for (let i = 0; i < x.length; i++) {
      x[i] = (x[i] ?? 0) * GROWTH;
      y[i] = (y[i] ?? 0) * GROWTH;
    }
  }
  return Array.from(x, (at, i) => ({ x: at, y: y[i] ?? 0 }));
}

function pushApart(x: Float64Array, y: Float64Array, spacing: Spacing): boolean {
  const cells = new Map<number, number[]>();
  const column = (i: number) => Math.floor((x[i] ?? 0) / spacing.x);
  const row = (i: number) => Math.floor((y[i] ?? 0) / spacing.y);
  let moved = false;
  for (let i = 0; i < x.length; i++) {
    for (let c = column(i) - 1; c <= column(i) + 1; c++) {
      for (let r = row(i) - 1; r <= row(i) + 1; r++) {
        for (const j of cells.get(cellKey(c, r)) ?? []) if (pushPair(x, y, j, i, spacing)) moved = true;
      }
    }
    const key = cellKey(column(i), row(i));
    const cell = cells.get(key);
    if (cell) cell.push(i);
    else cells.set(key, [i]);
  }
  return moved;
}

function pushPair(x: Float64Array, y: Float64Array, i: number, j: number, spacing: Spacing): boolean {
  const dx = (x[j] ?? 0) - (x[i] ?? 0);
  const dy = (y[j] ?? 0) - (y[i] ?? 0);
  const missingX = spacing.x - Math.abs(dx);
  const missingY = spacing.y - Math.abs(dy);
  if (missingX <= 0 || missingY <= 0) return false;
  if (missingX / spacing.x < missingY / spacing.y) {
    const push = ((missingX * SLACK) / 2) * (dx < 0 ? -1 : 1);
    x[i] = (x[i] ?? 0) - push;
    x[j] = (x[j] ?? 0) + push;
  } else {
    const push = ((missingY * SLACK) / 2) * (dy < 0 ? -1 : 1);
    y[i] = (y[i] ?? 0) - push;
    y[j] = (y[j] ?? 0) + push;
  }
  return true;
}
