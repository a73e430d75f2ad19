/** The legend at the bottom of the drawing: one row for the states of devices, one for those of cables. */

import type { Point, Size } from "../layout/adjacency.ts";
import {
  CABLE_STYLES,
  type CableState,
  DEVICE_STYLES,
  type DeviceState,
  formatPoint,
  MUTED_TEXT_COLOUR,
  TEXT_COLOUR,
} from "./drawing-style.ts";
import { cableAttributes } from "./svg-cable.ts";
import { renderArrow, renderCross } from "./svg-cable-sign.ts";
import { renderDeviceFrame } from "./svg-device.ts";

export const LEGEND_SIZE: Size = { width: 860, height: 64 };

const SAMPLE_SIZE: Size = { width: 30, height: 18 };
const FIRST_COLUMN_X = 72;
const ROW_HEIGHT = 32;
const DEVICE_COLUMN_WIDTH = 160;
const DEVICE_COLUMNS: readonly DeviceState[] = ["available", "unavailable", "conflict"];
const CABLE_COLUMNS: readonly (readonly [state: CableState, width: number])[] = [
  ["active", 100],
  ["unverified", 178],
  ["inactive", 112],
  ["conflict", 176],
];

/** Of the column "one direction only". */
const ONE_WAY_WIDTH = 150;

/** The network of the service has no lost links; only a drawing that has some explains them. */
export function renderLegend(topLeft: Point, hasLost: boolean): string {
  const deviceRow = topLeft.y + 22;
  const cableRow = deviceRow + ROW_HEIGHT;
  let svg = `<g font-size="11" fill="${TEXT_COLOUR}">\n`;
  svg += `<path d="M${formatPoint(topLeft)}h${LEGEND_SIZE.width}" stroke="#d5dce2"/>\n`;
  svg += renderText(topLeft.x, deviceRow, "Devices", true) + renderText(topLeft.x, cableRow, "Links", true);
  let x = topLeft.x + FIRST_COLUMN_X;
  for (const state of DEVICE_COLUMNS) {
    const centre = { x: x + SAMPLE_SIZE.width / 2, y: deviceRow };
    svg += renderDeviceFrame(state, state === "conflict", centre, SAMPLE_SIZE);
    svg += renderText(x + SAMPLE_SIZE.width + 12, deviceRow, DEVICE_STYLES[state].label);
    x += DEVICE_COLUMN_WIDTH;
  }
  svg += renderText(x, deviceRow, "A host counts at the device where it was seen last.");
  x = topLeft.x + FIRST_COLUMN_X;
  for (const [state, width] of CABLE_COLUMNS) {
    svg += `<path d="M${formatPoint({ x, y: cableRow })}h${SAMPLE_SIZE.width}" ${cableAttributes(state)}/>`;
    svg += renderText(x + SAMPLE_SIZE.width + 8, cableRow, CABLE_STYLES[state].label);
    x += width;
  }
  const start = { x, y: cableRow };
  const arrow = renderArrow([start, { x: x + SAMPLE_SIZE.width, y: cableRow }], "active");
  svg += `<path d="M${formatPoint(start)}h${SAMPLE_SIZE.width}" ${cableAttributes("active")}/>${arrow}`;
  svg += renderText(x + SAMPLE_SIZE.width + 8, cableRow, "one direction only");
  if (hasLost) {
    x += ONE_WAY_WIDTH;
    const from = { x, y: cableRow };
    const cross = renderCross([from, { x: x + SAMPLE_SIZE.width, y: cableRow }]);
    svg += `<path d="M${formatPoint(from)}h${SAMPLE_SIZE.width}" ${cableAttributes("lost")}/>${cross}`;
    svg += renderText(x + SAMPLE_SIZE.width + 8, cableRow, CABLE_STYLES.lost.label);
  }
  return `${svg}</g>\n`;
}

function renderText(x: number, y: number, text: string, isHeading = false): string {
  const style = isHeading ? ' font-weight="700"' : ` fill="${MUTED_TEXT_COLOUR}"`;
  return `<text x="${x}" y="${y + 4}"${style}>${text}</text>\n`;
}
