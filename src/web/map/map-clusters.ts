/**
 * The clusters of the layout with their devices, their extent and their names. A cluster is computed again only when one of
 * its devices was added, removed, moved or renamed.
 */
import { clusterNames, commonPrefix } from "../../formats/graph.ts";
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
    ...clusterNames(devices, (id) => network.cablesOf(id).length),
    deviceIds: devices.map((device) => device.id),
    namePrefix: commonPrefix(devices.map(deviceName)),
    ...boundsOf(points),
  };
}
