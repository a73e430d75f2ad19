/**
 * The devices, bundles and hosts that the map draws. An update compares each device and cable of the network with the value
 * that was drawn, and encodes only those that differ. It yields often, so that the caller can divide the work on a large
 * network into short tasks.
 */
import type { Device } from "../../model/entity.ts";
import type { LinkOverlay } from "../data/link-overlay.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { deviceName } from "../data/shown-names.ts";
import type { FaultCauses } from "../problems/problem-store.ts";
import { type Bundle, Bundles, pairName } from "./bundles.ts";
import { edgeLevel, encodeEdge } from "./edge-program.ts";
import { linePoints, type MapPoint, type Routes } from "./geometry.ts";
import { createScene, type Scene } from "./gl-renderer.ts";
import type { Highlights } from "./highlights.ts";
import { WordWriter } from "./instance-layer.ts";
import { Clusters, type MapPosition } from "./map-clusters.ts";
import type { LostCableMark } from "./marks.ts";
import { encodeNode } from "./node-program.ts";
import type { Palette } from "./palette.ts";
import {
  bundleStyle,
  CAUSE_WIDTH_PX,
  DOWN_WIDTH_PX,
  deviceStyle,
  EMPHASISED_WIDTH_PX,
  type Emphasis,
  type FaultRole,
  LINE_SIGNS,
  mergeEmphases,
  RINGS,
  SHAPES,
  STROKES,
  SYMBOLS,
} from "./style.ts";

/** The results of an update that other parts of the map need. */
export interface SceneChanges {
  /** Devices whose label is out of date. */
  readonly devices: ReadonlySet<string>;
  /** Clusters whose content changed, and those of them whose extent or name changed. */
  readonly clusters: ReadonlySet<number>;
  readonly clusterShapes: ReadonlySet<number>;
  /** Whether lines were added or removed. */
  readonly lines: boolean;
}

const DEVICE_SIZE = { width: 1, height: 1 } as const;

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

  /** Makes the next update encode the bundles with these keys again. */
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
      const isSame =
        item?.device === device &&
        item.role === roleOf(device, input) &&
        item.cutOffCount === cutOffCountOf(device, input);
      if (isSame && !all && !moved) continue;
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

  #setDevice(device: Device, position: MapPosition, input: SceneInput): void {
    const emphasis = input.highlights.device(device);
    const role = roleOf(device, input);
    const cutOffCount = cutOffCountOf(device, input);
    this.devices.set(device.id, { device, position, emphasis, role, cutOffCount });
    const style = deviceStyle(device, emphasis, role, input.palette);
    const words = encodeNode(this.#writer, { x: position.x, y: position.y, size: DEVICE_SIZE, ...style });
    this.scene.nodes.set(device.id, levelOf(emphasis, device.available && role === undefined), words);
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
      const isCause = bundle.cables.some(({ id, active }) => !active && input.causes.cables.has(id));
      const isSame = item?.bundle === bundle && item.isCause === isCause;
      if (isSame && !all && !moved && !touched.has(key)) continue;
      const points = moved || !item ? linePoints(a.position, b.position, route) : item.points;
      const emphasis = mergeEmphases(bundle.cables.map((cable) => input.highlights.cable(cable)));
      const style = bundleStyle(bundle, emphasis, { ...input, isCause });
      const ends = [a.position, b.position] as const;
      this.bundles.set(key, { bundle, route, ends, points, emphasis, isCause, color: style.color });
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

/** The level at which a device or cable is drawn. From bottom to top: dimmed, normal, down, selected or on a path. */
const levelOf = ({ selected, onPath, highlighted }: Emphasis, up: boolean): number =>
  selected || onPath ? 3 : !up ? 2 : highlighted === false ? 0 : 1;

/** A device is a cause only while it is down: the problem may be listed a moment longer. */
function roleOf({ id, available }: Device, { network, causes }: SceneInput): FaultRole | undefined {
  if (!available) return causes.devices.has(id) ? "cause" : undefined;
  return network.cutOff.ids.has(id) ? "cut-off" : undefined;
}

const cutOffCountOf = ({ id, available }: Device, { causes }: SceneInput): number =>
  available ? 0 : (causes.devices.get(id) ?? 0);

const isSamePosition = (p: MapPosition, q: MapPosition): boolean =>
  p === q || (p.x === q.x && p.y === q.y && p.cluster === q.cluster);

const isNamedAlike = (p: Device, q: Device): boolean =>
  deviceName(p) === deviceName(q) &&
  p.annotations.city === q.annotations.city &&
  p.annotations.site === q.annotations.site;

/** The input from which the scenes of the map are computed. */
export interface SceneInput {
  readonly network: PageNetwork;
  readonly positions: ReadonlyMap<string, MapPosition>;
  readonly routes: Routes;
  readonly highlights: Highlights;
  readonly palette: Palette;
  /** The devices whose hosts are drawn. */
  readonly expanded: ReadonlySet<string>;
  readonly overlay: LinkOverlay | undefined;
  readonly lost: readonly LostCableMark[];
  readonly causes: FaultCauses;
  /** The speed of a bundle in Mb/s; 0 when it is not known. */
  readonly speedOf: (bundle: Bundle) => number;
  /** The name of a port, or its number when the name is not loaded. */
  readonly portName: (device: string, port: string) => string;
}

export interface DeviceItem {
  readonly device: Device;
  readonly position: MapPosition;
  readonly emphasis: Emphasis;
  readonly role: FaultRole | undefined;
  /** The number of devices that it cuts off, itself included; 0 if it is not the cause of a fault. */
  readonly cutOffCount: number;
}

export interface BundleItem {
  readonly bundle: Bundle;
  readonly route: Float64Array | undefined;
  readonly ends: readonly [MapPosition, MapPosition];
  /** The x and y of the corners of the line, flat, from `bundle.a` to `bundle.b`. */
  readonly points: Float64Array;
  readonly emphasis: Emphasis;
  /** Whether a fault of the bundle is the cause of others. */
  readonly isCause: boolean;
  readonly color: string;
}

/** Maximum number of hosts that are drawn around a device. */
const MAX_HOSTS_DRAWN = 400;
/** The radius of the first ring of hosts, the distance between rings and the distance between hosts, in map units. */
const HOST_RINGS = { radius: 27, ringGap: 10, hostGap: 11 } as const;
const HOST_PREFIX = "host ";
export const HOST_SIZE = 0.45;

export const isHostNode = (node: string): boolean => node.startsWith(HOST_PREFIX);
export const hostIdOf = (node: string): string => node.slice(HOST_PREFIX.length);

/**
 * The hosts of expanded devices, in rings around their device, and the selected host, above its device if that is not
 * expanded. The id of their node is the id of the host with a prefix.
 */
class HostScene {
  /** Positions by the id of the node. */
  readonly positions = new Map<string, MapPoint>();
  readonly #scene: Scene;
  readonly #writer = new WordWriter();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  *update(input: SceneInput, devices: ReadonlyMap<string, DeviceItem>): Generator<void, void> {
    const previous = new Set(this.positions.keys());
    this.positions.clear();
    for (const id of input.expanded) {
      const centre = devices.get(id)?.position;
      if (!centre) continue;
      const hosts = input.network.hostsOf(id).slice(0, MAX_HOSTS_DRAWN);
      const points = ringPoints(centre, hosts.length);
      for (const [i, host] of hosts.entries()) {
        yield;
        const [node, point] = [HOST_PREFIX + host.id, points[i]];
        // A host with several locations is drawn at one of them.
        if (!point || this.positions.has(node)) continue;
        this.#draw(node, point, centre, input);
        previous.delete(node);
      }
    }
    previous.delete(this.#drawSelected(input, devices) ?? "");
    for (const node of previous) {
      this.#scene.nodes.delete(node);
      this.#scene.edges.delete(node);
    }
  }

  /** Draws the selected host unless it is drawn already. Returns its node. */
  #drawSelected(input: SceneInput, devices: ReadonlyMap<string, DeviceItem>): string | undefined {
    const host = input.network.hosts.get(input.highlights.selectedHost ?? "");
    const centre = host?.locations.flatMap(({ elementId }) => devices.get(elementId)?.position ?? [])[0];
    const node = host && HOST_PREFIX + host.id;
    if (node === undefined || !centre || this.positions.has(node)) return node;
    this.#draw(node, { x: centre.x, y: centre.y + HOST_RINGS.radius }, centre, input);
    return node;
  }

  #draw(node: string, { x, y }: MapPoint, centre: MapPoint, { palette, highlights }: SceneInput): void {
    this.positions.set(node, { x, y });
    const isSelected = hostIdOf(node) === highlights.selectedHost;
    const style = {
      shape: SHAPES.circle,
      symbol: SYMBOLS.none,
      ring: RINGS[isSelected ? "thick" : "none"],
      dashed: 0,
      color: isSelected ? palette.accent : palette.host,
      fill: palette.clusterFill,
    };
    this.#scene.nodes.set(
      node,
      1,
      encodeNode(this.#writer, { x, y, size: { width: HOST_SIZE, height: HOST_SIZE }, ...style }),
    );
    const line = {
      stroke: STROKES.solid,
      sign: LINE_SIGNS.none,
      color: isSelected ? palette.accent : palette.dimmed,
      size: isSelected ? 1.6 : 0.8,
      fades: false,
    };
    const points = Float64Array.of(x, y, centre.x, centre.y);
    this.#scene.edges.set(node, edgeLevel(0, line), encodeEdge(this.#writer, points, line));
  }
}

function ringPoints(centre: MapPoint, count: number): MapPoint[] {
  const points: MapPoint[] = [];
  for (let ring = 0; points.length < count; ring++) {
    const radius = HOST_RINGS.radius + ring * HOST_RINGS.ringGap;
    const capacity = Math.floor((2 * Math.PI * radius) / HOST_RINGS.hostGap);
    const inRing = Math.min(capacity, count - points.length);
    for (let i = 0; i < inRing; i++) {
      const angle = (i / Math.min(capacity, count)) * 2 * Math.PI + ring * 0.3 - Math.PI / 2;
      points.push({ x: centre.x + Math.cos(angle) * radius, y: centre.y + Math.sin(angle) * radius });
    }
  }
  return points;
}

const LOST_PREFIX = "lost ";

export interface LostItem {
  readonly lost: LostCableMark;
  readonly route: Float64Array | undefined;
  /** The positions of the devices with the lower and the higher id. */
  readonly ends: readonly [MapPosition, MapPosition];
  readonly points: Float64Array;
}

/**
 * The lines of lost links between their devices: dashed, with a cross in the middle. A lost link is in no list of links, so
 * without its line the map would show nothing of the loss. The layout handles it like a link, so that nothing moves when a
 * link is lost.
 */
export class LostLines {
  /** Lines by cable id. */
  readonly items = new Map<string, LostItem>();
  readonly #scene: Scene;
  readonly #writer = new WordWriter();
  #palette: Palette | undefined;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Returns whether a line was added, moved or removed. */
  *update(input: SceneInput, devices: ReadonlyMap<string, DeviceItem>): Generator<void, boolean> {
    const gone = new Set(this.items.keys());
    const isRepainted = this.#palette !== input.palette;
    this.#palette = input.palette;
    let changed = false;
    for (const lost of input.lost) {
      yield;
      const next = itemOf(lost, input, devices);
      if (!next) continue;
      gone.delete(lost.id);
      const item = this.items.get(lost.id);
      this.items.set(lost.id, next);
      const moved = !item || !isSameLine(item, next);
      changed ||= moved;
      const isSame = item?.lost.isChosen === lost.isChosen && item.lost.isCause === lost.isCause;
      if (!moved && !isRepainted && isSame) continue;
      const style = lostStyle(lost, input.palette);
      const words = encodeEdge(this.#writer, next.points, style);
      this.#scene.edges.set(LOST_PREFIX + lost.id, edgeLevel(lost.isChosen ? 3 : 2, style), words);
    }
    for (const id of gone) {
      this.items.delete(id);
      this.#scene.edges.delete(LOST_PREFIX + id);
    }
    return changed || gone.size > 0;
  }
}

/**
 * Undefined when the network has the cable, because it is back before the list of problems says so or because a comparison
 * or the plan draws it. Also undefined when one of the devices is not drawn.
 */
function itemOf(
  lost: LostCableMark,
  { network, routes }: SceneInput,
  devices: ReadonlyMap<string, DeviceItem>,
): LostItem | undefined {
  const { id, a, b } = lost;
  const [from, to] = [devices.get(a)?.position, devices.get(b)?.position];
  if (!from || !to || a === b || network.cables.has(id)) return undefined;
  const route = routes.get(pairName(a, b));
  return { lost, route, ends: [from, to], points: linePoints(from, to, route) };
}

const isSameLine = (p: LostItem, q: LostItem): boolean =>
  p.route === q.route && p.ends[0] === q.ends[0] && p.ends[1] === q.ends[1];

/** The style of a lost link, which is never dimmed, because it is an alarm. */
const lostStyle = ({ isChosen, isCause }: LostCableMark, palette: Palette) => ({
  stroke: STROKES.dashed,
  sign: LINE_SIGNS.cross,
  color: palette.down,
  size: isChosen ? EMPHASISED_WIDTH_PX : isCause ? CAUSE_WIDTH_PX : DOWN_WIDTH_PX,
  fades: false,
});
