/**
 * SVG: a drawing of the network for a report. Devices are boxes, cables are lines, the header has the counts and the
 * revision, and a legend explains the styles.
 *
 * The document is safe to open and to embed: it has no script, no style sheet and no reference, external or internal.
 * Styles are presentation attributes, which every viewer supports and no content policy blocks.
 *
 * The layout cannot pause, and takes seconds for a large network, so the service draws in a thread (`svg-thread.ts`).
 */
import type { Point, Size } from "../layout/adjacency.ts";
import { type ClusterGraph, deviceNode } from "../layout/cluster-assignment.ts";
import { layoutClusters } from "../layout/clustered-layout.ts";
import { collectPaced } from "../lib/steps.ts";
import type { Cable } from "../model/cable.ts";
import type { Device, Topology } from "../model/entity.ts";
import type { PacedText } from "./chunks.ts";
import {
  CABLE_STYLES,
  type CableState,
  DEVICE_STYLES,
  type DeviceState,
  formatCount,
  formatNumber,
  formatPoint,
  type LostCable,
  MUTED_TEXT_COLOUR,
  TEXT_COLOUR,
} from "./drawing-style.ts";
import { cablesOf, countHosts, deviceIdsOf, deviceName, type TopologyGraph } from "./graph.ts";
import {
  cableAttributes,
  type RoutedCable,
  renderArrow,
  renderCables,
  renderCross,
  routeCables,
} from "./svg-cable.ts";
import {
  createDeviceBox,
  type DeviceBox,
  deviceBoxSize,
  renderDeviceBox,
  renderDeviceFrame,
} from "./svg-device.ts";
import { xmlText } from "./xml.ts";

/*
 * The arrangement that a user made on the map: the positions of devices, and areas with titles. Only the page draws
 * arrangements; the service has none. Everything is enlarged by one factor, so that devices keep their places in their
 * areas.
 */

/** A rectangle; the y axis points down. */
interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface TitledArea extends Area {
  readonly title: string;
}

interface Arranged {
  /** The centres of devices by id. */
  readonly positions: ReadonlyMap<string, Point>;
  /** The distance between devices on the map. */
  readonly spacing: Size;
  readonly groups: readonly TitledArea[];
}

const TITLE_PX = 12;
/** The distance from the centre of a device's symbol on the map to its side, as a share of the spacing. */
const SIGN_SHARE = 0.2;

/** Converts an arrangement to the units of the drawing. Devices that do not overlap on the map get boxes that do not. */
function scaleArranged(arranged: Arranged, spacing: Size, boxSize: Size): Arranged {
  const factor = Math.max(spacing.width / arranged.spacing.width, spacing.height / arranged.spacing.height);
  // Groups are widened, because a box that is wider than the symbol of a device on the map would extend beyond its group.
  const wider = Math.max(0, boxSize.width / 2 - arranged.spacing.width * factor * SIGN_SHARE);
  return {
    positions: new Map(
      [...arranged.positions].map(([id, { x, y }]) => [id, { x: x * factor, y: y * factor }]),
    ),
    spacing,
    groups: arranged.groups.map(({ title, left, top, right, bottom }) => ({
      title,
      left: left * factor - wider,
      top: top * factor,
      right: right * factor + wider,
      bottom: bottom * factor,
    })),
  };
}

/** Draws the groups, below the cables and the devices. */
function* renderArranged({ groups }: Arranged): Generator<string> {
  for (const group of groups) {
    yield `<rect ${areaAttributes(group)} rx="8" fill="#eef3f7" fill-opacity="0.6" stroke="${MUTED_TEXT_COLOUR}"/>\n`;
    yield `<text x="${formatNumber(group.left + 8)}" y="${formatNumber(group.top + TITLE_PX + 6)}" \
font-size="${TITLE_PX}" font-weight="600" fill="${TEXT_COLOUR}">${xmlText(group.title)}</text>\n`;
  }
}

function areaAttributes({ left, top, right, bottom }: Area): string {
  const [x, y, width, height] = [left, top, right - left, bottom - top].map(formatNumber);
  return `x="${x}" y="${y}" width="${width}" height="${height}"`;
}

/* The legend at the bottom of the drawing has one row for the states of devices and one for the states of cables. */

const LEGEND_SIZE: Size = { width: 860, height: 64 };

const SAMPLE_SIZE: Size = { width: 30, height: 18 };
const FIRST_COLUMN_X = 72;
const ROW_HEIGHT = 32;
const DEVICE_COLUMN_WIDTH = 160;
const DEVICE_COLUMNS: readonly DeviceState[] = ["available", "unavailable", "conflict"];

interface CableSample {
  readonly state: CableState;
  readonly label?: string;
  readonly renderSign?: (line: readonly Point[]) => string;
  readonly columnWidth: number;
}
const CABLE_SAMPLES: readonly CableSample[] = [
  { state: "active", columnWidth: 100 },
  { state: "unverified", columnWidth: 178 },
  { state: "inactive", columnWidth: 112 },
  { state: "conflict", columnWidth: 176 },
  {
    state: "active",
    label: "one direction only",
    renderSign: (line) => renderArrow(line, "active"),
    columnWidth: 150,
  },
  { state: "lost", renderSign: renderCross, columnWidth: 0 },
];

/** Lost cables are explained only in a drawing that has some. Drawings of the service have none. */
function renderLegend(topLeft: Point, hasLost: boolean): string {
  const deviceRow = topLeft.y + 22;
  const cableRow = deviceRow + ROW_HEIGHT;
  let svg = `<g font-size="11" fill="${TEXT_COLOUR}">\n`;
  svg += `<path d="M${formatPoint(topLeft)}h${LEGEND_SIZE.width}" stroke="#d5dce2"/>\n`;
  svg += renderText(topLeft.x, deviceRow, "Devices", true) + renderText(topLeft.x, cableRow, "Cables", true);
  let x = topLeft.x + FIRST_COLUMN_X;
  for (const state of DEVICE_COLUMNS) {
    const centre = { x: x + SAMPLE_SIZE.width / 2, y: deviceRow };
    svg += renderDeviceFrame(state, state === "conflict", centre, SAMPLE_SIZE);
    svg += renderText(x + SAMPLE_SIZE.width + 12, deviceRow, DEVICE_STYLES[state].label);
    x += DEVICE_COLUMN_WIDTH;
  }
  svg += renderText(x, deviceRow, "A host counts at the device where it was seen last.");
  x = topLeft.x + FIRST_COLUMN_X;
  for (const { state, label = CABLE_STYLES[state].label, renderSign, columnWidth } of CABLE_SAMPLES) {
    if (state === "lost" && !hasLost) continue;
    const start = { x, y: cableRow };
    const sign = renderSign?.([start, { x: x + SAMPLE_SIZE.width, y: cableRow }]) ?? "";
    svg += `<path d="M${formatPoint(start)}h${SAMPLE_SIZE.width}" ${cableAttributes(state)}/>${sign}`;
    svg += renderText(x + SAMPLE_SIZE.width + 8, cableRow, label);
    x += columnWidth;
  }
  return `${svg}</g>\n`;
}

function renderText(x: number, y: number, text: string, isHeading = false): string {
  const style = isHeading ? ' font-weight="700"' : ` fill="${MUTED_TEXT_COLOUR}"`;
  return `<text x="${x}" y="${y + 4}"${style}>${text}</text>\n`;
}

const MARGIN = 28;
const HEADER_HEIGHT = 84;
/** The space between boxes, where lines run. */
const GUTTER: Size = { width: 28, height: 28 };
/** The space around groups of devices. */
const GROUP_MARGIN: Size = { width: 150, height: 110 };
/** Sorts devices by name for the layout; numbers are compared by value, so that leaf-2 is before leaf-10. */
const byName = new Intl.Collator("en", { numeric: true });

/** The input of a drawing. */
export interface Drawing {
  readonly topology: Topology;
  readonly revision: number;
  readonly devices: readonly Device[];
  readonly cables: readonly Cable[];
  /** The lost cables, which are drawn where they were. The layout does not depend on them. */
  readonly lost?: readonly LostCable[];
  readonly hostCounts: ReadonlyMap<string, number>;
  /** The arrangement that replaces the layout. */
  readonly arranged?: Arranged;
}

export function* renderSvg(graph: TopologyGraph): PacedText {
  const { topology, revision } = graph;
  const ids = yield* deviceIdsOf(graph);
  const hostCounts = yield* countHosts(graph, ids);
  const cables = yield* collectPaced(cablesOf(graph, ids));
  const devices = yield* collectPaced(graph.devices);
  yield* drawNetwork({ topology, revision, devices, cables, hostCounts });
}

/** Yields the pieces of the document without pauses. */
export function* drawNetwork(drawing: Drawing): Generator<string> {
  const { cables, lost = [], hostCounts } = drawing;
  const devices = drawing.devices.toSorted((p, q) => byName.compare(deviceName(p), deviceName(q)));
  const boxes = devices.map((device) => createDeviceBox(device, hostCounts.get(device.id) ?? 0));
  const boxSize = deviceBoxSize(boxes);
  const spacing = { width: boxSize.width + GUTTER.width, height: boxSize.height + GUTTER.height };
  const arranged = drawing.arranged && scaleArranged(drawing.arranged, spacing, boxSize);
  const positions = arranged
    ? devices.map(({ id }) => arranged.positions.get(id) ?? { x: 0, y: 0 })
    : layoutDevices(clusterGraph(devices, cables), spacing);
  const ids = devices.map(({ id }) => id);
  const routed = routeCables([...cables, ...lost], { ids, positions, boxSize, gutter: GUTTER });
  const { left, top, right, bottom } = boundingBox(routed, positions, boxSize, arranged);
  const page: Size = {
    width: Math.ceil(Math.max(right - left, LEGEND_SIZE.width) + 2 * MARGIN),
    height: Math.ceil(HEADER_HEIGHT + bottom - top + 3 * MARGIN + LEGEND_SIZE.height),
  };
  yield* renderHeader(drawing, page);
  const origin = { x: (page.width - (right - left)) / 2 - left, y: HEADER_HEIGHT + MARGIN - top };
  yield `<g transform="translate(${formatPoint(origin)})">\n`;
  if (arranged) yield* renderArranged(arranged);
  yield* renderCables(routed, boxSize);
  yield* renderDevices(boxes, positions, boxSize);
  yield "</g>\n";
  yield renderLegend({ x: MARGIN, y: page.height - MARGIN - LEGEND_SIZE.height }, lost.length > 0);
  yield "</svg>\n";
}

function layoutDevices(graph: ClusterGraph, spacing: Size): Point[] {
  const { positions } = layoutClusters(graph, { spacing, margin: GROUP_MARGIN });
  return graph.nodes.map((_, i) => ({ x: positions[i * 2] ?? 0, y: positions[i * 2 + 1] ?? 0 }));
}

/** The graph for the layout. The map uses the same graph, so that both have the same layout. */
function clusterGraph(devices: readonly Device[], cables: readonly Cable[]): ClusterGraph {
  const numbers = new Map(devices.map(({ id }, i) => [id, i]));
  const neighbours = devices.map(() => new Set<number>());
  for (const { from, to } of cables) {
    const [a, b] = [numbers.get(from.device), numbers.get(to.device)];
    if (a === undefined || b === undefined || a === b) continue;
    neighbours[a]?.add(b);
    neighbours[b]?.add(a);
  }
  return {
    nodes: devices.map((device) => deviceNode(device)),
    neighbours: neighbours.map((set) => [...set]),
  };
}

/** The bounding box of the boxes, the lines, and the groups of an arrangement. */
function boundingBox(
  routed: readonly RoutedCable[],
  boxes: readonly Point[],
  size: Size,
  { groups }: Pick<Arranged, "groups"> = { groups: [] },
): Area {
  const box = { left: 0, top: 0, right: 0, bottom: 0 };
  let isFirst = true;
  const include = ({ x, y }: Point, dx: number, dy: number) => {
    box.left = isFirst ? x - dx : Math.min(box.left, x - dx);
    box.top = isFirst ? y - dy : Math.min(box.top, y - dy);
    box.right = isFirst ? x + dx : Math.max(box.right, x + dx);
    box.bottom = isFirst ? y + dy : Math.max(box.bottom, y + dy);
    isFirst = false;
  };
  for (const centre of boxes) include(centre, size.width / 2, size.height / 2);
  for (const { line } of routed) for (const point of line) include(point, 0, 0);
  for (const { left, top, right, bottom } of groups) {
    include({ x: left, y: top }, 0, 0);
    include({ x: right, y: bottom }, 0, 0);
  }
  return box;
}

function* renderHeader(drawing: Drawing, page: Size): Generator<string> {
  const { topology, revision, devices, cables, lost = [] } = drawing;
  const unavailable = devices.filter((device) => !device.available).length;
  const inactive = cables.filter((cable) => !cable.active).length;
  const counts = [
    formatCount(devices.length, "device") + (unavailable > 0 ? ` (${unavailable} down)` : ""),
    formatCount(cables.length, "cable") + (inactive > 0 ? ` (${inactive} down)` : ""),
    ...(lost.length > 0 ? [formatCount(lost.length, "lost cable")] : []),
    formatCount(topology.hosts, "host"),
    formatCount(topology.clusters, "cluster"),
  ].join(" · ");
  const time = new Date(topology.time).toISOString().slice(0, 19).replace("T", " ");
  const version = `Revision ${revision} · last change ${time} UTC`;
  yield `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${xmlText(`Network topology: ${counts}. ${version}.`)}" \
width="${page.width}" height="${page.height}" viewBox="0 0 ${page.width} ${page.height}" \
font-family="'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif">\n`;
  yield `<title>Network topology, revision ${revision}</title>\n<desc>${xmlText(`${counts}. ${version}.`)}</desc>\n`;
  yield `<rect width="${page.width}" height="${page.height}" fill="#fff"/>\n`;
  yield `<text x="${MARGIN}" y="42" font-size="20" font-weight="700" fill="${TEXT_COLOUR}">Network topology</text>\n`;
  yield `<text x="${MARGIN}" y="62" font-size="12" fill="${TEXT_COLOUR}">${xmlText(counts)}</text>\n`;
  yield `<text x="${MARGIN}" y="79" font-size="12" fill="${MUTED_TEXT_COLOUR}">${xmlText(version)}</text>\n`;
}

function* renderDevices(
  boxes: readonly DeviceBox[],
  positions: readonly Point[],
  size: Size,
): Generator<string> {
  yield '<g text-anchor="middle">\n';
  for (const [i, box] of boxes.entries()) {
    const centre = positions[i];
    if (centre !== undefined) yield renderDeviceBox(box, centre, size);
  }
  yield "</g>\n";
}
