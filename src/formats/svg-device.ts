/** The box of a device: its name, its type and its number of hosts, each on a line. Colour, frame and a sign show its state. */

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

/** Wide enough for a number of hosts. */
const MIN_WIDTH = 124;
/** Boxes have space for the type and the number of hosts, so that hosts do not change the size of the drawing. */
const DETAIL_LINES = 2;
const PADDING = 9;
const NAME_PX = 20;
const DETAIL_PX = 14;
/** The distance between two lines of text, relative to the size of its letters. */
const LINE_HEIGHT = 1.15;
/** The width of a line of a name. A longer name has a second line. */
const MAX_NAME_EMS = 8.5;
const MAX_TOOLTIP_EMS = 150;

export interface DeviceBox {
  readonly id: string;
  readonly state: DeviceState;
  readonly conflict: boolean;
  /** The name, on one line or two. */
  readonly name: readonly string[];
  readonly details: readonly string[];
  readonly tooltip: string;
}

interface BoxFacts {
  readonly hosts: number;
  /** The number of first characters of the name that the label leaves out, because the box of the site shows them. */
  readonly prefix: number;
  readonly isCutOff: boolean;
}

export function createDeviceBox(device: Device, { hosts, prefix, isCutOff }: BoxFacts): DeviceBox {
  const state = isCutOff && device.available ? "cutOff" : deviceState(device);
  const conflict = hasConflict(device);
  const type = device.type.charAt(0) + device.type.slice(1).toLowerCase().replaceAll("_", " ");
  const address = device.annotations.managementAddress ?? "";
  const tooltipLines = [device.id, type, DEVICE_STYLES[state].label, address, formatCount(hosts, "host")];
  if (state !== "conflict" && conflict) tooltipLines.push(DEVICE_STYLES.conflict.label);
  const details = hosts > 0 ? [type, formatCount(hosts, "host")] : [type];
  return {
    id: device.id,
    state,
    conflict,
    name: breakName(deviceName(device).slice(prefix)),
    details: details.map((detail) => fitLabel(detail, (MAX_NAME_EMS * NAME_PX) / DETAIL_PX)),
    tooltip: [deviceName(device), ...tooltipLines.filter((line) => line !== "")]
      .map((line) => fitLabel(line, MAX_TOOLTIP_EMS))
      .join("\n"),
  };
}

/** Breaks a long name after a separator, or where the first line is full. */
function breakName(name: string): string[] {
  const whole = fitLabel(name, 2 * MAX_NAME_EMS);
  if (textWidth(whole) <= MAX_NAME_EMS) return [whole];
  const first = fitLabel(whole, MAX_NAME_EMS).replace(/…$/, "");
  const separated = /^.*[-._: ]/u.exec(first)?.[0] ?? "";
  const line = textWidth(separated) > MAX_NAME_EMS / 3 ? separated : first;
  return [line, fitLabel(whole.slice(line.length), MAX_NAME_EMS)];
}

/** The size of all boxes of a drawing: the longest and the most lines determine it. */
export function deviceBoxSize(boxes: readonly DeviceBox[]): Size {
  let [width, height] = [MIN_WIDTH, 0];
  for (const { name, details } of boxes) {
    for (const line of name) width = Math.max(width, textWidth(line) * NAME_PX + 2 * PADDING);
    for (const line of details) width = Math.max(width, textWidth(line) * DETAIL_PX + 2 * PADDING);
    height = Math.max(height, textHeight(name.length, DETAIL_LINES) + 2 * PADDING);
  }
  return { width: Math.ceil(width), height: Math.ceil(height) };
}

const textHeight = (nameLines: number, detailLines: number): number =>
  (nameLines * NAME_PX + detailLines * DETAIL_PX) * LINE_HEIGHT;

export function renderDeviceBox(box: DeviceBox, centre: Point, size: Size): string {
  let y = centre.y - textHeight(box.name.length, box.details.length) / 2;
  const x = formatNumber(centre.x);
  const renderLine = (text: string, fontPx: number, style: string) => {
    y += fontPx * LINE_HEIGHT;
    const baseline = formatNumber(y - fontPx * 0.28);
    return `<text x="${x}" y="${baseline}" font-size="${fontPx}" ${style}>${xmlText(text)}</text>`;
  };
  const name = box.name.map((line) => renderLine(line, NAME_PX, `font-weight="600" fill="${TEXT_COLOUR}"`));
  const details = box.details.map((line) => renderLine(line, DETAIL_PX, `fill="${MUTED_TEXT_COLOUR}"`));
  return `<g><title>${xmlText(box.tooltip)}</title>${renderDeviceFrame(box.state, box.conflict, centre, size)}\
${name.join("")}${details.join("")}</g>\n`;
}

/** Draws the box without its text. The legend uses it too. */
export function renderDeviceFrame(state: DeviceState, conflict: boolean, centre: Point, size: Size): string {
  const { stroke, fill } = DEVICE_STYLES[state];
  const [left, top] = [centre.x - size.width / 2, centre.y - size.height / 2];
  const unavailable = state === "unavailable";
  const isFaulty = unavailable || state === "cutOff";
  const rectangle = (inset: number, paint: string) =>
    `<rect x="${formatNumber(left + inset)}" y="${formatNumber(top + inset)}" width="${formatNumber(size.width - 2 * inset)}" \
height="${formatNumber(size.height - 2 * inset)}" rx="${unavailable ? 0 : Math.max(2, 7 - inset)}" ${paint}/>`;
  const dashes = isFaulty ? ' stroke-dasharray="5 3"' : "";
  let frame = rectangle(0, `fill="${fill}" stroke="${stroke}" stroke-width="1.5"${dashes}`);
  if (conflict) frame += rectangle(3, `fill="none" stroke="${DEVICE_STYLES.conflict.stroke}"`);
  const right = left + size.width;
  if (unavailable) frame += renderSign({ x: right - 2, y: top + 2 }, stroke, CROSS);
  if (state === "cutOff") frame += renderSign({ x: right - 2, y: top + 2 }, stroke, MINUS);
  if (conflict) frame += renderWarning(isFaulty ? left + 2 : right - 2, top + 2);
  return frame;
}

/** The lines of signs: where they begin, relative to the centre, and the rest of the path. */
const CROSS = { x: -3, y: -3, path: "l6 6m0 -6l-6 6" } as const;
const MINUS = { x: -4, y: 0, path: "h8" } as const;

function renderSign({ x, y }: Point, colour: string, sign: typeof CROSS | typeof MINUS): string {
  const lines = `M${formatPoint({ x: x + sign.x, y: y + sign.y })}${sign.path}`;
  return `<circle cx="${formatNumber(x)}" cy="${formatNumber(y)}" r="7" fill="${colour}"/>\
<path d="${lines}" stroke="#fff" stroke-width="2" fill="none"/>`;
}

function renderWarning(x: number, y: number): string {
  return `<path d="M${formatPoint({ x, y: y - 8 })}l8.5 14.5h-17z" fill="${DEVICE_STYLES.conflict.stroke}"/>\
<path d="M${formatPoint({ x, y: y - 3 })}v4.6m0 1.4v1.6" stroke="#fff" stroke-width="1.7" fill="none"/>`;
}
