/**
 * The graphs that the renderer draws: the device graph with every visible device and cable, and the cluster graph with
 * one node a cluster, for a zoom at which devices would be too small. `updateGraph` changes only what differs, because
 * the renderer processes each change of a graph.
 */
import { MultiDirectedGraph } from "graphology";
import type { Cable } from "../../model/cable.ts";
import type { Device } from "../../model/entity.ts";
import type { Network } from "../network.ts";
import type { Cluster, MapPosition } from "./clusters.ts";
import type { Highlights } from "./highlights.ts";
import type { Palette } from "./palette.ts";
import { MIN_RADIUS_PX } from "./projection.ts";
import {
  CARD,
  cableStyle,
  deviceStyle,
  type EdgeStyle,
  type NodeStyle,
  SHAPES,
  STROKES,
  SYMBOLS,
} from "./style.ts";

export interface NodeAttributes extends NodeStyle {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly zIndex: number;
}
export interface EdgeAttributes extends EdgeStyle {
  readonly zIndex: number;
}
export type RenderGraph = MultiDirectedGraph<NodeAttributes, EdgeAttributes>;

export interface GraphInput {
  readonly network: Network;
  readonly positions: ReadonlyMap<string, MapPosition>;
  readonly highlights: Highlights;
  readonly palette: Palette;
  readonly expanded: ReadonlySet<string>;
}

/** The renderer processes the whole graph for each removal. For more removals than this, a new graph is cheaper. */
const MAX_REMOVALS = 40;
const MAX_HOSTS_DRAWN = 400;
const PARALLEL_GAP_PX = 4;
const MIN_CARD_PX = 4;
const MAX_CARD_PX = 46;
/** The first ring of hosts around a device, the distance between rings and that between hosts, in map units. */
const HOST_RINGS = { radius: 27, ringGap: 10, hostGap: 11 } as const;
const HOST_PREFIX = "host ";

export const isHostNode = (node: string): boolean => node.startsWith(HOST_PREFIX);
export const hostIdOf = (node: string): string => node.slice(HOST_PREFIX.length);

interface GraphContent {
  readonly nodes: Map<string, NodeAttributes>;
  readonly edges: Map<string, GraphEdge>;
}

interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly attributes: EdgeAttributes;
}

export function createRenderGraph(): RenderGraph {
  return new MultiDirectedGraph<NodeAttributes, EdgeAttributes>();
}

/** Changes `graph` to the given content, or returns a new graph when that is cheaper. */
export function updateGraph(graph: RenderGraph, content: GraphContent): RenderGraph {
  const removedNodes = graph.filterNodes((node) => !content.nodes.has(node));
  const removedEdges = graph.filterEdges((edge) => !content.edges.has(edge));
  const createNew = removedNodes.length + removedEdges.length > MAX_REMOVALS || graph.order === 0;
  const target = createNew ? createRenderGraph() : graph;
  if (!createNew) {
    for (const edge of removedEdges) graph.dropEdge(edge);
    for (const node of removedNodes) graph.dropNode(node);
  }
  for (const [node, attributes] of content.nodes) {
    if (!target.hasNode(node)) target.addNode(node, attributes);
    else if (!hasAttributes(target.getNodeAttributes(node), attributes))
      target.replaceNodeAttributes(node, attributes);
  }
  for (const [edge, { from, to, attributes }] of content.edges) {
    if (target.hasEdge(edge) && target.source(edge) !== from) target.dropEdge(edge);
    if (!target.hasEdge(edge)) target.addDirectedEdgeWithKey(edge, from, to, attributes);
    else if (!hasAttributes(target.getEdgeAttributes(edge), attributes))
      target.replaceEdgeAttributes(edge, attributes);
  }
  return target;
}

function hasAttributes<T extends object>(current: T, attributes: T): boolean {
  for (const key in attributes) if (current[key] !== attributes[key]) return false;
  return true;
}

export function deviceGraphContent(input: GraphInput): GraphContent {
  const { network, positions, highlights, palette } = input;
  const content: GraphContent = { nodes: new Map(), edges: new Map() };
  for (const device of network.devices.values()) {
    const position = positions.get(device.id);
    if (!position || !highlights.isVisible(device.id)) continue;
    const emphasis = highlights.device(device);
    const style = deviceStyle(device, emphasis, palette);
    const zIndex = emphasis.selected ? 3 : emphasis.highlighted === false ? 0 : device.available ? 1 : 2;
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
    emphasis.selected || emphasis.onPath ? 3 : emphasis.highlighted === false ? 0 : cable.active ? 1 : 2;
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

const clusterNodeId = (cluster: Cluster): string => `cluster ${cluster.index}`;

export interface ClusterSummary {
  readonly cluster: Cluster;
  readonly downCount: number;
  /** False when all its devices are dimmed. */
  readonly highlighted: boolean;
}

export function clusterGraphContent(
  input: GraphInput,
  clusters: readonly Cluster[],
  pixelsPerUnit: number,
): GraphContent & { summaries: Map<string, ClusterSummary> } {
  const { network, highlights, palette } = input;
  const nodes: GraphContent["nodes"] = new Map();
  const summaries = new Map<string, ClusterSummary>();
  for (const cluster of clusters) {
    const devices = cluster.deviceIds.flatMap((id) => network.devices.get(id) ?? []);
    if (!devices.some((device) => highlights.isVisible(device.id))) continue;
    const downCount = devices.filter((device) => !device.available).length;
    const emphases = devices.map((device) => highlights.device(device));
    const highlighted = emphases.some((emphasis) => emphasis.highlighted !== false);
    const ring = emphases.some(({ selected }) => selected)
      ? 2
      : emphases.some(({ onPath }) => onPath)
        ? 1
        : 0;
    const showDown = downCount > 0 && highlighted;
    const node = clusterNodeId(cluster);
    nodes.set(node, {
      x: (cluster.left + cluster.right) / 2,
      y: (cluster.bottom + cluster.top) / 2,
      size: cardSize(cluster, pixelsPerUnit),
      zIndex: showDown ? 2 : 1,
      shape: SHAPES.card,
      symbol: showDown ? SYMBOLS.cross : SYMBOLS.none,
      ring,
      color: showDown ? palette.down : highlighted ? palette.node : palette.dimmed,
      fill: showDown ? palette.downFill : highlighted ? palette.nodeFill : palette.dimmedFill,
    });
    summaries.set(node, { cluster, downCount, highlighted });
  }
  return { nodes, edges: clusterEdges(input, clusters, nodes), summaries };
}

/** One edge for all cables between two clusters. Its width grows with their number; it is dashed if none is active. */
function clusterEdges(
  { network, positions, palette }: GraphInput,
  clusters: readonly Cluster[],
  nodes: ReadonlyMap<string, NodeAttributes>,
): GraphContent["edges"] {
  const nodeByIndex = new Map(clusters.map((cluster) => [cluster.index, clusterNodeId(cluster)]));
  const bundles = new Map<string, { from: string; to: string; cables: number; active: number }>();
  for (const cable of network.cables.values()) {
    const from = nodeByIndex.get(positions.get(cable.from.device)?.cluster ?? -1);
    const to = nodeByIndex.get(positions.get(cable.to.device)?.cluster ?? -1);
    if (!from || !to || from === to || !nodes.has(from) || !nodes.has(to)) continue;
    const [p, q] = from < to ? [from, to] : [to, from];
    const bundle = bundles.get(`${p} ${q}`) ?? { from: p, to: q, cables: 0, active: 0 };
    bundle.cables++;
    if (cable.active) bundle.active++;
    bundles.set(`${p} ${q}`, bundle);
  }
  const edges: GraphContent["edges"] = new Map();
  for (const [key, { from, to, cables, active }] of bundles) {
    const isActive = active > 0;
    const stroke = isActive ? STROKES.solid : STROKES.dashed;
    const color = isActive ? palette.line : palette.down;
    const size = Math.min(5, 1.6 + Math.log2(cables));
    const attributes = { stroke, arrow: 0, color, size, offset: 0, zIndex: isActive ? 1 : 0 };
    edges.set(key, { from, to, attributes });
  }
  return edges;
}

/** The largest size that fits into the extent of the cluster, within limits, in radii of a device. */
function cardSize({ left, right, bottom, top }: Cluster, pixelsPerUnit: number): number {
  const [halfWidth, halfHeight] = [(right - left) / 2 + 50, (top - bottom) / 2 + 50];
  const pixels = Math.min(halfWidth / CARD.width, halfHeight / CARD.height) * pixelsPerUnit;
  return Math.max(MIN_CARD_PX, Math.min(MAX_CARD_PX, pixels)) / MIN_RADIUS_PX;
}
