/** What lies under the network: a plate for each block, with its name, so that the eye has places to return to. */
import type { Block } from "./clusters.ts";
import type { Palette } from "./palette.ts";
import type { Projection } from "./projection.ts";

/** In the map's units, around the devices of a block. */
const PAD = { x: 44, top: 44, bottom: 46 } as const;
const SMALLEST_NAMED = 70;

export function drawGround(
  context: CanvasRenderingContext2D,
  blocks: readonly Block[],
  projection: Projection,
  palette: Palette,
): void {
  const { width, height } = projection;
  context.clearRect(0, 0, width, height);
  if (blocks.length < 2) return;
  context.fillStyle = palette.plate;
  context.strokeStyle = palette.plateEdge;
  context.lineWidth = 1;
  context.textAlign = "left";
  context.textBaseline = "top";
  for (const block of blocks) {
    const left = projection.x(block.left - PAD.x);
    const right = projection.x(block.right + PAD.x);
    const top = projection.y(block.top + PAD.top);
    const bottom = projection.y(block.bottom - PAD.bottom);
    if (right < 0 || left > width || bottom < 0 || top > height) continue;
    context.beginPath();
    context.roundRect(left, top, right - left, bottom - top, Math.min(14, (right - left) / 8));
    context.fill();
    context.stroke();
  }
  const size = Math.min(15, Math.max(10, projection.spacing * 0.17));
  context.font = `500 ${size}px system-ui, "Segoe UI", sans-serif`;
  context.fillStyle = palette.plateText;
  for (const block of blocks) {
    const left = projection.x(block.left - PAD.x);
    const room = projection.x(block.right + PAD.x) - left;
    if (room < SMALLEST_NAMED) continue;
    const name = fitted(context, block.name, room - 16);
    context.fillText(name, left + 9, projection.y(block.top + PAD.top) + 7);
  }
}

function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > room) end--;
  return `${text.slice(0, end)}…`;
}
