/**
 * Draws a rectangle with a name behind the devices of each cluster, so that a user recognises the parts of a large
 * network while zooming and panning. A network of one cluster has none.
 */
import type { Cluster } from "./clusters.ts";
import type { Palette } from "./palette.ts";
import type { Projection } from "./projection.ts";

/** The space around the devices of a cluster, in map units. */
const PADDING = { x: 44, top: 44, bottom: 46 } as const;
const NAME_GAP_PX = 7;
/** A narrower rectangle has no name. */
const MIN_NAMED_WIDTH_PX = 70;

export function drawClusterBackgrounds(
  context: CanvasRenderingContext2D,
  clusters: readonly Cluster[],
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
    const left = projection.x(cluster.left - PADDING.x);
    const right = projection.x(cluster.right + PADDING.x);
    const top = projection.y(cluster.top + PADDING.top);
    const bottom = projection.y(cluster.bottom - PADDING.bottom);
    if (right < 0 || left > width || bottom < 0 || top > height) continue;
    context.beginPath();
    context.roundRect(left, top, right - left, bottom - top, Math.min(14, (right - left) / 8));
    context.fill();
    context.stroke();
  }
  const fontSize = Math.min(15, Math.max(10, projection.spacingPx * 0.17));
  context.font = `500 ${fontSize}px system-ui, "Segoe UI", sans-serif`;
  context.fillStyle = palette.clusterText;
  for (const cluster of clusters) {
    const left = projection.x(cluster.left - PADDING.x);
    const clusterWidth = projection.x(cluster.right + PADDING.x) - left;
    const top = projection.y(cluster.top + PADDING.top);
    const isOutside = left > width || left + clusterWidth < 0 || top > height || top < -30;
    if (clusterWidth < MIN_NAMED_WIDTH_PX || isOutside) continue;
    const name = truncateText(context, cluster.name, clusterWidth - 16);
    // Above the rectangle where the first row of devices leaves no space in it.
    const space = PADDING.top * projection.scale - projection.radiusPx;
    const isInside = space > fontSize + NAME_GAP_PX * 2;
    context.fillText(name, left + 9, isInside ? top + NAME_GAP_PX : top - fontSize - 3);
  }
}

export function truncateText(context: CanvasRenderingContext2D, text: string, maxWidth: number): string {
  if (context.measureText(text).width <= maxWidth) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > maxWidth) end--;
  return `${text.slice(0, end)}…`;
}
