/**
 * The content of the device graph: a node for each visible device, an edge for each cable between two of them, and the
 * hosts of expanded devices. The id of a node is that of its device, or of its host with a prefix.
 */
import type { Cable } from "../../model/cable.ts";
import type { Device } from "../../model/entity.ts";
import type { MapPosition } from "./clusters.ts";
import type { GraphContent, GraphInput } from "./render-graph.ts";
import { cableStyle, deviceStyle, SHAPES, STROKES, SYMBOLS } from "./style.ts";

const MAX_HOSTS_DRAWN = 400;
const PARALLEL_GAP_PX = 4;
/** The first ring of hosts around a device, the distance between rings and that between hosts, in map units. */
const HOST_RINGS = { radius: 27, ringGap: 10, hostGap: 11 } as const;
const HOST_PREFIX = "host ";

export const isHostNode = (node: string): boolean => node.startsWith(HOST_PREFIX);
export const hostIdOf = (node: string): string => node.slice(HOST_PREFIX.length);

export function deviceGraphContent(input: GraphInput): GraphContent {
  const { network, positions, highlights, palette } = input;
  const content: GraphContent = { nodes: new Map(), edges: new Map() };
  for (const device of network.devices.values()) {
    const position = positions.get(device.id);
    if (!position || !highlights.isVisible(device.id)) continue;
    const emphasis = highlights.device(device);
    const style = deviceStyle(device, emphasis, palette);
    const zIndex = emphasis.selected ? 3 : !device.available ? 2 : emphasis.highlighted === false ? 0 : 1;
    content.nodes.set(device.id, { x: position.x, y: position.y, size: 1, zIndex, ...style });
    if (input.expanded.has(device.id)) addHosts(content, input, device, position);
  }
  const cablesByPair = new Map<string, number>();
  for (const cable of network.cables.values()) addCable(content, input, cable, cablesByPair);
  return content;
}

/** `cablesByPair` counts the cables added so far between two devices. */
function addCable(
  content: GraphContent,
  { highlights, palette }: GraphInput,
  cable: Cable,
  cablesByPair: Map<string, number>,
): void {
  const [from, to] = [cable.from.device, cable.to.device];
  if (!content.nodes.has(from) || !content.nodes.has(to)) return;
  const pair = from < to ? `${from} ${to}` : `${to} ${from}`;
  const index = cablesByPair.get(pair) ?? 0;
  cablesByPair.set(pair, index + 1);
  // Parallel cables have the offsets 0, 1, -1, 2, -2 … The sign depends on the order of the ids, because the offset is
  // relative to the direction of the edge and the cables of a pair may have different directions.
  const offset = (index % 2 === 0 ? -index / 2 : (index + 1) / 2) * PARALLEL_GAP_PX;
  const emphasis = highlights.cable(cable);
  const zIndex =
    emphasis.selected || emphasis.onPath ? 3 : !cable.active ? 2 : emphasis.highlighted === false ? 0 : 1;
  const style = cableStyle(cable, emphasis, palette);
  const attributes = { ...style, offset: from < to ? offset : -offset, zIndex };
  content.edges.set(cable.id, { from, to, attributes });
}

/** Places the hosts in rings around their device. */
function addHosts(
  content: GraphContent,
  { network, palette }: GraphInput,
  device: Device,
  centre: MapPosition,
): void {
  const hosts = network.hostsOf(device.id).slice(0, MAX_HOSTS_DRAWN);
  let [ring, indexInRing] = [0, 0];
  for (const host of hosts) {
    const radius = HOST_RINGS.radius + ring * HOST_RINGS.ringGap;
    const capacity = Math.floor((2 * Math.PI * radius) / HOST_RINGS.hostGap);
    const angle = (indexInRing / Math.min(capacity, hosts.length)) * 2 * Math.PI + ring * 0.3 - Math.PI / 2;
    const node = HOST_PREFIX + host.id;
    // A host with several locations is drawn at one of them.
    if (content.nodes.has(node)) continue;
    content.nodes.set(node, {
      x: centre.x + Math.cos(angle) * radius,
      y: centre.y + Math.sin(angle) * radius,
      size: 0.45,
      zIndex: 1,
      shape: SHAPES.circle,
      symbol: SYMBOLS.none,
      ring: 0,
      dashed: 0,
      color: palette.host,
      fill: palette.clusterFill,
    });
    const attributes = {
      stroke: STROKES.solid,
      arrow: 0,
      color: palette.dimmed,
      size: 0.8,
      offset: 0,
      zIndex: 0,
    };
    content.edges.set(node, { from: node, to: device.id, attributes });
    indexInRing++;
    if (indexInRing >= capacity) [ring, indexInRing] = [ring + 1, 0];
  }
}
