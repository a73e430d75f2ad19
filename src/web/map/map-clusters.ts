/**
 * The clusters of the layout with their devices, their extent and their names. A cluster is computed again only when one of
 * its devices was added, removed, moved or renamed.
 */
import { Multimap } from "../../lib/multimap.ts";
import type { Device } from "../../model/entity.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { deviceName } from "../data/shown-names.ts";
import { type Bounds, boundsOf } from "./geometry.ts";

export interface MapPosition {
  readonly x: number;
  /** The vertical coordinate, which points upwards. */
  readonly y: number;
  readonly cluster: number;
}

export interface MapCluster extends Bounds {
  readonly index: number;
  readonly name: string;
  /** The name for a small space. */
  readonly shortName: string;
  readonly deviceIds: readonly string[];
  /** The common prefix of the names of all its devices. The labels of the devices leave it out. */
  readonly namePrefix: string;
}

export class Clusters {
  readonly byIndex = new Map<number, MapCluster>();
  readonly #members = new Multimap<number, string>();
  readonly #dirty = new Set<number>();

  add(device: string, index: number): void {
    this.#members.add(index, device);
    this.#dirty.add(index);
  }

  remove(device: string, index: number): void {
    this.#members.remove(index, device);
    this.#dirty.add(index);
  }

  /** Marks a cluster for the next update, because one of its devices has moved or has another name. */
  touch(index: number): void {
    this.#dirty.add(index);
  }

  /** Returns the indexes of the clusters that changed. Yields after each, so that the caller can pause. */
  *update(network: PageNetwork, positions: ReadonlyMap<string, MapPosition>): Generator<void, Set<number>> {
    const changed = new Set(this.#dirty);
    this.#dirty.clear();
    for (const index of changed) {
      yield;
      const devices = [...this.#members.of(index)].flatMap((id) => network.devices.get(id) ?? []);
      if (devices.length > 0) this.byIndex.set(index, createCluster(index, devices, network, positions));
      else this.byIndex.delete(index);
    }
    return changed;
  }
}

function createCluster(
  index: number,
  devices: readonly Device[],
  network: PageNetwork,
  positions: ReadonlyMap<string, MapPosition>,
): MapCluster {
  const points = devices.flatMap((device) => positions.get(device.id) ?? []);
  return {
    index,
    ...clusterNames(devices, network),
    deviceIds: devices.map((device) => device.id),
    namePrefix: commonPrefix(devices.map(deviceName)),
    ...boundsOf(points),
  };
}

/** The name is the city and site of a cluster's devices, or else the name of the device with the most cables. */
function clusterNames(
  devices: readonly Device[],
  network: PageNetwork,
): Pick<MapCluster, "name" | "shortName"> {
  const annotation = (key: string) => devices.find((device) => device.annotations[key])?.annotations[key];
  const parts = [annotation("city"), annotation("site")].filter((part) => part !== undefined);
  if (parts.length > 0) return { name: parts.join(" · "), shortName: parts.at(-1) ?? "" };
  const degrees = devices.map((device) => network.cablesOf(device.id).length);
  const hub = devices[degrees.indexOf(Math.max(...degrees))];
  return { name: hub ? deviceName(hub) : "", shortName: hub ? deviceName(hub) : "" };
}

/** The common prefix up to the last separator that all names share. Empty if it would leave nothing of a name. */
export function commonPrefix(names: readonly string[]): string {
  const [first = "", ...rest] = names;
  if (rest.length === 0) return "";
  let end = first.length;
  for (const name of rest) {
    while (!name.startsWith(first.slice(0, end))) end--;
  }
  const prefix = /^.*[-._ ]/.exec(first.slice(0, end))?.[0] ?? "";
  return names.every((name) => name.length > prefix.length) ? prefix : "";
}
