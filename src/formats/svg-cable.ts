/**
 * The lines of the cables. Colour, dashes and thickness show the state; an arrow shows that only one direction works, and
 * a cross shows that the cable is lost.
 * Lines follow the routes of the layout, around the boxes that they would otherwise run behind. Several cables between the
 * same two devices run side by side along one route, because each has its own state.
 */
import type { Point, Size } from "../layout/adjacency.ts";
import { LinkRouter, pairKey } from "../layout/link-router.ts";
import { appendTo } from "../lib/multimap.ts";
import {
  CABLE_STYLES,
  type CableState,
  cableState,
  type DrawnCable,
  formatNumber,
  formatPoint,
} from "./drawing-style.ts";
import { fitLabel } from "./label.ts";
import { xmlText } from "./xml.ts";

const MAX_TOOLTIP_EMS = 60;
const LOOP_RADIUS = 8;
const CORNER_RADIUS = 6;
const ORIGIN: Point = { x: 0, y: 0 };
/** The gaps between parallel lines, tried in this order until no line runs behind another box. */
const PARALLEL_GAPS = [6, 4, 2.5, 1.5];
/** The maximum total width of parallel lines. It is less than the height of a box. */
const MAX_BUNDLE_WIDTH = 28;
/** The states in drawing order: more urgent states are drawn later, above the others. */
const STATES: readonly CableState[] = ["active", "unverified", "inactive", "conflict", "lost"];

const stateOf = (cable: DrawnCable): CableState => ("isLost" in cable ? "lost" : cableState(cable));

export interface RoutedCable {
  readonly cable: DrawnCable;
  /** The points of the line from one end to the other. A cable from a device to itself has one point. */
  readonly line: readonly Point[];
}

export interface Placement {
  /** The ids of the devices. */
  readonly ids: readonly string[];
  /** The centres of the devices' boxes, in the order of `ids`. */
  readonly positions: readonly Point[];
  readonly boxSize: Size;
  readonly gutter: Size;
}

/** Leaves out cables whose ends have no position. */
export function routeCables(cables: readonly DrawnCable[], placement: Placement): RoutedCable[] {
  const { ids, positions, boxSize, gutter } = placement;
  const numbers = new Map(ids.map((id, i) => [id, i]));
  const router = new LinkRouter({ box: boxSize, gutter });
  for (const [i, position] of positions.entries()) router.place(i, position);
  const bundles = new Map<number, DrawnCable[]>();
  const routed: RoutedCable[] = [];
  for (const cable of cables) {
    const [a, b] = [numbers.get(cable.from.device), numbers.get(cable.to.device)];
    if (a === undefined || b === undefined) continue;
    router.connect(a, b);
    if (a === b) routed.push({ cable, line: [positions[a] ?? ORIGIN] });
    else appendTo(bundles, pairKey(a, b), cable);
  }
  router.update();
  for (const bundle of bundles.values()) {
    const [a, b] = [
      numbers.get(bundle[0]?.from.device ?? "") ?? 0,
      numbers.get(bundle[0]?.to.device ?? "") ?? 0,
    ];
    const route = router.route(a, b) ?? new Float64Array();
    const lines = parallelLines(route, bundle.length, (line) => router.isFree(line, a, b));
    const lower = ids[Math.min(a, b)];
    for (const [i, cable] of bundle.entries()) {
      const points = toPoints(lines[i] ?? route);
      routed.push({ cable, line: cable.from.device === lower ? points : points.toReversed() });
    }
  }
  return routed;
}

/** Returns `count` lines side by side, with the widest gap at which none runs behind another box. */
function parallelLines(
  route: Float64Array,
  count: number,
  isFree: (line: Float64Array) => boolean,
): Float64Array[] {
  let lines = [route];
  if (count === 1) return lines;
  for (const gap of PARALLEL_GAPS) {
    const step = Math.min(gap, MAX_BUNDLE_WIDTH / (count - 1));
    lines = Array.from({ length: count }, (_, i) => shiftPolyline(route, (i - (count - 1) / 2) * step));
    if (lines.every(isFree)) return lines;
  }
  return lines;
}

const toPoints = (flat: Float64Array): Point[] =>
  Array.from({ length: flat.length / 2 }, (_, i) => ({ x: flat[i * 2] ?? 0, y: flat[i * 2 + 1] ?? 0 }));

export function* renderCables(routed: readonly RoutedCable[], boxSize: Size): Generator<string> {
  const elementsByState = new Map<CableState, string[]>(STATES.map((state) => [state, []]));
  for (const { cable, line } of routed) {
    elementsByState.get(stateOf(cable))?.push(renderCable(cable, line, boxSize));
  }
  for (const [state, elements] of elementsByState) {
    if (elements.length === 0) continue;
    yield `<g ${cableAttributes(state)}>\n`;
    yield* elements;
    yield "</g>\n";
  }
}

/** The attributes that all lines of one state share; the legend uses them too. */
export function cableAttributes(state: CableState): string {
  const { stroke, width, dash } = CABLE_STYLES[state];
  const dashes = dash === "" ? "" : ` stroke-dasharray="${dash}"`;
  const lineCap = state === "unverified" ? ' stroke-linecap="round"' : "";
  return `fill="none" stroke="${stroke}" stroke-width="${width}"${dashes}${lineCap}`;
}

function renderCable(cable: DrawnCable, line: readonly Point[], boxSize: Size): string {
  const [from = ORIGIN] = line;
  const title = `<title>${xmlText(formatTooltip(cable))}</title>`;
  if (cable.from.device === cable.to.device) {
    // A cable from a device to itself is a circle behind the corner of its box.
    const x = formatNumber(from.x - boxSize.width / 2);
    const y = formatNumber(from.y - boxSize.height / 2);
    return `<circle cx="${x}" cy="${y}" r="${LOOP_RADIUS}">${title}</circle>\n`;
  }
  const path = `<path d="M${formatPoint(from)}${pathData(line)}">${title}</path>`;
  return `${path}${renderSign(cable, line)}\n`;
}

function renderSign(cable: DrawnCable, line: readonly Point[]): string {
  const state = stateOf(cable);
  if (state === "lost") return renderCross(line);
  return isOneWay(cable) ? renderArrow(line, state) : "";
}

/** The `d` attribute after its first point; corners are rounded. */
function pathData(line: readonly Point[]): string {
  let data = "";
  for (const [i, corner] of line.entries()) {
    const [before, after] = [line[i - 1], line[i + 1]];
    if (before === undefined) continue;
    if (after === undefined) return `${data}L${formatPoint(corner)}`;
    data += `L${formatPoint(pointTowards(corner, before))}Q${formatPoint(corner)} ${formatPoint(pointTowards(corner, after))}`;
  }
  return data;
}

/** The start or the end of a rounded corner. */
function pointTowards(corner: Point, other: Point): Point {
  const length = distance(corner, other) || 1;
  const part = Math.min(CORNER_RADIUS, length / 2) / length;
  return { x: corner.x + (other.x - corner.x) * part, y: corner.y + (other.y - corner.y) * part };
}

function formatTooltip(cable: DrawnCable): string {
  const formatEnd = (device: string, port: string) => `${fitLabel(device, MAX_TOOLTIP_EMS)} port ${port}`;
  const from = formatEnd(cable.from.device, cable.from.port);
  const to = formatEnd(cable.to.device, cable.to.port);
  const state = CABLE_STYLES[stateOf(cable)].label;
  return `${from} ${isOneWay(cable) ? "→" : "–"} ${to}\n${state}${isOneWay(cable) ? ", one way" : ""}`;
}

const isOneWay = (cable: DrawnCable): boolean => "oneWay" in cable && cable.oneWay;

/** The maximum factor by which a shifted corner may be farther from its original than the line is. */
const MAX_MITRE = 2;

/**
 * Returns a polyline beside another one, at the same distance along all of it, for parallel links. Points are flat x and y
 * values. A positive distance is to the left of the direction in a drawing whose y axis points down.
 */
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

/** The unit normal of the segment that begins at index `i`. */
function normalOf(points: Float64Array, i: number): { readonly x: number; readonly y: number } {
  const dx = (points[i + 2] ?? 0) - (points[i] ?? 0);
  const dy = (points[i + 3] ?? 0) - (points[i + 1] ?? 0);
  const length = Math.hypot(dx, dy) || 1;
  return { x: dy / length, y: -dx / length };
}

/* The signs on the line of a cable: an arrow if only one direction works, a cross if the cable is lost. */

const ARROW = { length: 10, width: 4.5 };
const CROSS = { arm: 4.5, gap: 8 };

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

const distance = (p: Point, q: Point): number => Math.hypot(q.x - p.x, q.y - p.y);
