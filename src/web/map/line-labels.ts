/**
 * The texts on lines, where there is space: the number of cables of a bundle and the value of an overlay in the middle, and
 * at a close zoom the name and speed of the port at both ends.
 */

import type { LinkOverlay } from "../data/link-overlay.ts";
import { overlayText, overlayValue } from "../data/link-overlay.ts";
import type { BundleItem } from "./device-scene.ts";
import type { Bounds, Projection } from "./geometry.ts";
import { lengthOf, pointAt } from "./geometry.ts";
import { type OccupiedCells, textWidth } from "./labels.ts";
import type { Palette } from "./palette.ts";
import { formatSpeed, type PortFact } from "./port-cache.ts";

/** The smallest spacing of devices at which the texts in the middle and those of ports are drawn. */
const COUNT_SPACING_PX = 30;
const PORT_SPACING_PX = 90;
const FONT = '10px system-ui, "Segoe UI", sans-serif';
const TEXT_HEIGHT_PX = 12;
/** The distance of the text of a port from the outline of its device. */
const PORT_GAP_PX = 10;
const MAX_SHIFT_PX = 60;
const MAX_TEXTS = 400;

interface LineLabelOptions {
  readonly overlay: LinkOverlay | undefined;
  readonly port: (device: string, port: string) => PortFact | undefined;
}

export function drawLineLabels(
  context: CanvasRenderingContext2D,
  items: Iterable<BundleItem>,
  projection: Projection,
  palette: Palette,
  occupied: OccupiedCells,
  { overlay, port }: LineLabelOptions,
): number {
  if (projection.spacingPx < COUNT_SPACING_PX) return 0;
  context.font = FONT;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.strokeStyle = palette.background;
  // The outline is wide enough that the line does not show between the words.
  context.lineWidth = 6;
  context.lineJoin = "round";
  const [start, end] = [
    projection.toMap({ x: 0, y: projection.height }),
    projection.toMap({ x: projection.width, y: 0 }),
  ];
  const view = { left: start.x, right: end.x, bottom: start.y, top: end.y };
  let drawn = 0;
  /** Draws a text. Returns false if another text is in its place. */
  const draw = (text: string, mapX: number, mapY: number, color: string): boolean => {
    const [x, y] = [projection.x(mapX), projection.y(mapY)];
    const halfWidth = textWidth(context, text) / 2 + 2;
    const isInView = x > -halfWidth && y > 0 && x < projection.width + halfWidth && y < projection.height;
    if (text === "" || !isInView || drawn >= MAX_TEXTS) return true;
    const half = TEXT_HEIGHT_PX / 2;
    if (!occupied.occupy(x - halfWidth, y - half, x + halfWidth, y + half)) return false;
    drawn++;
    context.strokeText(text, x, y);
    context.fillStyle = color;
    context.fillText(text, x, y);
    return true;
  };
  const isClose = projection.spacingPx >= PORT_SPACING_PX;
  const inView: BundleItem[] = [];
  for (const item of items) if (!isOutside(item.points, view)) inView.push(item);
  // The bundles are sorted, so that a cable that returns does not move the texts of others. At a close zoom they are few.
  if (isClose) inView.sort(byEnds);
  for (const { bundle, points } of overlay ? byValue(inView, overlay) : inView) {
    const { cables } = bundle;
    const value = overlayValue(overlay, bundle);
    const count = cables.length > 1 ? `×${cables.length}` : "";
    const text =
      overlay && value !== undefined ? [overlayText(overlay, value), count].join(" ").trim() : count;
    if (text === "") continue;
    const middle = pointAt(points, lengthOf(points) / 2);
    draw(text, middle.x, middle.y, palette.text);
  }
  // The texts of ports come after those of all lines, so that they do not take the place of a value.
  for (const { bundle, points, emphasis } of isClose ? inView : []) {
    if (emphasis.highlighted === false) continue;
    const { a, b, cables } = bundle;
    const color = emphasis.selected || emphasis.onPath ? palette.text : palette.muted;
    const length = lengthOf(points);
    const gap = (projection.radiusPx + PORT_GAP_PX) / projection.scale;
    for (const [device, distance] of [
      [a, gap],
      [b, length - gap],
    ] as const) {
      const textAtEnd = portText(device, cables, port);
      // The text is far enough along the line that it does not cover the device.
      const { dx } = pointAt(points, distance);
      const inward = (Math.abs(dx) * textWidth(context, textAtEnd)) / 2 / projection.scale;
      // If another text is in the way, the text moves further along the line.
      for (let shift = 0; shift <= MAX_SHIFT_PX; shift += TEXT_HEIGHT_PX) {
        const fromEnd = gap + inward + shift / projection.scale;
        if (fromEnd * 2 > length) break;
        const point = pointAt(points, device === a ? fromEnd : length - fromEnd);
        if (draw(textAtEnd, point.x, point.y, color)) break;
      }
    }
  }
  return drawn;
}

/** The items in order of their values, the highest first, because there is not space for every text. */
export function byValue<T extends Pick<BundleItem, "bundle">>(
  items: readonly T[],
  overlay: LinkOverlay,
): T[] {
  const values = new Map(
    items.map((item) => [item, overlayValue(overlay, item.bundle) ?? Number.NEGATIVE_INFINITY]),
  );
  const metricOf = (item: T) => values.get(item) ?? Number.NEGATIVE_INFINITY;
  return items.toSorted((p, q) => (metricOf(p) === metricOf(q) ? 0 : metricOf(q) - metricOf(p)));
}

const byEnds = ({ bundle: p }: BundleItem, { bundle: q }: BundleItem): number =>
  (p.a === q.a ? p.b < q.b : p.a < q.a) ? -1 : 1;

/** The name and speed of a port, such as `eth1 10G`. For several cables it is the first port, with `…`. */
function portText(
  device: string,
  cables: BundleItem["bundle"]["cables"],
  port: LineLabelOptions["port"],
): string {
  const [cable] = cables;
  if (!cable) return "";
  const end = cable.from.device === device ? cable.from : cable.to;
  const fact = port(device, end.port);
  const name = (fact?.name ?? end.port) + (cables.length > 1 ? "…" : "");
  return `${name} ${formatSpeed(fact?.speed ?? 0)}`.trim();
}

function isOutside(points: Float64Array, view: Bounds): boolean {
  let [left, right, below, above] = [true, true, true, true];
  for (let i = 0; i < points.length; i += 2) {
    const [x = 0, y = 0] = [points[i], points[i + 1]];
    left &&= x < view.left;
    right &&= x > view.right;
    below &&= y < view.bottom;
    above &&= y > view.top;
  }
  return left || right || below || above;
}
