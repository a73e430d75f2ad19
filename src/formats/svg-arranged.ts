/**
 * What a user has arranged on the map, in a drawing: the positions of devices, and boxes with titles. The page draws
 * it; the service knows no arrangements. All of it is enlarged by one factor, so that devices stay where they are in their
 * boxes.
 */

import type { Point, Size } from "../layout/adjacency.ts";
import { formatNumber, MUTED_TEXT_COLOUR, TEXT_COLOUR } from "./drawing-style.ts";
import { xmlText } from "./xml.ts";

/** y downwards. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface TitledArea extends Area {
  readonly title: string;
}

export interface Arranged {
  /** The centres of devices by id. */
  readonly positions: ReadonlyMap<string, Point>;
  /** The space that a device has on the map. */
  readonly spacing: Size;
  readonly groups: readonly TitledArea[];
}

const TITLE_PX = 12;
/** The share of the space of a device that its sign on the map takes, to each side. */
const SIGN_SHARE = 0.2;

/** In the units of the drawing. Devices that do not overlap on the map have boxes that do not. */
export function scaleArranged(arranged: Arranged, spacing: Size, boxSize: Size): Arranged {
  const factor = Math.max(spacing.width / arranged.spacing.width, spacing.height / arranged.spacing.height);
  // A box that is wider than the sign of a device on the map would reach out of its group.
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

/** What is drawn below cables and devices. */
export function* renderArranged({ groups }: Arranged): Generator<string> {
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
