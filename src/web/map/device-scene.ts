/**
 * The devices, bundles and hosts that the map draws, kept equal to the network. An update compares each device and cable
 * with the value that was drawn, and encodes only those that differ. It yields often, so that the caller can divide the
 * work on a large network into short tasks.
 */
import type { Device } from "../../model/entity.ts";
import { deviceName } from "../data/entity-names.ts";
import { bundleStyle, mergeEmphases } from "./bundle-style.ts";
import { Bundles } from "./bundles.ts";
import { Clusters, type MapPosition } from "./clusters.ts";
import { edgeLevel, encodeEdge } from "./edge-program.ts";
import { createScene } from "./gl-renderer.ts";
import { HostScene } from "./host-scene.ts";
import { WordWriter } from "./instance-layer.ts";
import { LostLines } from "./lost-lines.ts";
import { encodeNode } from "./node-program.ts";
import { linePoints } from "./routes.ts";
import type { BundleItem, DeviceItem, SceneInput } from "./scene-input.ts";
import { deviceStyle, type Emphasis } from "./style.ts";

/** What an update changed besides the instances. */
export interface SceneChanges {
  /** Devices whose label is out of date. */
  readonly devices: ReadonlySet<string>;
  /** Clusters with another content, and those of them with another extent or name. */
  readonly clusters: ReadonlySet<number>;
  readonly clusterShapes: ReadonlySet<number>;
  /** Whether lines were added or removed. */
  readonly lines: boolean;
}

export class DeviceScene {
  readonly scene = createScene();
  readonly devices = new Map<string, DeviceItem>();
  readonly bundles = new Map<string, BundleItem>();
  readonly clusters = new Clusters();
  readonly hosts = new HostScene(this.scene);
  readonly lost = new LostLines(this.scene);
  readonly #known = new Map<string, MapPosition>();
  readonly #groups = new Bundles();
  readonly #writer = new WordWriter();
  readonly #touched = new Set<string>();
  #last: SceneInput | undefined;

  /** The bundles of the keys are encoded again by the next update. */
  touchBundles(keys: Iterable<string>): void {
    for (const key of keys) this.#touched.add(key);
  }

  *update(input: SceneInput): Generator<void, SceneChanges> {
    const last = this.#last;
    this.#last = input;
    const all = last?.highlights !== input.highlights || last.palette !== input.palette;
    const devices = new Set<string>();
    const clusters = new Set<number>();
    yield* this.#updateDevices(input, all, devices, clusters);
    const clusterShapes = yield* this.clusters.update(input.network, input.positions);
    for (const index of clusterShapes) {
      clusters.add(index);
      for (const id of this.clusters.byIndex.get(index)?.deviceIds ?? []) devices.add(id);
    }
    const bundles = yield* this.#updateBundles(input, all || last?.overlay !== input.overlay);
    const lost = yield* this.lost.update(input, this.devices);
    yield* this.hosts.update(input, this.devices);
    return { devices, clusters, clusterShapes, lines: bundles || lost };
  }

  *#updateDevices(
    input: SceneInput,
    all: boolean,
    changed: Set<string>,
    clusters: Set<number>,
  ): Generator<void, void> {
    const { network, positions, highlights } = input;
    let seen = 0;
    for (const device of network.devices.values()) {
      yield;
      const position = positions.get(device.id);
      if (!position) continue;
      seen++;
      const known = this.#known.get(device.id);
      const moved = !known || !isSamePosition(known, position);
      if (moved) this.#place(device.id, known, position);
      const item = this.devices.get(device.id);
      if (item && !all && !moved && item.device === device) continue;
      clusters.add(position.cluster);
      if (item && !isNamedAlike(item.device, device)) this.clusters.touch(position.cluster);
      changed.add(device.id);
      if (highlights.isVisible(device.id)) this.#setDevice(device, position, input);
      else this.#removeDevice(device.id);
    }
    if (this.#known.size === seen) return;
    for (const [id, position] of this.#known) {
      yield;
      if (network.devices.has(id)) continue;
      this.#known.delete(id);
      this.clusters.remove(id, position.cluster);
      this.#removeDevice(id);
      changed.add(id);
    }
  }

  #place(id: string, known: MapPosition | undefined, position: MapPosition): void {
    this.#known.set(id, position);
    if (known && known.cluster !== position.cluster) this.clusters.remove(id, known.cluster);
    this.clusters.add(id, position.cluster);
  }

  #setDevice(device: Device, position: MapPosition, { highlights, palette }: SceneInput): void {
    const emphasis = highlights.device(device);
    this.devices.set(device.id, { device, position, emphasis });
    const style = deviceStyle(device, emphasis, palette);
    const words = encodeNode(this.#writer, { x: position.x, y: position.y, size: 1, ...style });
    this.scene.nodes.set(device.id, levelOf(emphasis, device.available), words);
  }

  #removeDevice(id: string): void {
    if (this.devices.delete(id)) this.scene.nodes.delete(id);
  }

  *#updateBundles(input: SceneInput, all: boolean): Generator<void, boolean> {
    const changed = yield* this.#groups.update(input.network);
    const touched = new Set(this.#touched);
    this.#touched.clear();
    for (const [key, bundle] of this.#groups.byKey) {
      yield;
      const [a, b] = [this.devices.get(bundle.a), this.devices.get(bundle.b)];
      if (!a || !b) {
        this.#removeBundle(key);
        continue;
      }
      const item = this.bundles.get(key);
      const route = input.routes.get(key);
      const moved = item?.route !== route || item?.ends[0] !== a.position || item.ends[1] !== b.position;
      if (item?.bundle === bundle && !all && !moved && !touched.has(key)) continue;
      const points = moved || !item ? linePoints(a.position, b.position, route) : item.points;
      const emphasis = mergeEmphases(bundle.cables.map((cable) => input.highlights.cable(cable)));
      const style = bundleStyle(bundle, emphasis, input);
      const ends = [a.position, b.position] as const;
      this.bundles.set(key, { bundle, route, ends, points, emphasis, color: style.color });
      const active = bundle.cables.every((cable) => cable.active);
      const level = edgeLevel(levelOf(emphasis, active), style);
      this.scene.edges.set(key, level, encodeEdge(this.#writer, points, style));
    }
    for (const key of changed) if (!this.#groups.byKey.has(key)) this.#removeBundle(key);
    return changed.size > 0;
  }

  #removeBundle(key: string): void {
    if (this.bundles.delete(key)) this.scene.edges.delete(key);
  }
}

/** What is dimmed is drawn below, what is down above what is up, and what is selected or on a path above all. */
const levelOf = ({ selected, onPath, highlighted }: Emphasis, up: boolean): number =>
  selected || onPath ? 3 : !up ? 2 : highlighted === false ? 0 : 1;

const isSamePosition = (p: MapPosition, q: MapPosition): boolean =>
  p === q || (p.x === q.x && p.y === q.y && p.cluster === q.cluster);

const isNamedAlike = (p: Device, q: Device): boolean =>
  deviceName(p) === deviceName(q) &&
  p.annotations.city === q.annotations.city &&
  p.annotations.site === q.annotations.site;
