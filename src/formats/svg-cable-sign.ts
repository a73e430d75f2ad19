/** The signs on the line of a cable: an arrow if only one direction works, a cross if the cable is lost. */

import type { Point } from "../layout/adjacency.ts";
import { CABLE_STYLES, type CableState, formatPoint } from "./drawing-style.ts";

const ARROW = { length: 10, width: 4.5 };
const CROSS = { arm: 4.5, gap: 8 };
const ORIGIN: Point = { x: 0, y: 0 };

/** Draws an arrow past the middle of the longest segment, where a box is least likely to cover it. Also for the legend. */
export function renderArrow(line: readonly Point[], state: CableState): string {
  const [start, end] = longestSegment(line);
  const along = (part: number): Point => ({
    x: start.x + (end.x - start.x) * part,
    y: start.y + (end.y - start.y) * part,
  });
  const [tip, behind] = [along(0.6), along(0.58)];
  const length = Math.hypot(tip.x - behind.x, tip.y - behind.y) || 1;
  const [dx, dy] = [(tip.x - behind.x) / length, (tip.y - behind.y) / length];
  const base = { x: tip.x - dx * ARROW.length, y: tip.y - dy * ARROW.length };
  const left = { x: base.x - dy * ARROW.width, y: base.y + dx * ARROW.width };
  const right = { x: base.x + dy * ARROW.width, y: base.y - dx * ARROW.width };
  const outline = `M${formatPoint(tip)}L${formatPoint(left)}L${formatPoint(right)}z`;
  return `<path d="${outline}" fill="${CABLE_STYLES[state].stroke}" stroke="none"/>`;
}

function longestSegment(corners: readonly Point[]): [Point, Point] {
  let longest: [Point, Point] = [ORIGIN, ORIGIN];
  for (const [i, end] of corners.entries()) {
    const start = corners[i - 1];
    if (start !== undefined && distance(start, end) > distance(...longest)) longest = [start, end];
  }
  return longest;
}

/** Draws a cross in the middle of the line, with a gap in the line so that the cross is visible. Also for the legend. */
export function renderCross(line: readonly Point[]): string {
  const { arm, gap } = CROSS;
  const { x, y, dx, dy } = middleOf(line);
  const [before, after] = [-gap, gap].map((part) => formatPoint({ x: x + dx * part, y: y + dy * part }));
  const start = formatPoint({ x: x - arm, y: y - arm });
  return `<path d="M${before}L${after}" stroke="#fff" stroke-width="3" stroke-dasharray="none"/>\
<path d="M${start}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}" fill="none" \
stroke="${CABLE_STYLES.lost.stroke}" stroke-width="2.2" stroke-dasharray="none"/>`;
}

/** The point half way along the line, and the direction of the line there. */
function middleOf(line: readonly Point[]): Point & { readonly dx: number; readonly dy: number } {
  let rest = 0;
  for (const [i, end] of line.entries()) rest += distance(line[i - 1] ?? end, end) / 2;
  for (const [i, end] of line.entries()) {
    const start = line[i - 1] ?? end;
    const length = distance(start, end);
    if (length > 0 && length >= rest) {
      const [dx, dy] = [(end.x - start.x) / length, (end.y - start.y) / length];
      return { x: start.x + dx * rest, y: start.y + dy * rest, dx, dy };
    }
    rest -= length;
  }
  return { ...(line[0] ?? ORIGIN), dx: 1, dy: 0 };
}

export const distance = (p: Point, q: Point): number => Math.hypot(q.x - p.x, q.y - p.y);
