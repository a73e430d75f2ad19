/** Converts map units to pixels of the viewport for the current camera. The camera never rotates. */
import type Sigma from "sigma";
import { SPACING } from "../layout/map-layout.ts";

export interface Projection {
  /** The size of the viewport in pixels. */
  readonly width: number;
  readonly height: number;
  /** The distance between neighbouring devices. */
  readonly spacingPx: number;
  /** The radius of a device. */
  readonly radiusPx: number;
  x(x: number): number;
  y(y: number): number;
}

export const MIN_RADIUS_PX = 2.4;
const MAX_RADIUS_PX = 12;
export const deviceRadiusPx = (spacingPx: number): number =>
  Math.min(MAX_RADIUS_PX, Math.max(MIN_RADIUS_PX, spacingPx * 0.13));

/** The distance of the two points that give the scale, in map units. */
const SAMPLE_DISTANCE = 1000;

export function projectionOf(
  renderer: Pick<Sigma, "graphToViewport" | "getDimensions" | "getCamera">,
): Projection {
  // Passed explicitly: without it the renderer uses the camera of its last frame.
  const camera = { cameraState: renderer.getCamera().getState() };
  const origin = renderer.graphToViewport({ x: 0, y: 0 }, camera);
  const sample = renderer.graphToViewport({ x: SAMPLE_DISTANCE, y: SAMPLE_DISTANCE }, camera);
  const scaleX = (sample.x - origin.x) / SAMPLE_DISTANCE;
  const scaleY = (sample.y - origin.y) / SAMPLE_DISTANCE;
  const spacingPx = SPACING.width * scaleX;
  return {
    ...renderer.getDimensions(),
    spacingPx,
    radiusPx: deviceRadiusPx(spacingPx),
    x: (x) => origin.x + x * scaleX,
    y: (y) => origin.y + y * scaleY,
  };
}
