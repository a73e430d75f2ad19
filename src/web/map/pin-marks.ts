/** Draws a pin at the upper left of each device that stays where it was put. */
import type { Palette } from "./palette.ts";
import type { Projection } from "./projection.ts";
import type { DeviceItem } from "./scene-input.ts";

/** With less space the marks would hide the devices. */
const MIN_SPACING_PX = 20;
const SIZE_PX = 5;

export function drawPinMarks(
  context: CanvasRenderingContext2D,
  pinned: Iterable<string>,
  devices: ReadonlyMap<string, DeviceItem>,
  projection: Projection,
  palette: Palette,
): void {
  const { width, height, spacingPx, radiusPx } = projection;
  if (spacingPx < MIN_SPACING_PX) return;
  context.fillStyle = palette.accent;
  context.strokeStyle = palette.accent;
  context.lineWidth = 1.5;
  for (const id of pinned) {
    const position = devices.get(id)?.position;
    if (!position) continue;
    const x = projection.x(position.x) - radiusPx - SIZE_PX;
    const y = projection.y(position.y) - radiusPx - SIZE_PX;
    if (x < -SIZE_PX || y < -SIZE_PX || x > width + SIZE_PX || y > height + SIZE_PX) continue;
    context.beginPath();
    context.arc(x, y - SIZE_PX / 2, SIZE_PX / 1.6, 0, 2 * Math.PI);
    context.fill();
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x, y + SIZE_PX);
    context.stroke();
  }
}
