/** Finds the device that lies next to another in a direction, for the keys of the map. */
import type { MapPoint } from "./projection.ts";

/** A device counts as in the direction of a key within this angle: four of them cover everything. */
const MAX_ANGLE = Math.PI / 4 + 0.001;

interface PlacedDevice {
  readonly device: { readonly id: string };
  readonly position: MapPoint;
}

/** The device in the direction, of those that a cable leads to or else of all: the nearest, with few degrees aside. */
export function nextDevice(
  from: PlacedDevice,
  devices: Iterable<PlacedDevice>,
  isNeighbour: (id: string) => boolean,
  direction: MapPoint,
): string | undefined {
  let best: { readonly id: string; readonly cost: number; readonly near: boolean } | undefined;
  for (const { device, position } of devices) {
    const [dx, dy] = [position.x - from.position.x, position.y - from.position.y];
    const distance = Math.hypot(dx, dy);
    if (device.id === from.device.id || distance === 0) continue;
    const near = isNeighbour(device.id);
    if (best?.near && !near) continue;
    const angle = Math.acos(Math.min(1, (dx * direction.x + dy * direction.y) / distance));
    // A cable to the next row is often flatter than the arrow.
    if (angle > (near ? MAX_ANGLE * 1.6 : MAX_ANGLE)) continue;
    const cost = distance * (1 + angle);
    if (!best || (near && !best.near) || cost < best.cost) best = { id: device.id, cost, near };
  }
  return best?.id;
}
