/**
 * Finds the node or edge under the pointer from its position, in microseconds. The renderer's own method is much
 * slower: it draws the whole graph a second time, with a colour for each element, and reads a pixel back.
 */

import { isHostNode } from "./device-graph.ts";
import type { Label } from "./label-draw.ts";
import type { Projection } from "./projection.ts";
import type { RenderGraph } from "./render-graph.ts";

/** A pointer within this distance of an element counts as on it. */
const NODE_TOLERANCE_PX = 4;
const EDGE_TOLERANCE_PX = 5;
/** The width of a card relative to its height. */
const CARD_ASPECT_RATIO = 1.4;

export interface ViewportPoint {
  readonly x: number;
  readonly y: number;
}

/** The nearest node whose shape contains the point. It searches the labels, because every drawn node has one. */
export function nodeAt(
  labels: readonly Label[],
  projection: Projection,
  { x, y }: ViewportPoint,
): string | undefined {
  let [nearest, nearestDistance]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const label of labels) {
    const [dx, dy] = [Math.abs(projection.x(label.x) - x), Math.abs(projection.y(label.y) - y)];
    const halfHeight = projection.radiusPx * label.size + NODE_TOLERANCE_PX;
    const halfWidth = label.centred ? halfHeight * CARD_ASPECT_RATIO : halfHeight;
    const distance = Math.hypot(dx, dy);
    if (dx > halfWidth || dy > halfHeight || distance >= nearestDistance) continue;
    [nearest, nearestDistance] = [label.nodeId, distance];
  }
  return nearest;
}

/** The nearest edge of a cable within the tolerance. */
export function edgeAt(graph: RenderGraph, projection: Projection, point: ViewportPoint): string | undefined {
  let [nearest, nearestDistance]: [string | undefined, number] = [undefined, EDGE_TOLERANCE_PX];
  graph.forEachEdge((edge, { offset }, _source, _target, from, to) => {
    if (isHostNode(edge)) return;
    const start = { x: projection.x(from.x), y: projection.y(from.y) };
    const end = { x: projection.x(to.x), y: projection.y(to.y) };
    const distance = distanceToSegment(point, start, end, offset);
    if (distance >= nearestDistance) return;
    [nearest, nearestDistance] = [edge, distance];
  });
  return nearest;
}

/** `offset` is the distance in pixels at which a parallel cable is drawn beside the straight line. */
function distanceToSegment(
  point: ViewportPoint,
  start: ViewportPoint,
  end: ViewportPoint,
  offset: number,
): number {
  const [segmentX, segmentY] = [end.x - start.x, end.y - start.y];
  const length = Math.hypot(segmentX, segmentY) || 1;
  // The normal has the opposite sign of that in the shader, because y points down here and up there.
  const [offsetX, offsetY] = [(segmentY / length) * offset, (-segmentX / length) * offset];
  const [dx, dy] = [point.x - start.x - offsetX, point.y - start.y - offsetY];
  const along = Math.min(1, Math.max(0, (dx * segmentX + dy * segmentY) / (length * length)));
  return Math.hypot(dx - along * segmentX, dy - along * segmentY);
}
