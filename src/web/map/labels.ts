/**
 * The labels of devices and hosts. In order of priority, as many as fit without overlap are drawn on a canvas
 * above the graph. The label of a device is created again only when the device or its cluster has changed.
 */
import type { Host } from "../../model/entity.ts";
import { deviceName, hostName } from "../data/shown-names.ts";
import {
  type DeviceItem,
  type DeviceScene,
  HOST_SIZE,
  hostIdOf,
  type SceneChanges,
  type SceneInput,
} from "./device-scene.ts";
import type { Projection } from "./geometry.ts";
import type { MapCluster } from "./map-clusters.ts";
import type { Palette } from "./palette.ts";

/** A number larger than any number of cables, so that emphasised devices have priority over well connected ones. */
const EMPHASIS_PRIORITY = 10_000;
const HOST_LABEL_SPACING_PX = 220;
/** With less, the label of the selected host would cover its device. */
const SELECTED_HOST_SPACING_PX = 60;

/** The labels of a device scene, sorted by priority, highest first. */
export class DeviceLabels {
  sorted: readonly Label[] = [];
  readonly #byDevice = new Map<string, Label>();

  *update(
    { devices, clusters, hosts }: DeviceScene,
    changes: SceneChanges,
    input: SceneInput,
  ): Generator<void, void> {
    // A single cluster has no background with a name, so the labels contain the common prefix of the names.
    const isNamed = clusters.byIndex.size > 1;
    for (const id of changes.devices) {
      yield;
      const item = devices.get(id);
      const cluster = item && isNamed ? clusters.byIndex.get(item.position.cluster) : undefined;
      if (item) this.#byDevice.set(id, deviceLabel(item, cluster, input));
      else this.#byDevice.delete(id);
    }
    if (
      changes.devices.size === 0 &&
      hosts.positions.size === 0 &&
      this.sorted.length === this.#byDevice.size
    )
      return;
    const labels = [...this.#byDevice.values()].sort((p, q) => q.priority - p.priority);
    for (const [node, { x, y }] of hosts.positions) {
      const host = input.network.hosts.get(hostIdOf(node));
      if (!host) continue;
      const label = hostLabel(node, x, y, hostName(host), input.palette);
      if (host.id === input.highlights.selectedHost) labels.unshift(selectedLabel(label, host, input));
      else labels.push(label);
    }
    this.sorted = labels;
  }
}

const hostLabel = (nodeId: string, x: number, y: number, text: string, palette: Palette): Label => ({
  nodeId,
  x,
  y,
  size: HOST_SIZE,
  text,
  detail: "",
  priority: -1,
  minSpacingPx: HOST_LABEL_SPACING_PX,
  color: palette.muted,
});

/** The label of the selected host, which has priority over all others and has the port. */
const selectedLabel = (label: Label, { location }: Host, { palette, portName }: SceneInput): Label => ({
  ...label,
  detail: `port ${portName(location.elementId, location.port)}`,
  minSpacingPx: SELECTED_HOST_SPACING_PX,
  bold: true,
  color: palette.text,
});

function deviceLabel(
  { device, position, emphasis, role, cutOffCount }: DeviceItem,
  cluster: MapCluster | undefined,
  { network, palette }: SceneInput,
): Label {
  const { highlighted, selected, onPath, mark } = emphasis;
  const down = !device.available;
  const bold = selected || onPath || mark !== undefined || down || highlighted === true;
  return {
    nodeId: device.id,
    x: position.x,
    y: position.y,
    size: 1,
    text: deviceName(device).slice(cluster?.namePrefix.length ?? 0),
    // A device that is down cuts off at least itself.
    detail: role === "cut-off" ? "cut off" : cutOffCount > 1 ? `cuts off ${cutOffCount}` : "",
    priority: network.cablesOf(device.id).length + (selected ? 2 : bold ? 1 : 0) * EMPHASIS_PRIORITY,
    bold,
    // The background of a cluster with one device is too small for a name.
    atEveryZoom: bold || cluster?.deviceIds.length === 1,
    color:
      down && !mark
        ? palette.down
        : role === "cut-off"
          ? palette.warning
          : highlighted === false
            ? palette.muted
            : palette.text,
  };
}

export interface Label {
  readonly nodeId: string;
  readonly text: string;
  /** The second line; may be empty. */
  readonly detail: string;
  readonly x: number;
  readonly y: number;
  /** The size of the node in radii of a device. */
  readonly size: number;
  readonly priority: number;
  readonly bold?: boolean;
  /** The smallest spacing of devices at which the label is drawn, if not `NAMED_SPACING_PX`. */
  readonly minSpacingPx?: number;
  /** Whether the label is drawn at every zoom, if it does not overlap another one. */
  readonly atEveryZoom?: boolean;
  readonly color: string;
}

const CELL_PX = 6;
const MAX_LABELS = 320;
const LINE_HEIGHT_PX = 13;
/** The smallest spacing of devices at which their names are drawn. */
export const NAMED_SPACING_PX = 34;
/** The smallest spacing at which the number of hosts is drawn beside a device. */
export const HOST_COUNT_SPACING_PX = 44;
const MAX_CACHED_WIDTHS = 50_000;
const FONT = '11px system-ui, "Segoe UI", sans-serif';
const HOST_COUNT_FONT = '10px system-ui, "Segoe UI", sans-serif';
const BOLD_FONT = '600 11px system-ui, "Segoe UI", sans-serif';

/** The widths of texts. Measuring text is slow, and the same labels are drawn in every frame. */
const cachedWidths = new Map<string, number>();

export function textWidth(context: CanvasRenderingContext2D, text: string, cache = cachedWidths): number {
  let width = cache.get(text);
  if (width === undefined) {
    if (cache.size > MAX_CACHED_WIDTHS) cache.clear();
    width = context.measureText(text).width;
    cache.set(text, width);
  }
  return width;
}

interface LabelOptions {
  /** The node under the pointer, whose label is always drawn. */
  readonly hoveredNodeId: string | undefined;
  readonly hostCount: (nodeId: string) => number;
}

/** `labels` are sorted by priority, highest first. Returns the occupied cells, for texts of lower priority. */
export function drawLabels(
  context: CanvasRenderingContext2D,
  labels: readonly Label[],
  projection: Projection,
  palette: Palette,
  { hoveredNodeId, hostCount }: LabelOptions,
): OccupiedCells {
  const { width, height, spacingPx } = projection;
  context.clearRect(0, 0, width, height);
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineJoin = "round";
  context.strokeStyle = palette.background;
  const occupied = new OccupiedCells(width, height);
  let drawnCount = 0;
  for (const label of labels) {
    const isHovered = label.nodeId === hoveredNodeId;
    const hasSpace = spacingPx >= (label.minSpacingPx ?? NAMED_SPACING_PX) && drawnCount <= MAX_LABELS;
    if (!label.atEveryZoom && !isHovered && !hasSpace) continue;
    const [x, nodeY] = [projection.x(label.x), projection.y(label.y)];
    if (x < -80 || nodeY < -60 || x > width + 80 || nodeY > height + 60) continue;
    const radiusPx = label.size * projection.radiusPx;
    const y = nodeY + radiusPx + 4;
    const hosts = spacingPx >= HOST_COUNT_SPACING_PX ? hostCount(label.nodeId) : 0;
    if (hosts > 0) drawHostCount(context, hosts, x + radiusPx + 3, nodeY - radiusPx - 2, palette);
    context.font = label.bold ? BOLD_FONT : FONT;
    const { detail } = label;
    const detailWidth = detail === "" ? 0 : textWidth(context, detail);
    const halfWidth = Math.max(textWidth(context, label.text), detailWidth) / 2 + 3;
    const labelHeight = detail === "" ? LINE_HEIGHT_PX : LINE_HEIGHT_PX * 2;
    const isFree = occupied.occupy(x - halfWidth, y - 1, x + halfWidth, y + labelHeight);
    if (!isFree && !isHovered) continue;
    drawnCount++;
    context.lineWidth = 3;
    context.strokeText(label.text, x, y);
    context.fillStyle = label.color;
    context.fillText(label.text, x, y);
    if (detail === "") continue;
    context.font = FONT;
    context.strokeText(detail, x, y + LINE_HEIGHT_PX);
    context.fillStyle = palette.muted;
    context.fillText(detail, x, y + LINE_HEIGHT_PX);
  }
  return occupied;
}

/** A grid over the viewport that marks the cells with a label. */
export class OccupiedCells {
  readonly #columns: number;
  readonly #rows: number;
  readonly #cells: Uint8Array;

  constructor(width: number, height: number) {
    this.#columns = Math.ceil(width / CELL_PX) + 1;
    this.#rows = Math.ceil(height / CELL_PX) + 1;
    this.#cells = new Uint8Array(this.#columns * this.#rows);
  }

  /** Marks the rectangle. Returns false and marks nothing if a part of it is occupied. */
  occupy(left: number, top: number, right: number, bottom: number): boolean {
    const firstColumn = Math.max(0, Math.floor(left / CELL_PX));
    const lastColumn = Math.min(this.#columns - 1, Math.floor(right / CELL_PX));
    const firstRow = Math.max(0, Math.floor(top / CELL_PX));
    const lastRow = Math.min(this.#rows - 1, Math.floor(bottom / CELL_PX));
    for (let row = firstRow; row <= lastRow; row++) {
      const rowStart = row * this.#columns;
      for (let column = firstColumn; column <= lastColumn; column++)
        if (this.#cells[rowStart + column] === 1) return false;
    }
    for (let row = firstRow; row <= lastRow; row++) {
      this.#cells.fill(1, row * this.#columns + firstColumn, row * this.#columns + lastColumn + 1);
    }
    return true;
  }
}

function drawHostCount(
  context: CanvasRenderingContext2D,
  count: number,
  x: number,
  y: number,
  palette: Palette,
): void {
  context.font = HOST_COUNT_FONT;
  context.textAlign = "left";
  context.fillStyle = palette.muted;
  context.lineWidth = 3;
  context.strokeText(String(count), x, y);
  context.fillText(String(count), x, y);
  context.textAlign = "center";
}
