/** From the map's coordinates to pixels of the screen, as the camera stands: a scale and a shift, since it never turns. */
import type Sigma from "sigma";
import { SPACING } from "../layout/map-layout.ts";

export interface Projection {
  readonly width: number;
  readonly height: number;
  /** Pixels between neighbouring devices. */
  readonly spacing: number;
  /** Of a device as drawn, in pixels. */
  readonly radius: number;
  x(x: number): number;
  y(y: number): number;
}

export const SMALLEST_RADIUS = 2.4;
/** Devices grow with the room they have, within what is still visible and not yet clumsy. */
export const radiusFor = (spacing: number): number => Math.min(12, Math.max(SMALLEST_RADIUS, spacing * 0.13));

const REACH = 1000;

export function projectionOf(
  renderer: Pick<Sigma, "graphToViewport" | "getDimensions" | "getCamera">,
): Projection {
  // Named, so that it is right at once and not only after the next frame.
  const camera = { cameraState: renderer.getCamera().getState() };
  const origin = renderer.graphToViewport({ x: 0, y: 0 }, camera);
  const far = renderer.graphToViewport({ x: REACH, y: REACH }, camera);
  const scaleX = (far.x - origin.x) / REACH;
  const scaleY = (far.y - origin.y) / REACH;
  const spacing = SPACING.width * scaleX;
  return {
    ...renderer.getDimensions(),
    spacing,
    radius: radiusFor(spacing),
    x: (x) => origin.x + x * scaleX,
    y: (y) => origin.y + y * scaleY,
  };
}
