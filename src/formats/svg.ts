/**
 * SVG: a drawing of the network for a report. Devices are boxes, cables are lines, the header has the counts and the
 * revision, and a legend explains the styles.
 *
 * The document is safe to open and to embed: it has no script, no style sheet and no reference, external or internal.
 * Styles are presentation attributes, which every viewer supports and no content policy blocks.
 *
 * The layout cannot pause, and takes seconds for a large network, so the service draws in a thread (`svg-thread.ts`).
 */
import { maxOf, minOf, type Point, type Size } from "../layout/adjacency.ts";
import { deviceNode } from "../layout/cluster-assignment.ts";
import { CLUSTER_PADDING, layoutMap, SPACING } from "../layout/map-layout.ts";
import { collectPaced } from "../lib/steps.ts";
import type { Cable } from "../model/cable.ts";
import type { Device, Topology } from "../model/entity.ts";
import type { PacedText } from "./chunks.ts";
import {
  CABLE_STYLES,
  type CableState,
  DEVICE_STYLES,
  type DeviceState,
  type DrawnCable,
  formatCount,
  formatNumber,
  formatPoint,
  type LostCable,
  MUTED_TEXT_COLOUR,
  TEXT_COLOUR,
} from "./drawing-style.ts";
import {
  cablesOf,
  clusterNames,
  commonPrefix,
  countHosts,
  deviceIdsOf,
  deviceName,
  type TopologyGraph,
} from "./graph.ts";
import { fitLabel, textWidth } from "./label.ts";
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
 * The places of devices are those of the map, enlarged by one factor, so that the drawing is the same picture. The page
 * passes the places on its map, with what the user has arranged. The service has none, and computes the layout of a new
 * map.
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

interface DevicePlace extends Point {
  readonly cluster: number;
}

interface MapPlaces {
  /** The centres of devices by id. */
  readonly positions: ReadonlyMap<string, DevicePlace>;
  /** The boxes that a user has put around devices. */
  readonly groups: readonly TitledArea[];
}

/** The distance from the centre of a device's symbol on the map to its side, as a share of the spacing. */
const SIGN_SHARE = 0.2;

/** The places that a new map has. */
function layoutPlaces(devices: readonly Device[], cables: readonly DrawnCable[]): MapPlaces {
  const numbers = new Map(devices.map(({ id }, i) => [id, i]));
  const neighbours = devices.map(() => new Set<number>());
  for (const { from, to } of cables) {
    const [a, b] = [numbers.get(from.device), numbers.get(to.device)];
    if (a === undefined || b === undefined || a === b) continue;
    neighbours[a]?.add(b);
    neighbours[b]?.add(a);
  }
  const { positions, clusterOf } = layoutMap({
    nodes: devices.map((device) => deviceNode(device)),
    neighbours: neighbours.map((set) => [...set]),
  });
  const placeOf = (i: number) => ({
    x: positions[i * 2] ?? 0,
    y: positions[i * 2 + 1] ?? 0,
    cluster: clusterOf[i] ?? 0,
  });
  return { positions: new Map(devices.map(({ id }, i) => [id, placeOf(i)])), groups: [] };
}

/** Converts places to the units of the drawing. */
function scalePlaces({ positions, groups }: MapPlaces, factor: number, boxSize: Size): MapPlaces {
  // Groups are widened, because a box that is wider than the symbol of a device on the map would extend beyond its group.
  const wider = Math.max(0, boxSize.width / 2 - SPACING.width * factor * SIGN_SHARE);
  return {
    positions: new Map(
      [...positions].map(([id, { x, y, cluster }]) => [id, { x: x * factor, y: y * factor, cluster }]),
    ),
    groups: groups.map(({ title, left, top, right, bottom }) => ({
      title,
      left: left * factor - wider,
      top: top * factor,
      right: right * factor + wider,
      bottom: bottom * factor,
    })),
  };
}

/** The devices of each cluster. Empty when all devices are in one, which then needs no box. */
function devicesBySite(devices: readonly Device[], { positions }: MapPlaces): Map<number, Device[]> {
  const sites = Map.groupBy(devices, ({ id }) => positions.get(id)?.cluster ?? 0);
  return sites.size > 1 ? sites : new Map();
}

function siteAreas(
  sites: ReadonlyMap<number, readonly Device[]>,
  cables: readonly DrawnCable[],
  { positions }: MapPlaces,
  factor: number,
): TitledArea[] {
  const cableCounts = new Map<string, number>();
  for (const { from, to } of cables)
    for (const { device } of [from, to]) cableCounts.set(device, (cableCounts.get(device) ?? 0) + 1);
  return Array.from(sites.values(), (devices) => {
    const points = devices.flatMap(({ id }) => positions.get(id) ?? []);
    return {
      title: clusterNames(devices, (id) => cableCounts.get(id) ?? 0).name,
      left: minOf(points.map(({ x }) => x)) - CLUSTER_PADDING.x * factor,
      top: minOf(points.map(({ y }) => y)) - CLUSTER_PADDING.top * factor,
      right: maxOf(points.map(({ x }) => x)) + CLUSTER_PADDING.x * factor,
      bottom: maxOf(points.map(({ y }) => y)) + CLUSTER_PADDING.bottom * factor,
    };
  });
}

const MIN_TITLE_PX = 13;
const MAX_TITLE_EMS = 40;
const SITE_STYLE = 'fill="#f4f7f9" stroke="#c3ced7"';
const GROUP_STYLE = `fill="#dfe9f2" fill-opacity="0.6" stroke="${MUTED_TEXT_COLOUR}"`;

/** Draws areas, below the cables and the devices. */
function* renderAreas(areas: readonly TitledArea[], style: string, titlePx: number): Generator<string> {
  for (const area of areas) {
    const title = fitLabel(area.title, MAX_TITLE_EMS);
    // The title of a small area has smaller letters, so that all of it fits.
    const fitting = (area.right - area.left - titlePx) / textWidth(title);
    const fontPx = formatNumber(Math.min(titlePx, Math.max(MIN_TITLE_PX, fitting)));
    yield `<rect ${areaAttributes(area)} rx="12" ${style}/>\n`;
    yield `<text x="${formatNumber(area.left + titlePx / 2)}" y="${formatNumber(area.top + titlePx * 1.2)}" \
font-size="${fontPx}" font-weight="600" fill="${TEXT_COLOUR}">${xmlText(title)}</text>\n`;
  }
}

function areaAttributes({ left, top, right, bottom }: Area): string {
  const [x, y, width, height] = [left, top, right - left, bottom - top].map(formatNumber);
  return `x="${x}" y="${y}" width="${width}" height="${height}"`;
}

/* The legend at the bottom of the drawing has one row for the states of devices and one for the states of cables. */

const LEGEND_SIZE: Size = { width: 980, height: 64 };

const SAMPLE_SIZE: Size = { width: 30, height: 18 };
const FIRST_COLUMN_X = 72;
const ROW_HEIGHT = 32;
const DEVICE_COLUMN_WIDTH = 190;
/** The width with a fourth column, so that the row is not longer. */
const NARROW_COLUMN_WIDTH = 155;
const DEVICE_COLUMNS: readonly DeviceState[] = ["available", "unavailable", "cutOff", "conflict"];

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

interface RareStates {
  readonly hasLost: boolean;
  readonly hasCutOff: boolean;
}

/** Lost cables and devices that are cut off are explained only in a drawing that has some. */
function renderLegend(topLeft: Point, { hasLost, hasCutOff }: RareStates): string {
  const deviceRow = topLeft.y + 22;
  const cableRow = deviceRow + ROW_HEIGHT;
  let svg = `<g font-size="11" fill="${TEXT_COLOUR}">\n`;
  svg += `<path d="M${formatPoint(topLeft)}h${LEGEND_SIZE.width}" stroke="#d5dce2"/>\n`;
  svg += renderText(topLeft.x, deviceRow, "Devices", true) + renderText(topLeft.x, cableRow, "Cables", true);
  let x = topLeft.x + FIRST_COLUMN_X;
  for (const state of DEVICE_COLUMNS) {
    if (state === "cutOff" && !hasCutOff) continue;
    const centre = { x: x + SAMPLE_SIZE.width / 2, y: deviceRow };
    svg += renderDeviceFrame(state, state === "conflict", centre, SAMPLE_SIZE);
    svg += renderText(x + SAMPLE_SIZE.width + 12, deviceRow, DEVICE_STYLES[state].label);
    x += hasCutOff ? NARROW_COLUMN_WIDTH : DEVICE_COLUMN_WIDTH;
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
/** The least space between boxes, where lines run. */
const MIN_GUTTER: Size = { width: 26, height: 32 };
const SITE_TITLE_PX = 26;
const GROUP_TITLE_PX = 20;
/** Header and legend are enlarged in a wider drawing, so that they can be read when the whole drawing is in view. */
const PLAIN_WIDTH = 1200;
/** Sorts devices by name, for readers of the document; numbers are compared by value, so that leaf-2 is before leaf-10. */
const byName = new Intl.Collator("en", { numeric: true });

/** The input of a drawing. */
export interface Drawing {
  readonly topology: Topology;
  readonly revision: number;
  readonly devices: readonly Device[];
  readonly cables: readonly Cable[];
  /** The lost cables, which are drawn where they were. */
  readonly lost?: readonly LostCable[];
  readonly hostCounts: ReadonlyMap<string, number>;
  /** The ids of the devices that a fault elsewhere separates from the network, which the page computes. */
  readonly cutOff?: ReadonlySet<string>;
  /** The places on the map of a page, in map units. Without them, the drawing has the layout of a new map. */
  readonly places?: MapPlaces;
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
  const { lost = [], hostCounts, cutOff } = drawing;
  const devices = drawing.devices.toSorted((p, q) => byName.compare(deviceName(p), deviceName(q)));
  const cables = [...drawing.cables, ...lost];
  const onMap = drawing.places ?? layoutPlaces(devices, cables);
  const sites = devicesBySite(devices, onMap);
  const prefixes = new Map(
    [...sites].map(([site, members]) => [site, commonPrefix(members.map(deviceName)).length]),
  );
  const boxes = devices.map((device) => {
    const prefix = prefixes.get(onMap.positions.get(device.id)?.cluster ?? 0) ?? 0;
    const hosts = hostCounts.get(device.id) ?? 0;
    return createDeviceBox(device, { hosts, prefix, isCutOff: cutOff?.has(device.id) ?? false });
  });
  const boxSize = deviceBoxSize(boxes);
  const factor = Math.max(
    (boxSize.width + MIN_GUTTER.width) / SPACING.width,
    (boxSize.height + MIN_GUTTER.height) / SPACING.height,
  );
  const gutter = {
    width: SPACING.width * factor - boxSize.width,
    height: SPACING.height * factor - boxSize.height,
  };
  const places = scalePlaces(onMap, factor, boxSize);
  const areas = siteAreas(sites, cables, places, factor);
  const positions = devices.map(({ id }) => places.positions.get(id) ?? { x: 0, y: 0 });
  const ids = devices.map(({ id }) => id);
  const routed = routeCables(cables, { ids, positions, boxSize, gutter });
  const { left, top, right, bottom } = boundingBox(routed, positions, boxSize, [...areas, ...places.groups]);
  const scale = Math.max(1, (right - left) / PLAIN_WIDTH);
  const page: Size = {
    width: Math.ceil(Math.max(right - left, LEGEND_SIZE.width * scale) + 2 * MARGIN * scale),
    height: Math.ceil((HEADER_HEIGHT + 3 * MARGIN + LEGEND_SIZE.height) * scale + bottom - top),
  };
  yield* renderHeader(drawing, page, scale);
  const origin = {
    x: (page.width - (right - left)) / 2 - left,
    y: (HEADER_HEIGHT + MARGIN) * scale - top,
  };
  yield `<g transform="translate(${formatPoint(origin)})">\n`;
  yield* renderAreas(areas, SITE_STYLE, SITE_TITLE_PX);
  yield* renderAreas(places.groups, GROUP_STYLE, GROUP_TITLE_PX);
  yield* renderCables(routed, boxSize);
  yield* renderDevices(boxes, positions, boxSize);
  yield "</g>\n";
  yield `<g transform="scale(${scale.toFixed(3)})">\n`;
  const legendTop = page.height / scale - MARGIN - LEGEND_SIZE.height;
  const hasCutOff = boxes.some(({ state }) => state === "cutOff");
  yield renderLegend({ x: MARGIN, y: legendTop }, { hasLost: lost.length > 0, hasCutOff });
  yield "</g>\n</svg>\n";
}

/** The bounding box of the boxes, the lines and the areas. */
function boundingBox(
  routed: readonly RoutedCable[],
  boxes: readonly Point[],
  size: Size,
  areas: readonly Area[],
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
  for (const { left, top, right, bottom } of areas) {
    include({ x: left, y: top }, 0, 0);
    include({ x: right, y: bottom }, 0, 0);
  }
  return box;
}

function* renderHeader(drawing: Drawing, page: Size, scale: number): Generator<string> {
  const { topology, revision, devices, cables, lost = [], cutOff } = drawing;
  const unavailable = devices.filter((device) => !device.available).length;
  const cutOffCount = devices.filter(({ id, available }) => available && cutOff?.has(id)).length;
  const faults = [
    ...(unavailable > 0 ? [`${unavailable} down`] : []),
    ...(cutOffCount > 0 ? [`${cutOffCount} cut off`] : []),
  ];
  const inactive = cables.filter((cable) => !cable.active).length;
  const counts = [
    formatCount(devices.length, "device") + (faults.length > 0 ? ` (${faults.join(", ")})` : ""),
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
  yield `<g transform="scale(${scale.toFixed(3)})">\n`;
  yield `<text x="${MARGIN}" y="42" font-size="20" font-weight="700" fill="${TEXT_COLOUR}">Network topology</text>\n`;
  yield `<text x="${MARGIN}" y="62" font-size="12" fill="${TEXT_COLOUR}">${xmlText(counts)}</text>\n`;
  yield `<text x="${MARGIN}" y="79" font-size="12" fill="${MUTED_TEXT_COLOUR}">${xmlText(version)}</text>\n</g>\n`;
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
