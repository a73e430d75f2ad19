/** The sizes of the map in map units, and the layout that uses them. */

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

export const layoutMap = (graph: ClusterGraph): ClusteredLayout =>
  layoutClusters(graph, { spacing: SPACING, margin: CLUSTER_MARGIN });
