/** The place of the view in the network, for the inset of the map, and whether anything is in view. */
import { DEVICE_BOX } from "../../layout/map-layout.ts";
import type { ClusterCard } from "./cluster-scene.ts";
import type { DeviceItem, DeviceScene } from "./device-scene.ts";
import { type Bounds, containsPoint, overlapBounds } from "./geometry.ts";

/** An area of the inset: the card of a cluster or a device. */
export interface InsetArea extends Bounds {
  readonly tone: ClusterCard["tone"];
}

/** The place of the view in the network, in map units. */
export interface MapOverview {
  /** The same list until an area changes. */
  readonly areas: readonly InsetArea[];
  readonly whole: Bounds;
  readonly view: Bounds;
  readonly isEmpty: boolean;
}

/**
 * The cards, or the devices of a network without several cards. Returns the previous list if nothing in it has changed,
 * because the inset is rendered again with each other list.
 */
export function insetAreas(
  cards: ReadonlyMap<string, ClusterCard>,
  devices: ReadonlyMap<string, DeviceItem>,
  previous: readonly InsetArea[],
): readonly InsetArea[] {
  const next = cards.size > 1 ? [...cards.values()] : Array.from(devices.values(), deviceArea);
  const isSame = next.length === previous.length && next.every((area, i) => isSameArea(area, previous[i]));
  return isSame ? previous : next;
}

const deviceArea = (item: DeviceItem): InsetArea => ({
  left: item.position.x - DEVICE_BOX.width / 2,
  right: item.position.x + DEVICE_BOX.width / 2,
  bottom: item.position.y - DEVICE_BOX.height / 2,
  top: item.position.y + DEVICE_BOX.height / 2,
  tone: toneOf(item),
});

function toneOf({ device, emphasis, role }: DeviceItem): InsetArea["tone"] {
  // A device that is only planned is neither up nor down.
  if (emphasis.mark === "missing") return "dimmed";
  if (!device.available) return "down";
  return role === "cut-off" ? "warning" : "node";
}

const isSameArea = (p: InsetArea, q: InsetArea | undefined): boolean =>
  p.left === q?.left && p.right === q.right && p.bottom === q.bottom && p.top === q.top && p.tone === q.tone;

/** Whether a drawn device is in view. This runs in every frame, so clusters outside the view are passed over. */
export function hasDeviceInView(
  { clusters, devices }: Pick<DeviceScene, "clusters" | "devices">,
  view: Bounds,
): boolean {
  for (const cluster of clusters.byIndex.values()) {
    if (!overlapBounds(cluster, view)) continue;
    for (const id of cluster.deviceIds) {
      const item = devices.get(id);
      if (item && containsPoint(view, item.position)) return true;
    }
  }
  return false;
}
