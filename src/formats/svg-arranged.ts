/**
 * What a user has arranged on the map, in a drawing: the positions of devices, boxes with titles, and below them a picture
 * and coasts.
 * The page draws it; the service knows no arrangements. All of it is enlarged by one factor, so that a picture keeps its
 * shape and devices stay where they are on it.
 */

import type { Point, Size } from "../layout/adjacency.ts";
import { formatNumber, formatPoint, MUTED_TEXT_COLOUR, TEXT_COLOUR } from "./drawing-style.ts";
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
  /** `href` is a `data:` address. */
  readonly picture?: (Area & { readonly href: string }) | undefined;
  /** Closed lines, of which the part within the drawing is visible. */
  readonly coastline?: readonly (readonly Point[])[] | undefined;
}

const TITLE_PX = 12;
/** The share of the space of a device that its sign on the map takes, to each side. */
const SIGN_SHARE = 0.2;

/** In the units of the drawing. Devices that do not overlap on the map have boxes that do not. */
export function scaleArranged(arranged: Arranged, spacing: Size, boxSize: Size): Arranged {
  const factor = Math.max(spacing.width / arranged.spacing.width, spacing.height / arranged.spacing.height);
  // A box that is wider than the sign of a device on the map would reach out of its group.
  const wider = Math.max(0, boxSize.width / 2 - arranged.spacing.width * factor * SIGN_SHARE);
  const scale = <T extends Area>(area: T, margin: number): T => ({
    ...area,
    left: area.left * factor - margin,
    top: area.top * factor,
    right: area.right * factor + margin,
    bottom: area.bottom * factor,
  });
  return {
    positions: new Map(
      [...arranged.positions].map(([id, { x, y }]) => [id, { x: x * factor, y: y * factor }]),
    ),
    spacing,
    groups: arranged.groups.map((group) => scale(group, wider)),
    picture: arranged.picture && scale(arranged.picture, 0),
    coastline: arranged.coastline?.map((line) => line.map(({ x, y }) => ({ x: x * factor, y: y * factor }))),
  };
}

/** What is drawn below cables and devices; `area` is that of the drawing. */
export function* renderArranged({ groups, picture, coastline }: Arranged, area: Area): Generator<string> {
  if (coastline) yield* renderCoastline(coastline, area);
  if (picture)
    yield `<image ${areaAttributes(picture)} preserveAspectRatio="none" href="${xmlText(picture.href)}"/>\n`;
  for (const group of groups) {
    yield `<rect ${areaAttributes(group)} rx="8" fill="#eef3f7" fill-opacity="0.6" stroke="${MUTED_TEXT_COLOUR}"/>\n`;
    yield `<text x="${formatNumber(group.left + 8)}" y="${formatNumber(group.top + TITLE_PX + 6)}" \
font-size="${TITLE_PX}" font-weight="600" fill="${TEXT_COLOUR}">${xmlText(group.title)}</text>\n`;
  }
}

/** An inner document shows nothing outside its area, without a clip path, which would be a reference. */
function* renderCoastline(lines: readonly (readonly Point[])[], area: Area): Generator<string> {
  const viewBox = [area.left, area.top, area.right - area.left, area.bottom - area.top].map(formatNumber);
  yield `<svg ${areaAttributes(area)} viewBox="${viewBox.join(" ")}" overflow="hidden">`;
  yield '<path fill="#f1f4f0" fill-rule="evenodd" stroke="#b3c0c9" d="';
  for (const line of lines) if (isWithin(line, area)) yield `M${line.map(formatPoint).join("L")}Z`;
  yield '"/></svg>\n';
}

function isWithin(line: readonly Point[], { left, top, right, bottom }: Area): boolean {
  const some = (test: (point: Point) => boolean) => line.some(test);
  return (
    some(({ x }) => x >= left) &&
    some(({ x }) => x <= right) &&
    some(({ y }) => y >= top) &&
    some(({ y }) => y <= bottom)
  );
}

function areaAttributes({ left, top, right, bottom }: Area): string {
  const [x, y, width, height] = [left, top, right - left, bottom - top].map(formatNumber);
  return `x="${x}" y="${y}" width="${width}" height="${height}"`;
}
