/** The sizes of the map in map units, and the layout that the map and the SVG format share. */

import type { ClusterGraph } from "./cluster-assignment.ts";
import { type ClusteredLayout, layoutClusters } from "./clustered-layout.ts";

/** The space for one device and its label. */
export const SPACING = { width: 84, height: 60 } as const;
/** The space of a device itself. Links that do not end at the device do not run through it. */
export const DEVICE_BOX = { width: 36, height: 30 } as const;
/** The least space between two devices. */
export const GUTTER = {
  width: SPACING.width - DEVICE_BOX.width,
  height: SPACING.height - DEVICE_BOX.height,
} as const;
/** The space around the devices of a cluster: for its background, its name and the links between clusters. */
export const CLUSTER_MARGIN = { width: 110, height: 120 } as const;
/** The space between the devices of a cluster and the edges of its background. The labels of devices need more below. */
export const CLUSTER_PADDING = { x: 44, top: 44, bottom: 46 } as const;

/**
 * Lays out a whole network. The nodes are laid out in order of their ids, so that the layout depends only on devices and
 * links, not on the order in which they were read. Positions are rounded to two decimals: more digits are not visible and
 * use space in the browser's storage.
 */
export function layoutMap({ nodes, neighbours }: ClusterGraph): ClusteredLayout {
  const idOf = (node: number) => nodes[node]?.id ?? "";
  const order = [...nodes.keys()].sort((p, q) => (idOf(p) < idOf(q) ? -1 : 1));
  const rank = new Uint32Array(nodes.length);
  for (const [i, node] of order.entries()) rank[node] = i;
  const sorted = {
    nodes: order.flatMap((node) => nodes[node] ?? []),
    neighbours: order.map((node) =>
      (neighbours[node] ?? []).map((other) => rank[other] ?? 0).sort((p, q) => p - q),
    ),
  };
  const layout = layoutClusters(sorted, { spacing: SPACING, margin: CLUSTER_MARGIN });
  const positions = new Float64Array(nodes.length * 2);
  const clusterOf = new Uint32Array(nodes.length);
  for (const [i, node] of order.entries()) {
    positions[node * 2] = roundCoordinate(layout.positions[i * 2] ?? 0);
    positions[node * 2 + 1] = roundCoordinate(layout.positions[i * 2 + 1] ?? 0);
    clusterOf[node] = layout.clusterOf[i] ?? 0;
  }
  return { positions, clusterOf };
}

export const roundCoordinate = (value: number): number => Math.round(value * 100) / 100;
