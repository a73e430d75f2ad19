/**
 * The keys of the map: arrows move it, with Shift they move the selection to the next device in that direction. A device
 * that a cable leads to comes before one that is only nearby, so that the keys follow the network.
 */
import type { EntityRef } from "../state.ts";
import type { NetworkMap } from "./map.ts";
import type { MapPoint } from "./projection.ts";

export const ZOOM_IN = 0.6;
export const ZOOM_OUT = 1.7;
/** A device counts as in the direction of a key within this angle: four of them cover everything. */
const MAX_ANGLE = Math.PI / 4 + 0.001;

/** Unit vectors, y upwards. */
const DIRECTIONS: Readonly<Record<string, MapPoint>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: 1 },
  ArrowDown: { x: 0, y: -1 },
};

export interface KeyActions {
  readonly selected: EntityRef | undefined;
  select(ref: EntityRef | undefined): void;
  /** Moves the focus to the details of what is selected. */
  open(): void;
}

export function handleMapKey(event: KeyboardEvent, map: NetworkMap, actions: KeyActions): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const run = event.shiftKey ? selectionKey(event.key, map, actions) : plainKey(event.key, map, actions);
  if (!run) return;
  event.preventDefault();
  run();
}

function plainKey(key: string, map: NetworkMap, { selected, select, open }: KeyActions) {
  const direction = DIRECTIONS[key];
  if (direction) return () => map.pan(direction.x, direction.y);
  if (key === "Enter") return selected && open;
  const keys: Readonly<Record<string, () => void>> = {
    "+": () => map.zoom(ZOOM_IN),
    "=": () => map.zoom(ZOOM_IN),
    "-": () => map.zoom(ZOOM_OUT),
    "0": () => map.fitAll(),
    Escape: () => select(undefined),
  };
  return keys[key];
}

function selectionKey(key: string, map: NetworkMap, { selected, select }: KeyActions) {
  const direction = DIRECTIONS[key];
  // On some keyboards plus is typed with Shift.
  if (!direction) return key === "+" ? () => map.zoom(ZOOM_IN) : undefined;
  return () => {
    const id = map.deviceTowards(selected, direction);
    if (id !== undefined) select({ kind: "devices", id });
  };
}

export interface PlacedDevice {
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
