/**
 * The cables in the picture: a line each, whose colour, dashes and thickness say its state, and an arrow where only
 * one direction works. Lines are led around cards they would otherwise run behind; several between the same two
 * devices run side by side.
 */
import type { Cable } from "../model/cable.ts";
import { pictureLabel } from "./label.ts";
import type { Point, Spacing } from "./layout/adjacency.ts";
import { curvePoint, type Path, routeLines } from "./layout/route.ts";
import { LINE_LOOKS, type LineState, lineState, place, round } from "./drawing-style.ts";
import { xmlText } from "./xml.ts";

const TOOLTIP_EMS = 60;
const ARROW = { length: 10, width: 4.5 };
const LOOP_RADIUS = 8;
const CORNER_RADIUS = 6;
const ORIGIN: Point = { x: 0, y: 0 };
/** With more, nobody could follow a line anyway. */
const MAX_EDGES_TO_ROUTE = 4000;
const PARALLEL_GAP = 7;
const PARALLEL_BAND = 28;
/** From the least to the most urgent: the later is drawn above the earlier. */
const STATES: readonly LineState[] = ["active", "unverified", "inactive", "conflict"];

export interface Scene {
  readonly places: ReadonlyMap<string, Point>;
  readonly layered: ReadonlySet<string>;
  readonly card: Spacing;
  readonly gutter: Spacing;
}

export function* drawLines(lines: readonly RoutedEdge[], card: Spacing): Generator<string> {
  const drawn = new Map<LineState, string[]>(STATES.map((state) => [state, []]));
  for (const { edge, path } of lines) drawn.get(lineState(edge))?.push(drawEdge(edge, path, card));
  for (const [state, elements] of drawn) {
    if (elements.length === 0) continue;
    yield `<g ${lineAttributes(state)}>\n`;
    yield* elements;
    yield "</g>\n";
  }
}

export interface RoutedEdge {
  readonly edge: Cable;
  readonly path: Path;
}

export function routeEdges(edges: readonly Cable[], { places, layered, card, gutter }: Scene): RoutedEdge[] {
  const lines = edges.flatMap((edge) => {
    const from = places.get(edge.from.device);
    const to = places.get(edge.to.device);
    if (from === undefined || to === undefined) return [];
    return [{ edge, from, to, layered: layered.has(edge.from.device) && layered.has(edge.to.device) }];
  });
  const paths: readonly Path[] =
    lines.length <= MAX_EDGES_TO_ROUTE ? routeLines(lines, places.values(), card, gutter) : lines;
  const asides = bundled(lines.map((line) => line.edge));
  return lines.flatMap(({ edge }, i) => {
    const path = paths[i];
    return path === undefined ? [] : [{ edge, path: shifted(path, asides[i] ?? 0) }];
  });
}

/** What all lines of one state have in common; also for the legend. */
export function lineAttributes(state: LineState): string {
  const { stroke, width, dash } = LINE_LOOKS[state];
  const dashes = dash === "" ? "" : ` stroke-dasharray="${dash}"`;
  const round = state === "unverified" ? ' stroke-linecap="round"' : "";
  return `fill="none" stroke="${stroke}" stroke-width="${width}"${dashes}${round}`;
}

/** On the line, past its middle, where it is least likely to be covered; also for the legend. */
export function drawArrow({ from, to, control, via }: Path, state: LineState): string {
  const [start, end] = via === undefined ? [from, to] : longest([from, ...via, to]);
  const bend = control ?? { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
  const tip = curvePoint(start, bend, end, 0.6);
  const behind = curvePoint(start, bend, end, 0.58);
  const length = Math.hypot(tip.x - behind.x, tip.y - behind.y) || 1;
  const [dx, dy] = [(tip.x - behind.x) / length, (tip.y - behind.y) / length];
  const base = { x: tip.x - dx * ARROW.length, y: tip.y - dy * ARROW.length };
  const left = { x: base.x - dy * ARROW.width, y: base.y + dx * ARROW.width };
  const right = { x: base.x + dy * ARROW.width, y: base.y - dx * ARROW.width };
  const outline = `M${place(tip)}L${place(left)}L${place(right)}z`;
  return `<path d="${outline}" fill="${LINE_LOOKS[state].stroke}" stroke="none"/>`;
}

/** The longest stretch between two corners. */
function longest(corners: readonly Point[]): [Point, Point] {
  let best: [Point, Point] = [ORIGIN, ORIGIN];
  for (const [i, end] of corners.entries()) {
    const start = corners[i - 1];
    if (start === undefined) continue;
    const isLonger =
      Math.hypot(end.x - start.x, end.y - start.y) > Math.hypot(best[1].x - best[0].x, best[1].y - best[0].y);
    if (isLonger) best = [start, end];
  }
  return best;
}

/** How far each edge runs off the middle between its two devices; a bundle never gets wider than a card is high. */
function bundled(edges: readonly Cable[]): number[] {
  const bundles = new Map<string, number[]>();
  for (const [i, { from, to }] of edges.entries()) {
    const key = JSON.stringify([from.device, to.device].sort());
    const bundle = bundles.get(key);
    if (bundle) bundle.push(i);
    else bundles.set(key, [i]);
  }
  const asides: number[] = [];
  for (const bundle of bundles.values()) {
    const gap = Math.min(PARALLEL_GAP, PARALLEL_BAND / Math.max(1, bundle.length - 1));
    for (const [n, i] of bundle.entries()) {
      const edge = edges[i];
      // Sideways is relative to one direction, whichever of the two ends this edge starts from.
      const turn = edge !== undefined && edge.from.device < edge.to.device ? 1 : -1;
      asides[i] = (n - (bundle.length - 1) / 2) * gap * turn;
    }
  }
  return asides;
}

/** Lines with corners have places of their own in their channel, and stay there. */
function shifted(path: Path, by: number): Path {
  if (by === 0 || path.via !== undefined) return path;
  const { from, to, control } = path;
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [dx, dy] = [(-(to.y - from.y) / length) * by, ((to.x - from.x) / length) * by];
  const move = ({ x, y }: Point): Point => ({ x: x + dx, y: y + dy });
  return { from: move(from), to: move(to), ...(control && { control: move(control) }) };
}

function drawEdge(edge: Cable, path: Path, card: Spacing): string {
  const tooltip = `<title>${xmlText(describe(edge))}</title>`;
  if (edge.from.device === edge.to.device) {
    // A cable from a device to itself: a ring behind the corner of its card.
    const [x, y] = [round(path.from.x - card.x / 2), round(path.from.y - card.y / 2)];
    return `<circle cx="${x}" cy="${y}" r="${LOOP_RADIUS}">${tooltip}</circle>\n`;
  }
  const line = `<path d="M${place(path.from)}${way(path)}">${tooltip}</path>`;
  return `${line}${edge.oneWay ? drawArrow(path, lineState(edge)) : ""}\n`;
}

function way({ from, to, control, via = [] }: Path): string {
  if (control !== undefined) return `Q${place(control)} ${place(to)}`;
  let drawn = "";
  for (const [i, corner] of via.entries()) {
    const before = toward(corner, via[i - 1] ?? from);
    drawn += `L${place(before)}Q${place(corner)} ${place(toward(corner, via[i + 1] ?? to))}`;
  }
  return `${drawn}L${place(to)}`;
}

/** Where a rounded corner begins or ends. */
function toward(corner: Point, other: Point): Point {
  const length = Math.hypot(other.x - corner.x, other.y - corner.y) || 1;
  const part = Math.min(CORNER_RADIUS, length / 2) / length;
  return { x: corner.x + (other.x - corner.x) * part, y: corner.y + (other.y - corner.y) * part };
}

function describe(edge: Cable): string {
  const end = (device: string, port: string) => `${pictureLabel(device, TOOLTIP_EMS)} port ${port}`;
  const from = end(edge.from.device, edge.from.port);
  const to = end(edge.to.device, edge.to.port);
  const words = LINE_LOOKS[lineState(edge)].words;
  return `${from} ${edge.oneWay ? "→" : "–"} ${to}\n${words}${edge.oneWay ? ", one way" : ""}`;
}
