/**
 * The boxes with a title that a user or a view of the configuration puts behind devices: around the devices of each value of
 * an annotation, or around listed devices.
 */
import type { GroupBox } from "../../model/map-view.ts";
import type { Network } from "../data/loaded-network.ts";
import { type Bounds, boundsOf } from "./bounds.ts";
import { truncateText } from "./cluster-background.ts";
import type { MapPosition } from "./clusters.ts";
import type { Palette } from "./palette.ts";
import type { MapPoint, Projection } from "./projection.ts";

/** In map units, y upwards. */
export interface GroupShape extends Bounds {
  readonly title: string;
}

/** The space around the devices of a box, in map units. The title needs more of it at the top. */
const PADDING = { x: 34, top: 40, bottom: 36 } as const;
const MIN_NAMED_WIDTH_PX = 40;
const CORNER_PX = 6;

type Positions = ReadonlyMap<string, MapPosition>;

/** Yields now and then, so that the caller can pause. A box without a placed device is left out. */
export function* groupShapes(
  groups: readonly GroupBox[],
  network: Network,
  positions: Positions,
): Generator<void, readonly GroupShape[]> {
  const shapes: GroupShape[] = [];
  for (const { name, annotation, devices = [] } of groups) {
    yield;
    if (annotation !== undefined) {
      const members = yield* membersByValue(annotation, network, positions);
      for (const [title, points] of members) shapes.push(around(title, points));
    } else {
      const points = devices.flatMap((id) => (network.devices.has(id) ? (positions.get(id) ?? []) : []));
      if (points.length > 0) shapes.push(around(name, points));
    }
  }
  // A smaller box may be within a larger one.
  return shapes.sort((a, b) => areaOf(b) - areaOf(a));
}

function* membersByValue(
  annotation: string,
  network: Network,
  positions: Positions,
): Generator<void, Map<string, MapPoint[]>> {
  const members = new Map<string, MapPoint[]>();
  for (const { id, annotations } of network.devices.values()) {
    yield;
    const [value, position] = [annotations[annotation]?.trim(), positions.get(id)];
    if (!value || !position) continue;
    const points = members.get(value);
    if (points) points.push(position);
    else members.set(value, [position]);
  }
  return members;
}

function around(title: string, points: readonly MapPoint[]): GroupShape {
  const { left, right, bottom, top } = boundsOf(points);
  return {
    title,
    left: left - PADDING.x,
    right: right + PADDING.x,
    bottom: bottom - PADDING.bottom,
    top: top + PADDING.top,
  };
}

const areaOf = ({ left, right, bottom, top }: Bounds): number => (right - left) * (top - bottom);

export function drawGroupBoxes(
  context: CanvasRenderingContext2D,
  shapes: readonly GroupShape[],
  projection: Projection,
  palette: Palette,
): void {
  const { width, height } = projection;
  const fontSize = Math.min(14, Math.max(10, projection.spacingPx * 0.16));
  context.font = `600 ${fontSize}px system-ui, "Segoe UI", sans-serif`;
  context.textAlign = "left";
  context.textBaseline = "top";
  context.lineWidth = 1.5;
  for (const shape of shapes) {
    const [left, right] = [projection.x(shape.left), projection.x(shape.right)];
    const [top, bottom] = [projection.y(shape.top), projection.y(shape.bottom)];
    if (right < 0 || left > width || bottom < 0 || top > height) continue;
    context.beginPath();
    context.roundRect(left, top, right - left, bottom - top, CORNER_PX);
    context.globalAlpha = 0.06;
    context.fillStyle = palette.accent;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = palette.line;
    context.stroke();
    if (right - left < MIN_NAMED_WIDTH_PX) continue;
    context.fillStyle = palette.text;
    context.fillText(truncateText(context, shape.title, right - left - 14), left + 7, top + 6);
  }
}
