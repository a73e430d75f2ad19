/**
 * Moves devices while the user arranges the map: drags, the arrow keys, and the keys for pins. They apply to all devices
 * that the user chose, or to the selected one.
 */

import { SPACING } from "../../layout/map-layout.ts";
import type { PageStore } from "../data/page-store.ts";
import { deviceNameById, formatCount } from "../data/shown-names.ts";
import type { MapPoint } from "../map/geometry.ts";
import type { ArrangeHandlers } from "../map/interaction.ts";
import type { NetworkMap } from "../map/map.ts";
import { pinDevices, unpinDevices } from "./arrangement.ts";
import { NO_DEVICES } from "./arranging.ts";

/** The step of an arrow key in map units; with Shift it is a tenth. */
const STEP = { x: SPACING.width / 2, y: SPACING.height / 2 } as const;

type DevicePositions = Pick<NetworkMap, "positionOf">;

/** All points of one drag are one step of undo. */
export function createArrangeHandlers({ arranging }: PageStore, map: () => DevicePositions): ArrangeHandlers {
  let drags = 0;
  return {
    startMove(dragged) {
      const chosen = arranging.chosen.peek();
      const devices = dragged.some((device) => chosen.has(device)) ? [...dragged, ...chosen] : dragged;
      const places = placesOf(devices, map());
      const step = `drag ${drags++}`;
      return ({ x, y }) =>
        arranging.change(pinDevices(arranging.shown.peek(), moved(places, { x, y: -y })), step);
    },
    onToggle: arranging.toggleChosen,
    onChoose(devices) {
      arranging.chosen.value = new Set(devices);
    },
  };
}

type Places = ReadonlyMap<string, MapPoint>;

/** Where the map shows the devices, with y downwards as in an arrangement. Devices without a position are left out. */
function placesOf(devices: Iterable<string>, map: DevicePositions | null): Places {
  const places = new Map<string, MapPoint>();
  for (const device of devices) {
    const position = map?.positionOf(device);
    if (position) places.set(device, { x: position.x, y: -position.y });
  }
  return places;
}

const moved = (places: Places, by: MapPoint): Places =>
  new Map(Array.from(places, ([device, { x, y }]) => [device, { x: x + by.x, y: y + by.y }]));

export const selectedDevice = ({ state }: PageStore): string | undefined =>
  state.value.selected?.kind === "devices" ? state.value.selected.id : undefined;

/** The devices to which keys and buttons apply: the chosen ones, or else the selected one. */
export function devicesToMove(store: PageStore): readonly string[] {
  const chosen = store.arranging.chosen.value;
  const selected = selectedDevice(store);
  return chosen.size > 0 ? [...chosen] : selected === undefined ? [] : [selected];
}

/** The name of one device, or the number of several. */
export function nameDevices(store: PageStore, devices: readonly string[]): string {
  const network = store.network.value;
  const [only = ""] = devices;
  return devices.length === 1 && network
    ? deviceNameById(network, only)
    : formatCount(devices.length, "device");
}

/** Pins the devices where they are, or unpins them if all are pinned. */
export function togglePins(store: PageStore, map: NetworkMap | null, devices: readonly string[]): void {
  const { arranging } = store;
  const arrangement = arranging.shown.peek();
  const pinned = arranging.pinned.peek();
  const text = `${nameDevices(store, devices)} ${devices.length === 1 ? "is" : "are"}`;
  if (devices.every((device) => pinned.has(device))) {
    arranging.change(unpinDevices(arrangement, devices));
    store.notify(`${text} no longer pinned`);
    return;
  }
  const places = placesOf(devices, map);
  if (places.size === 0) return;
  arranging.change(pinDevices(arrangement, places));
  store.notify(`${text} pinned`);
}

/** Chooses all devices of the site of a device. */
export function chooseSite({ arranging }: PageStore, map: NetworkMap | null, device: string): void {
  arranging.chosen.value = new Set(map?.devicesOfSite(device));
}

export function undo({ arranging, notify }: PageStore): void {
  if (!arranging.canUndo.peek()) return;
  arranging.undo();
  notify("Undone");
}

/** Handles a key while the user arranges the map. Returns whether the key has a function. */
export function onArrangeKey(event: KeyboardEvent, store: PageStore, map: NetworkMap | null): boolean {
  if (!store.arranging.isOn.peek() || event.metaKey || event.altKey) return false;
  const run = event.ctrlKey ? { z: () => undo(store) }[event.key] : keysFor(event, store, map)[event.key];
  if (!run) return false;
  event.preventDefault();
  run();
  return true;
}

function keysFor(
  { shiftKey }: KeyboardEvent,
  store: PageStore,
  map: NetworkMap | null,
): Readonly<Record<string, () => void>> {
  const { arranging } = store;
  const selected = selectedDevice(store);
  const devices = devicesToMove(store);
  const share = shiftKey ? 0.1 : 1;
  const move = (dx: number, dy: number) => () => moveDevices(dx * STEP.x * share, dy * STEP.y * share);
  const moveDevices = (x: number, y: number) => {
    const pinned = arranging.pinned.peek();
    // A pin is where the last key put it, also before the layout has followed.
    const places = placesOf(devices, {
      positionOf: (device) => pinned.get(device) ?? map?.positionOf(device),
    });
    arranging.change(
      pinDevices(arranging.shown.peek(), moved(places, { x, y })),
      `keys ${devices.join(" ")}`,
    );
  };
  return {
    u: () => undo(store),
    ...(selected !== undefined && {
      " ": () => arranging.toggleChosen(selected),
      s: () => chooseSite(store, map, selected),
    }),
    ...(arranging.chosen.peek().size > 0 && {
      Escape: () => {
        arranging.chosen.value = NO_DEVICES;
      },
    }),
    ...(devices.length > 0 && {
      p: () => togglePins(store, map, devices),
      ArrowLeft: move(-1, 0),
      ArrowRight: move(1, 0),
      ArrowUp: move(0, -1),
      ArrowDown: move(0, 1),
    }),
  };
}
