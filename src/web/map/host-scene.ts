/** The hosts of expanded devices, in rings around their device. The id of their node is that of the host with a prefix. */

import { edgeLevel, encodeEdge } from "./edge-program.ts";
import type { Scene } from "./gl-renderer.ts";
import { WordWriter } from "./instance-layer.ts";
import { encodeNode } from "./node-program.ts";
import type { MapPoint } from "./projection.ts";
import type { DeviceItem, SceneInput } from "./scene-input.ts";
import { LINE_SIGNS, SHAPES, STROKES, SYMBOLS } from "./style.ts";

const MAX_HOSTS_DRAWN = 400;
/** The first ring of hosts around a device, the distance between rings and that between hosts, in map units. */
const RINGS = { radius: 27, ringGap: 10, hostGap: 11 } as const;
const PREFIX = "host ";
export const HOST_SIZE = 0.45;

export const isHostNode = (node: string): boolean => node.startsWith(PREFIX);
export const hostIdOf = (node: string): string => node.slice(PREFIX.length);

export class HostScene {
  /** By node. */
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
        const [node, point] = [PREFIX + host.id, points[i]];
        // A host with several locations is drawn at one of them.
        if (!point || this.positions.has(node)) continue;
        this.#draw(node, point, centre, input);
        previous.delete(node);
      }
    }
    for (const node of previous) {
      this.#scene.nodes.delete(node);
      this.#scene.edges.delete(node);
    }
  }

  #draw(node: string, { x, y }: MapPoint, centre: MapPoint, { palette }: SceneInput): void {
    this.positions.set(node, { x, y });
    const style = {
      shape: SHAPES.circle,
      symbol: SYMBOLS.none,
      ring: 0,
      dashed: 0,
      color: palette.host,
      fill: palette.clusterFill,
    };
    this.#scene.nodes.set(node, 1, encodeNode(this.#writer, { x, y, size: HOST_SIZE, ...style }));
    const line = {
      stroke: STROKES.solid,
      sign: LINE_SIGNS.none,
      color: palette.dimmed,
      size: 0.8,
      fades: false,
    };
    const points = Float64Array.of(x, y, centre.x, centre.y);
    this.#scene.edges.set(node, edgeLevel(0, line), encodeEdge(this.#writer, points, line));
  }
}

function ringPoints(centre: MapPoint, count: number): MapPoint[] {
  const points: MapPoint[] = [];
  for (let ring = 0; points.length < count; ring++) {
    const radius = RINGS.radius + ring * RINGS.ringGap;
    const capacity = Math.floor((2 * Math.PI * radius) / RINGS.hostGap);
    const inRing = Math.min(capacity, count - points.length);
    for (let i = 0; i < inRing; i++) {
      const angle = (i / Math.min(capacity, count)) * 2 * Math.PI + ring * 0.3 - Math.PI / 2;
      points.push({ x: centre.x + Math.cos(angle) * radius, y: centre.y + Math.sin(angle) * radius });
    }
  }
  return points;
}
