/**
 * The backgrounds behind devices: a rectangle with a name for each cluster, so that a user recognises the parts of a large
 * network while zooming and panning, and the boxes that a user or a view of the configuration puts around devices.
 */

import { CLUSTER_PADDING } from "../../layout/map-layout.ts";
import { appendTo } from "../../lib/multimap.ts";
import type { GroupBox } from "../../model/map-view.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { type Bounds, boundsOf, type MapPoint, type Projection } from "./geometry.ts";
import type { MapCluster, MapPosition } from "./map-clusters.ts";
import type { Palette } from "./palette.ts";

const NAME_GAP_PX = 7;
/** The minimum width of a rectangle whose name is drawn. */
const MIN_NAMED_CLUSTER_PX = 70;

export function drawClusterBackgrounds(
  context: CanvasRenderingContext2D,
  clusters: readonly MapCluster[],
  projection: Projection,
  palette: Palette,
): void {
  const { width, height } = projection;
  if (clusters.length < 2) return;
  context.fillStyle = palette.clusterFill;
  context.strokeStyle = palette.clusterBorder;
  context.lineWidth = 1;
  context.textAlign = "left";
  context.textBaseline = "top";
  for (const cluster of clusters) {
    const left = projection.x(cluster.left - CLUSTER_PADDING.x);
    const right = projection.x(cluster.right + CLUSTER_PADDING.x);
    const top = projection.y(cluster.top + CLUSTER_PADDING.top);
    const bottom = projection.y(cluster.bottom - CLUSTER_PADDING.bottom);
    if (right < 0 || left > width || bottom < 0 || top > height) continue;
    context.beginPath();
    context.roundRect(left, top, right - left, bottom - top, Math.min(14, (right - left) / 8));
    context.fill();
    context.stroke();
  }
  context.font = `500 ${titleSizePx(projection)}px system-ui, "Segoe UI", sans-serif`;
  context.fillStyle = palette.clusterText;
  for (const cluster of clusters) {
    const title = titleArea(cluster, projection);
    if (!title || title.x > width || title.x + title.width < 0 || title.y > height || title.y < -30) continue;
    context.fillText(truncateText(context, cluster.name, title.width), title.x, title.y);
  }
}

const titleSizePx = ({ spacingPx }: Projection): number => Math.min(15, Math.max(10, spacingPx * 0.17));

/** Where the title of a cluster may be, in pixels; undefined when the rectangle is too narrow for it. */
function titleArea(cluster: MapCluster, projection: Projection) {
  const left = projection.x(cluster.left - CLUSTER_PADDING.x);
  const clusterWidth = projection.x(cluster.right + CLUSTER_PADDING.x) - left;
  if (clusterWidth < MIN_NAMED_CLUSTER_PX) return undefined;
  const top = projection.y(cluster.top + CLUSTER_PADDING.top);
  const height = titleSizePx(projection);
  // The name is drawn above the rectangle when the first row of devices leaves no space in it.
  const space = CLUSTER_PADDING.top * projection.scale - projection.radiusPx;
  const isInside = space > height + NAME_GAP_PX * 2;
  return {
    x: left + 9,
    y: isInside ? top + NAME_GAP_PX : top - height - 3,
    width: clusterWidth - 16,
    height,
  };
}

/** The distance from a title within which the pointer counts as on it. */
const TITLE_TOLERANCE_PX = 4;

/** The cluster whose title is at the point. */
export function titleAt(
  clusters: readonly MapCluster[],
  projection: Projection,
  { x, y }: MapPoint,
): MapCluster | undefined {
  if (clusters.length < 2) return undefined;
  return clusters.find((cluster) => {
    const title = titleArea(cluster, projection);
    if (!title || x < title.x || x > title.x + title.width) return false;
    return y >= title.y - TITLE_TOLERANCE_PX && y <= title.y + title.height + TITLE_TOLERANCE_PX;
  });
}

function truncateText(context: CanvasRenderingContext2D, text: string, maxWidth: number): string {
  if (context.measureText(text).width <= maxWidth) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > maxWidth) end--;
  return `${text.slice(0, end)}…`;
}

/** A box to be drawn, in map units; y points upwards. */
export interface GroupShape extends Bounds {
  readonly title: string;
}

/** The space around the devices of a box, in map units. The title needs more of it at the top. */
const BOX_PADDING = { x: 34, top: 40, bottom: 36 } as const;
const MIN_NAMED_BOX_PX = 40;
const CORNER_PX = 6;

type Positions = ReadonlyMap<string, MapPosition>;

/**
 * The boxes with a title that a user or a view of the configuration puts behind devices: around the devices of each
 * value of an annotation, or around listed devices. Yields now and then, so that the caller can pause. A box without a
 * placed device is left out.
 */
export function* groupShapes(
  groups: readonly GroupBox[],
  network: PageNetwork,
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
  // Larger boxes are drawn first, because a smaller box may be within a larger one.
  return shapes.sort((a, b) => areaOf(b) - areaOf(a));
}

function* membersByValue(
  annotation: string,
  network: PageNetwork,
  positions: Positions,
): Generator<void, Map<string, MapPoint[]>> {
  const members = new Map<string, MapPoint[]>();
  for (const { id, annotations } of network.devices.values()) {
    yield;
    const [value, position] = [annotations[annotation]?.trim(), positions.get(id)];
    if (value && position) appendTo(members, value, position);
  }
  return members;
}

function around(title: string, points: readonly MapPoint[]): GroupShape {
  const { left, right, bottom, top } = boundsOf(points);
  return {
    title,
    left: left - BOX_PADDING.x,
    right: right + BOX_PADDING.x,
    bottom: bottom - BOX_PADDING.bottom,
    top: top + BOX_PADDING.top,
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
    if (right - left < MIN_NAMED_BOX_PX) continue;
    context.fillStyle = palette.text;
    context.fillText(truncateText(context, shape.title, right - left - 14), left + 7, top + 6);
  }
}
