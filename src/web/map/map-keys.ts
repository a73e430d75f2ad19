/**
 * The keys of the map: arrows move it, with Shift they move the selection to the next device in that direction. A device
 * that a cable leads to comes before one that is only nearby, so that the keys follow the network.
 */
import type { EntityRef } from "../data/view-state.ts";
import type { NetworkMap } from "./map.ts";
import type { MapPoint } from "./projection.ts";

export const ZOOM_IN = 0.6;
export const ZOOM_OUT = 1.7;
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
