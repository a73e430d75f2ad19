/**
 * The content of the cluster graph: one node a cluster and one edge for all cables between two clusters. The map shows it
 * at a zoom at which devices would be too small.
 */
import type { Cluster } from "./clusters.ts";
import { MIN_RADIUS_PX } from "./projection.ts";
import type { GraphContent, GraphInput, NodeAttributes } from "./render-graph.ts";
import { CARD, SHAPES, STROKES, SYMBOLS } from "./style.ts";

const MIN_CARD_PX = 4;
const MAX_CARD_PX = 46;

const clusterNodeId = (cluster: Cluster): string => `cluster ${cluster.index}`;

export interface ClusterSummary {
  readonly cluster: Cluster;
  readonly downCount: number;
  /** The devices that a comparison or a layer marks. */
  readonly markCount: number;
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
    const emphases = devices.map((device) => highlights.device(device));
    // What is only planned is neither up nor down.
    const downCount = devices.filter(
      (device, i) => !device.available && emphases[i]?.mark !== "missing",
    ).length;
    const highlighted = emphases.some((emphasis) => emphasis.highlighted !== false);
    const ring = emphases.some(({ selected }) => selected)
      ? 2
      : emphases.some(({ onPath }) => onPath)
        ? 1
        : 0;
    const showDown = downCount > 0;
    const node = clusterNodeId(cluster);
    nodes.set(node, {
      x: (cluster.left + cluster.right) / 2,
      y: (cluster.bottom + cluster.top) / 2,
      size: cardSize(cluster, pixelsPerUnit),
      zIndex: showDown ? 2 : 1,
      shape: SHAPES.card,
      symbol: showDown ? SYMBOLS.cross : SYMBOLS.none,
      ring,
      dashed: 0,
      color: showDown ? palette.down : highlighted ? palette.node : palette.dimmed,
      fill: showDown ? palette.downFill : highlighted ? palette.nodeFill : palette.dimmedFill,
    });
    const markCount = emphases.filter(({ mark }) => mark !== undefined).length;
    summaries.set(node, { cluster, downCount, markCount, highlighted });
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
