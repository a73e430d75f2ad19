/** Converts map units, y upwards, to pixels of the viewport, y downwards, and back. The map never rotates. */
import { SPACING } from "../layout/map-layout.ts";

export interface MapPoint {
  readonly x: number;
  readonly y: number;
}

/** Where the map looks: the centre, and the length in map units of the shorter side of the viewport. */
export interface CameraPosition extends MapPoint {
  readonly span: number;
}

export interface Projection {
  /** The size of the viewport in pixels. */
  readonly width: number;
  readonly height: number;
  readonly centre: MapPoint;
  /** Pixels for a map unit. */
  readonly scale: number;
  /** The distance between neighbouring devices. */
  readonly spacingPx: number;
  /** The radius of a device. */
  readonly radiusPx: number;
  x(x: number): number;
  y(y: number): number;
  toMap(pixel: MapPoint): MapPoint;
}

const MIN_RADIUS_PX = 2.4;
const MAX_RADIUS_PX = 12;

export function createProjection({ x, y, span }: CameraPosition, width: number, height: number): Projection {
  const scale = Math.max(1, Math.min(width, height)) / span;
  const spacingPx = SPACING.width * scale;
  return {
    width,
    height,
    centre: { x, y },
    scale,
    spacingPx,
    radiusPx: Math.min(MAX_RADIUS_PX, Math.max(MIN_RADIUS_PX, spacingPx * 0.13)),
    x: (mapX) => width / 2 + (mapX - x) * scale,
    y: (mapY) => height / 2 - (mapY - y) * scale,
    toMap: (pixel) => ({ x: x + (pixel.x - width / 2) / scale, y: y - (pixel.y - height / 2) / scale }),
  };
}
