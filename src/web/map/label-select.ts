/** Selects the labels of the map and gives each a priority, for when there is no space for all. */
import type { Device, Host } from "../../model/entity.ts";
import { deviceName, hostName } from "../names.ts";
import type { ClusterSummary } from "./cluster-graph.ts";
import type { Cluster } from "./clusters.ts";
import { hostIdOf, isHostNode } from "./device-graph.ts";
import type { Label } from "./label-draw.ts";
import type { Palette } from "./palette.ts";
import { MIN_RADIUS_PX } from "./projection.ts";
import type { GraphInput, RenderGraph } from "./render-graph.ts";
import { CARD } from "./style.ts";

type LabelAnchor = Pick<Label, "nodeId" | "x" | "y" | "size">;

/** Larger than any number of cables, so that emphasised devices have priority over well connected ones. */
const EMPHASIS_PRIORITY = 10_000;
const HOST_LABEL_SPACING_PX = 220;
/** In a card of at least this height, the label is drawn inside. */
const MIN_CARD_HEIGHT_PX = 16;

/** Sorted by priority, highest first. */
export function deviceLabels(input: GraphInput, graph: RenderGraph, clusters: readonly Cluster[]): Label[] {
  const { network, positions, palette } = input;
  const labels: Label[] = [];
  // The only cluster has no background with a name, so the labels contain the common prefix of the names.
  const named = new Map(clusters.length > 1 ? clusters.map((cluster) => [cluster.index, cluster]) : []);
  graph.forEachNode((nodeId, { x, y, size }) => {
    const anchor = { nodeId, x, y, size };
    const host = isHostNode(nodeId) ? network.hosts.get(hostIdOf(nodeId)) : undefined;
    const device = network.devices.get(nodeId);
    if (host) labels.push(hostLabel(anchor, host, palette));
    else if (device) {
      const cluster = named.get(positions.get(nodeId)?.cluster ?? -1);
      labels.push(deviceLabel(anchor, device, input, cluster));
    }
  });
  return labels.sort((p, q) => q.priority - p.priority);
}

function hostLabel(anchor: LabelAnchor, host: Host, palette: Palette): Label {
  return {
    ...anchor,
    text: hostName(host),
    detail: "",
    hostCount: 0,
    priority: -1,
    minSpacingPx: HOST_LABEL_SPACING_PX,
    color: palette.muted,
  };
}

function deviceLabel(
  anchor: LabelAnchor,
  device: Device,
  input: GraphInput,
  cluster: Cluster | undefined,
): Label {
  const { network, highlights, palette } = input;
  const { highlighted, selected, onPath, mark } = highlights.device(device);
  const down = !device.available;
  const bold = selected || onPath || mark !== undefined || down || highlighted === true;
  return {
    ...anchor,
    text: deviceName(device).slice(cluster?.namePrefix.length ?? 0),
    detail: "",
    hostCount: network.hostCount(device.id),
    priority: network.cablesOf(device.id).length + (selected ? 2 : bold ? 1 : 0) * EMPHASIS_PRIORITY,
    bold,
    // The background of a cluster with one device is too small for a name.
    atEveryZoom: bold || cluster?.deviceIds.length === 1,
    color: down && !mark ? palette.down : highlighted === false ? palette.muted : palette.text,
  };
}

/** Sorted by priority, highest first. */
export function clusterLabels(
  summaries: ReadonlyMap<string, ClusterSummary>,
  graph: RenderGraph,
  palette: Palette,
  markWord: string,
): Label[] {
  const labels = [...summaries].map(([nodeId, { cluster, downCount, markCount, highlighted }]): Label => {
    const { x, y, size } = graph.getNodeAttributes(nodeId);
    const centred = size * MIN_RADIUS_PX * CARD.height > MIN_CARD_HEIGHT_PX;
    const deviceCount = cluster.deviceIds.length;
    return {
      nodeId,
      x,
      y,
      size: size * CARD.height,
      centred,
      text: cluster.shortName,
      detail:
        markCount > 0
          ? `${markCount} ${markWord}`
          : downCount > 0
            ? `${downCount} down`
            : centred
              ? String(deviceCount)
              : "",
      hostCount: 0,
      priority: deviceCount + (downCount + markCount > 0 ? EMPHASIS_PRIORITY : 0),
      bold: deviceCount > 1,
      atEveryZoom: true,
      color: downCount > 0 ? palette.down : highlighted ? palette.text : palette.muted,
    };
  });
  return labels.sort((p, q) => q.priority - p.priority);
}
