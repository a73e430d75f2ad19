/**
 * The camera as the address keeps it: relative to the device nearest the centre, so that it shows the same devices on
 * another screen, in another browser, or after the layout has grown.
 */
import type { Camera } from "../data/view-state.ts";
import type { CameraPosition, MapPoint } from "./projection.ts";

interface Anchor {
  readonly device: { readonly id: string };
  readonly position: MapPoint;
}

export function saveCamera(camera: CameraPosition, anchors: Iterable<Anchor>): Camera | undefined {
  let [nearest, nearestDistance]: [Anchor | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const anchor of anchors) {
    const distance = (anchor.position.x - camera.x) ** 2 + (anchor.position.y - camera.y) ** 2;
    if (distance < nearestDistance) [nearest, nearestDistance] = [anchor, distance];
  }
  if (!nearest) return undefined;
  const { device, position } = nearest;
  const round = (value: number) => Math.round(value * 100) / 100;
  return {
    device: device.id,
    dx: round(camera.x - position.x),
    dy: round(camera.y - position.y),
    span: round(camera.span),
  };
}

/** Undefined while the device has no position. */
export function restoreCamera(
  { device, dx, dy, span }: Camera,
  positions: ReadonlyMap<string, MapPoint>,
): CameraPosition | undefined {
  const position = positions.get(device);
  return position && { x: position.x + dx, y: position.y + dy, span };
}
