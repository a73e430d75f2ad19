/** What each look means, at the foot of the picture: one row for devices, one for lines. */
import type { Point, Spacing } from "./layout/adjacency.ts";
import { DEVICE_LOOKS, type DeviceState, INK, LINE_LOOKS, type LineState, MUTED, place } from "./drawing-style.ts";
import { drawFrame } from "./svg-device.ts";
import { drawArrow, lineAttributes } from "./svg-cable.ts";

/** The room it takes. */
export const LEGEND: Spacing = { x: 860, y: 64 };

const SAMPLE: Spacing = { x: 30, y: 18 };
const FIRST_COLUMN = 72;
const ROW = 32;
const DEVICE_COLUMN = 160;

export function drawLegend(at: Point): string {
  const devices = at.y + 22;
  const lines = devices + ROW;
  let drawn = `<g font-size="11" fill="${INK}">\n`;
  drawn += `<path d="M${place({ x: at.x, y: at.y })}h${LEGEND.x}" stroke="#d5dce2"/>\n`;
  drawn += words(at.x, devices, "Devices", true) + words(at.x, lines, "Links", true);
  let x = at.x + FIRST_COLUMN;
  for (const state of ["available", "unavailable", "conflict"] as const satisfies readonly DeviceState[]) {
    drawn += drawFrame(state, state === "conflict", { x: x + SAMPLE.x / 2, y: devices }, SAMPLE);
    drawn += words(x + SAMPLE.x + 12, devices, DEVICE_LOOKS[state].words);
    x += DEVICE_COLUMN;
  }
  drawn += words(x, devices, "A host counts at the device where it was seen last.");
  x = at.x + FIRST_COLUMN;
  for (const [state, width] of LINE_COLUMNS) {
    drawn += `<path d="M${place({ x, y: lines })}h${SAMPLE.x}" ${lineAttributes(state)}/>`;
    drawn += words(x + SAMPLE.x + 8, lines, LINE_LOOKS[state].words);
    x += width;
  }
  const ends = { from: { x, y: lines }, to: { x: x + SAMPLE.x, y: lines } };
  drawn += `<path d="M${place(ends.from)}h${SAMPLE.x}" ${lineAttributes("active")}/>${drawArrow(ends, "active")}`;
  return `${drawn}${words(x + SAMPLE.x + 8, lines, "one direction only")}</g>\n`;
}

const LINE_COLUMNS: readonly (readonly [LineState, number])[] = [
  ["active", 100],
  ["unverified", 178],
  ["inactive", 112],
  ["conflict", 176],
];

function words(x: number, y: number, text: string, isHead = false): string {
  const look = isHead ? ' font-weight="700"' : ` fill="${MUTED}"`;
  return `<text x="${x}" y="${y + 4}"${look}>${text}</text>\n`;
}
