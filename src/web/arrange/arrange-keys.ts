/** Moves devices while the user arranges the map: drags, the arrow keys on the selected device, and its keys for pins. */

import { SPACING } from "../../layout/map-layout.ts";
import type { PageStore } from "../data/page-store.ts";
import { deviceNameById } from "../data/shown-names.ts";
import type { MapPoint } from "../map/geometry.ts";
import type { NetworkMap } from "../map/map.ts";
import { pinDevice, pinOf, unpinDevice } from "./arrangement.ts";
import type { Arranging } from "./arranging.ts";

/** The step of an arrow key in map units; with Shift it is a tenth. */
const STEP = { x: SPACING.width / 2, y: SPACING.height / 2 } as const;

/** All points of one drag are one step of undo. */
export function dragHandler(arranging: Arranging): (device: string, point: MapPoint, ended: boolean) => void {
  let drags = 0;
  return (device, { x, y }, ended) => {
    arranging.change(pinDevice(arranging.shown.peek(), device, { x, y: -y }), `drag ${drags}`);
    if (ended) drags++;
  };
}

export const selectedDevice = ({ state }: PageStore): string | undefined =>
  state.value.selected?.kind === "devices" ? state.value.selected.id : undefined;

/** Pins the device where it is, or unpins it. */
export function togglePin(store: PageStore, map: NetworkMap | null, device: string): void {
  const { arranging } = store;
  const arrangement = arranging.shown.peek();
  const position = map?.positionOf(device);
  const network = store.network.peek();
  const name = network ? deviceNameById(network, device) : device;
  if (pinOf(arrangement, device)) {
    arranging.change(unpinDevice(arrangement, device));
    store.notify(`${name} is no longer pinned`);
  } else if (position) {
    arranging.change(pinDevice(arrangement, device, { x: position.x, y: -position.y }));
    store.notify(`${name} is pinned`);
  }
}

export function undo({ arranging, notify }: PageStore): void {
  if (!arranging.canUndo.peek()) return;
  arranging.undo();
  notify("Undone");
}

/** Handles a key while the user arranges the map. Returns whether the key has a function. */
export function onArrangeKey(event: KeyboardEvent, store: PageStore, map: NetworkMap | null): boolean {
  const { arranging } = store;
  if (!arranging.isOn.peek() || event.metaKey || event.altKey) return false;
  const device = selectedDevice(store);
  const run = event.ctrlKey
    ? { z: () => undo(store) }[event.key]
    : keysFor(event, store, map, device)[event.key];
  if (!run) return false;
  event.preventDefault();
  run();
  return true;
}

function keysFor(
  { shiftKey }: KeyboardEvent,
  store: PageStore,
  map: NetworkMap | null,
  device: string | undefined,
): Readonly<Record<string, () => void>> {
  const common = { u: () => undo(store) };
  if (device === undefined) return common;
  const move = (dx: number, dy: number) => () => moveDevice(store.arranging, map, device, dx, dy, shiftKey);
  return {
    ...common,
    p: () => togglePin(store, map, device),
    ArrowLeft: move(-1, 0),
    ArrowRight: move(1, 0),
    ArrowUp: move(0, -1),
    ArrowDown: move(0, 1),
  };
}

function moveDevice(
  arranging: Arranging,
  map: NetworkMap | null,
  device: string,
  dx: number,
  dy: number,
  isSmall: boolean,
): void {
  const arrangement = arranging.shown.peek();
  const position = map?.positionOf(device);
  const from = pinOf(arrangement, device) ?? (position && { x: position.x, y: -position.y });
  if (!from) return;
  const share = isSmall ? 0.1 : 1;
  const to = { x: from.x + dx * STEP.x * share, y: from.y + dy * STEP.y * share };
  arranging.change(pinDevice(arrangement, device, to), `keys ${device}`);
}
