/** The box of a device: its name, its type and its number of hosts. Colour, frame and a sign show its state. */

import type { Point, Size } from "../layout/adjacency.ts";
import { hasConflict } from "../model/conflict.ts";
import type { Device } from "../model/entity.ts";
import {
  DEVICE_STYLES,
  type DeviceState,
  deviceState,
  formatCount,
  formatNumber,
  formatPoint,
  MUTED_TEXT_COLOUR,
  TEXT_COLOUR,
} from "./drawing-style.ts";
import { deviceName } from "./graph.ts";
import { fitLabel, textWidth } from "./label.ts";
import { xmlText } from "./xml.ts";

const HEIGHT = 38;
const MIN_WIDTH = 92;
const PADDING = 9;
const NAME_PX = 12;
const DETAIL_PX = 9.5;
const MAX_NAME_EMS = 15;
const MAX_TOOLTIP_EMS = 150;

export interface DeviceBox {
  readonly id: string;
  readonly state: DeviceState;
  readonly conflict: boolean;
  readonly name: string;
  readonly detail: string;
  readonly tooltip: string;
}

export function createDeviceBox(device: Device, hosts: number): DeviceBox {
  const state = deviceState(device);
  const conflict = hasConflict(device);
  const type = device.type.charAt(0) + device.type.slice(1).toLowerCase().replaceAll("_", " ");
  const detail = hosts > 0 ? `${type} · ${formatCount(hosts, "host")}` : type;
  const address = device.annotations.managementAddress ?? "";
  const tooltipLines = [device.id, type, DEVICE_STYLES[state].label, address, formatCount(hosts, "host")];
  if (state !== "conflict" && conflict) tooltipLines.push(DEVICE_STYLES.conflict.label);
  return {
    id: device.id,
    state,
    conflict,
    name: fitLabel(deviceName(device), MAX_NAME_EMS),
    detail: fitLabel(detail, (MAX_NAME_EMS * NAME_PX) / DETAIL_PX),
    tooltip: [deviceName(device), ...tooltipLines.filter((line) => line !== "")]
      .map((line) => fitLabel(line, MAX_TOOLTIP_EMS))
      .join("\n"),
  };
}

/** The size of all boxes of a drawing: the longest label determines the width. */
export function deviceBoxSize(boxes: readonly DeviceBox[]): Size {
  let width = MIN_WIDTH;
  for (const { name, detail } of boxes) {
    width = Math.max(
      width,
      textWidth(name) * NAME_PX + 2 * PADDING,
      textWidth(detail) * DETAIL_PX + 2 * PADDING,
    );
  }
  return { width: Math.ceil(width), height: HEIGHT };
}

export function renderDeviceBox(box: DeviceBox, centre: Point, size: Size): string {
  const x = formatNumber(centre.x);
  return `<g><title>${xmlText(box.tooltip)}</title>${renderDeviceFrame(box.state, box.conflict, centre, size)}\
<text x="${x}" y="${formatNumber(centre.y - 2)}" font-size="${NAME_PX}" font-weight="600" fill="${TEXT_COLOUR}">${xmlText(box.name)}</text>\
<text x="${x}" y="${formatNumber(centre.y + 12)}" font-size="${DETAIL_PX}" fill="${MUTED_TEXT_COLOUR}">${xmlText(box.detail)}</text></g>\n`;
}

/** Draws the box without its text. The legend uses it too. */
export function renderDeviceFrame(state: DeviceState, conflict: boolean, centre: Point, size: Size): string {
  const { stroke, fill } = DEVICE_STYLES[state];
  const [left, top] = [centre.x - size.width / 2, centre.y - size.height / 2];
  const unavailable = state === "unavailable";
  const rectangle = (inset: number, paint: string) =>
    `<rect x="${formatNumber(left + inset)}" y="${formatNumber(top + inset)}" width="${formatNumber(size.width - 2 * inset)}" \
height="${formatNumber(size.height - 2 * inset)}" rx="${unavailable ? 0 : Math.max(2, 7 - inset)}" ${paint}/>`;
  const dashes = unavailable ? ' stroke-dasharray="5 3"' : "";
  let frame = rectangle(0, `fill="${fill}" stroke="${stroke}" stroke-width="1.5"${dashes}`);
  if (conflict) frame += rectangle(3, `fill="none" stroke="${DEVICE_STYLES.conflict.stroke}"`);
  const right = left + size.width;
  if (unavailable) frame += renderCross(right - 2, top + 2);
  if (conflict) frame += renderWarning(unavailable ? left + 2 : right - 2, top + 2);
  return frame;
}

function renderCross(x: number, y: number): string {
  const arms = `M${formatPoint({ x: x - 3, y: y - 3 })}l6 6m0 -6l-6 6`;
  return `<circle cx="${formatNumber(x)}" cy="${formatNumber(y)}" r="7" fill="${DEVICE_STYLES.unavailable.stroke}"/>\
<path d="${arms}" stroke="#fff" stroke-width="2" fill="none"/>`;
}

function renderWarning(x: number, y: number): string {
  return `<path d="M${formatPoint({ x, y: y - 8 })}l8.5 14.5h-17z" fill="${DEVICE_STYLES.conflict.stroke}"/>\
<path d="M${formatPoint({ x, y: y - 3 })}v4.6m0 1.4v1.6" stroke="#fff" stroke-width="1.7" fill="none"/>`;
}
