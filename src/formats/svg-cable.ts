/**
 * The lines of the cables. Colour, dashes and thickness show the state; an arrow shows that only one direction works.
 * Lines are routed around the boxes they would otherwise run behind. Several cables between the same two devices run
 * side by side.
 */
import type { Cable } from "../model/cable.ts";
import { CABLE_STYLES, type CableState, cableState, formatNumber, formatPoint } from "./drawing-style.ts";
import { fitLabel } from "./label.ts";
import type { Point, Size } from "./layout/adjacency.ts";
import { curvePoint, type EdgePath, routeEdges } from "./layout/route.ts";
import { xmlText } from "./xml.ts";

const MAX_TOOLTIP_EMS = 60;
const ARROW = { length: 10, width: 4.5 };
const LOOP_RADIUS = 8;
const CORNER_RADIUS = 6;
const ORIGIN: Point = { x: 0, y: 0 };
/** A drawing with more lines is not readable with routed lines either. */
const MAX_CABLES_TO_ROUTE = 4000;
const PARALLEL_GAP = 7;
/** The maximum width of parallel lines together: less than the height of a box. */
const MAX_BUNDLE_WIDTH = 28;
/** In order of drawing: the more urgent states are drawn above the others. */
const STATES: readonly CableState[] = ["active", "unverified", "inactive", "conflict"];

export interface RoutedCable {
  readonly cable: Cable;
  readonly path: EdgePath;
}

export interface Placement {
  readonly positions: ReadonlyMap<string, Point>;
  /** The devices that are in layers. */
  readonly layered: ReadonlySet<string>;
  readonly boxSize: Size;
  readonly gutter: Size;
}

/** Leaves out cables whose ends have no position. */
export function routeCables(
  cables: readonly Cable[],
  { positions, layered, boxSize, gutter }: Placement,
): RoutedCable[] {
  const edges = cables.flatMap((cable) => {
    const from = positions.get(cable.from.device);
    const to = positions.get(cable.to.device);
    if (from === undefined || to === undefined) return [];
    return [{ cable, from, to, layered: layered.has(cable.from.device) && layered.has(cable.to.device) }];
  });
  const paths: readonly EdgePath[] =
    edges.length <= MAX_CABLES_TO_ROUTE ? routeEdges(edges, positions.values(), boxSize, gutter) : edges;
  const offsets = parallelOffsets(edges.map(({ cable }) => cable));
  return edges.flatMap(({ cable }, i) => {
    const path = paths[i];
    return path === undefined ? [] : [{ cable, path: shiftPath(path, offsets[i] ?? 0) }];
  });
}

/** How far each cable is from the straight line between its devices, so that parallel cables are side by side. */
function parallelOffsets(cables: readonly Cable[]): number[] {
  const bundles = new Map<string, number[]>();
  for (const [i, { from, to }] of cables.entries()) {
    const key = JSON.stringify([from.device, to.device].sort());
    const bundle = bundles.get(key);
    if (bundle) bundle.push(i);
    else bundles.set(key, [i]);
  }
  const offsets: number[] = [];
  for (const bundle of bundles.values()) {
    const gap = Math.min(PARALLEL_GAP, MAX_BUNDLE_WIDTH / Math.max(1, bundle.length - 1));
    for (const [n, i] of bundle.entries()) {
      const cable = cables[i];
      // The offset is relative to the cable's direction, which may differ within a bundle.
      const sign = cable !== undefined && cable.from.device < cable.to.device ? 1 : -1;
      offsets[i] = (n - (bundle.length - 1) / 2) * gap * sign;
    }
  }
  return offsets;
}

/** A path with corners is not shifted: it already has its own place in a channel. */
function shiftPath(path: EdgePath, offset: number): EdgePath {
  if (offset === 0 || path.via !== undefined) return path;
  const { from, to, control } = path;
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [dx, dy] = [(-(to.y - from.y) / length) * offset, ((to.x - from.x) / length) * offset];
  const shift = ({ x, y }: Point): Point => ({ x: x + dx, y: y + dy });
  return { from: shift(from), to: shift(to), ...(control && { control: shift(control) }) };
}

export function* renderCables(routed: readonly RoutedCable[], boxSize: Size): Generator<string> {
  const elementsByState = new Map<CableState, string[]>(STATES.map((state) => [state, []]));
  for (const { cable, path } of routed) {
    elementsByState.get(cableState(cable))?.push(renderCable(cable, path, boxSize));
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

/** Past the middle of the line, where a box is least likely to cover it. The legend uses it too. */
export function renderArrow({ from, to, control, via }: EdgePath, state: CableState): string {
  const [start, end] = via === undefined ? [from, to] : longestSegment([from, ...via, to]);
  const bend = control ?? { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
  const tip = curvePoint(start, bend, end, 0.6);
  const behind = curvePoint(start, bend, end, 0.58);
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

const distance = (p: Point, q: Point): number => Math.hypot(q.x - p.x, q.y - p.y);

function renderCable(cable: Cable, path: EdgePath, boxSize: Size): string {
  const title = `<title>${xmlText(formatTooltip(cable))}</title>`;
  if (cable.from.device === cable.to.device) {
    // A cable from a device to itself is a circle behind the corner of its box.
    const x = formatNumber(path.from.x - boxSize.width / 2);
    const y = formatNumber(path.from.y - boxSize.height / 2);
    return `<circle cx="${x}" cy="${y}" r="${LOOP_RADIUS}">${title}</circle>\n`;
  }
  const line = `<path d="M${formatPoint(path.from)}${pathData(path)}">${title}</path>`;
  return `${line}${cable.oneWay ? renderArrow(path, cableState(cable)) : ""}\n`;
}

/** The `d` attribute after its first point; corners are rounded. */
function pathData({ from, to, control, via = [] }: EdgePath): string {
  if (control !== undefined) return `Q${formatPoint(control)} ${formatPoint(to)}`;
  let data = "";
  for (const [i, corner] of via.entries()) {
    const start = pointTowards(corner, via[i - 1] ?? from);
    const end = pointTowards(corner, via[i + 1] ?? to);
    data += `L${formatPoint(start)}Q${formatPoint(corner)} ${formatPoint(end)}`;
  }
  return `${data}L${formatPoint(to)}`;
}

/** The start or the end of a rounded corner. */
function pointTowards(corner: Point, other: Point): Point {
  const length = distance(corner, other) || 1;
  const part = Math.min(CORNER_RADIUS, length / 2) / length;
  return { x: corner.x + (other.x - corner.x) * part, y: corner.y + (other.y - corner.y) * part };
}

function formatTooltip(cable: Cable): string {
  const formatEnd = (device: string, port: string) => `${fitLabel(device, MAX_TOOLTIP_EMS)} port ${port}`;
  const from = formatEnd(cable.from.device, cable.from.port);
  const to = formatEnd(cable.to.device, cable.to.port);
  const state = CABLE_STYLES[cableState(cable)].label;
  return `${from} ${cable.oneWay ? "→" : "–"} ${to}\n${state}${cable.oneWay ? ", one way" : ""}`;
}
