/**
 * Divides a network into clusters. Each cluster is laid out separately and is drawn as one node at a low zoom. The
 * criteria, in order of preference: the sites that devices name; the locations of devices, where a device without a
 * location joins the nearest device that has one; in a large network with neither, the density of its links.
 */

import type { Device } from "../model/entity.ts";
import type { LayoutNode, Point } from "./adjacency.ts";

export interface DeviceNode extends LayoutNode {
  readonly id: string;
  /** The location from annotations: degrees of longitude and projected latitude, or x and y; y points downwards. */
  readonly location?: Point;
  readonly site?: string;
}

export interface ClusterGraph {
  readonly nodes: readonly DeviceNode[];
  readonly neighbours: readonly (readonly number[])[];
}

/** A network without sites and locations that has at most this many devices is one cluster. */
const MAX_SINGLE_CLUSTER_NODES = 400;
const PROPAGATION_ROUNDS = 8;

/** The cluster number of each node. Clusters are numbered from 0 in the order of their first node. */
export function assignClusters(graph: ClusterGraph): Uint32Array {
  const withSite = graph.nodes.filter((node) => node.site !== undefined).length;
  const withLocation = graph.nodes.filter((node) => node.location !== undefined).length;
  if (withSite * 2 >= graph.nodes.length && withSite > 0)
    return numberLabels(labelByNearest(graph, (node) => node.site));
  if (withLocation > 0)
    return numberLabels(labelByNearest(graph, (node) => node.location && roundedLocation(node.location)));
  if (graph.nodes.length <= MAX_SINGLE_CLUSTER_NODES) return new Uint32Array(graph.nodes.length);
  return numberLabels(propagateLabels(graph));
}

/** The location rounded to a tenth of a degree, so that devices in neighbouring buildings belong to one cluster. */
const roundedLocation = ({ x, y }: { readonly x: number; readonly y: number }): string =>
  `${Math.round(x * 10)},${Math.round(y * 10)}`;

/**
 * Gives each node without a label the label of the nearest node that has one. Nodes that are connected to no labelled
 * node get the empty label, so they form one cluster.
 */
function labelByNearest(graph: ClusterGraph, labelOf: (node: DeviceNode) => string | undefined): string[] {
  const labels = graph.nodes.map(labelOf);
  const queue = [...labels.keys()].filter((node) => labels[node] !== undefined);
  for (const node of queue) {
    for (const other of graph.neighbours[node] ?? []) {
      if (labels[other] !== undefined) continue;
      labels[other] = labels[node];
      queue.push(other);
    }
  }
  return labels.map((label) => label ?? "");
}

/**
 * Label propagation: in each round, each node gets the label that is most frequent among its neighbours. The order of
 * the nodes is fixed and a node keeps its label on a tie, so the result is deterministic.
 */
function propagateLabels({ nodes, neighbours }: ClusterGraph): string[] {
  const labels = Uint32Array.from(nodes, (_, i) => i);
  // Nodes of the highest degree come first, so that the labels of hubs spread.
  const order = [...nodes.keys()].sort(
    (p, q) => (neighbours[q]?.length ?? 0) - (neighbours[p]?.length ?? 0) || p - q,
  );
  for (let round = 0; round < PROPAGATION_ROUNDS; round++) {
    let changed = false;
    for (const node of order) {
      const counts = new Map<number, number>();
      for (const other of neighbours[node] ?? []) {
        const label = labels[other] ?? 0;
        counts.set(label, (counts.get(label) ?? 0) + 1);
      }
      let best = labels[node] ?? 0;
      for (const [label, count] of counts) if (count > (counts.get(best) ?? 0)) best = label;
      if (best !== labels[node]) changed = true;
      labels[node] = best;
    }
    if (!changed) break;
  }
  return Array.from(labels, String);
}

function numberLabels(labels: readonly string[]): Uint32Array {
  const numbers = new Map<string, number>();
  return Uint32Array.from(labels, (label) => {
    const number = numbers.get(label) ?? numbers.size;
    numbers.set(label, number);
    return number;
  });
}

/** The layout's node of a device: its layer, location and site come from its annotations. */
export function deviceNode({ id, annotations }: Pick<Device, "id" | "annotations">): DeviceNode {
  const layer = layerOf(annotations.layer);
  const location = earthLocation(annotations) ?? plainLocation(annotations);
  return {
    id,
    ...(layer !== undefined && { layer }),
    ...(location && { location }),
    ...(annotations.site && { site: annotations.site }),
  };
}

/** The `layer` annotation is a name or a number. */
function layerOf(annotation: string | undefined): number | undefined {
  const text = annotation?.trim() ?? "";
  return /^\d{1,3}$/.test(text) ? Number(text) : namedLayer(text);
}

/** The location from the latitude and longitude annotations, in the units of the layout. */
function earthLocation(annotations: Readonly<Record<string, string>>): Point | undefined {
  const [latitude, longitude] = [parseNumber(annotations.latitude), parseNumber(annotations.longitude)];
  const isValid =
    latitude !== undefined &&
    longitude !== undefined &&
    Math.abs(latitude) < 89 &&
    Math.abs(longitude) <= 180;
  return isValid ? projectLocation(latitude, longitude) : undefined;
}

/** Applies the Mercator projection, which gives countries their familiar shape; y points downwards. */
function projectLocation(latitude: number, longitude: number): Point {
  const mercatorY = Math.log(Math.tan(Math.PI / 4 + (latitude * Math.PI) / 360)) * (180 / Math.PI);
  return { x: longitude, y: -mercatorY };
}

function plainLocation(annotations: Readonly<Record<string, string>>): Point | undefined {
  const [x, y] = [parseNumber(annotations.x), parseNumber(annotations.y)];
  return x !== undefined && y !== undefined ? { x, y } : undefined;
}

function parseNumber(text: string | undefined): number | undefined {
  const value = Number(text?.trim() || Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

/**
 * The names of each layer in the `layer` annotation of a device; layer 0 is drawn at the top. The SVG format and the
 * page's map share this table, so that both draw a network in the same order.
 */
const LAYER_NAMES: readonly (readonly string[])[] = [
  ["core", "backbone", "wan", "super-spine", "superspine"],
  ["spine", "border"],
  ["distribution", "aggregation", "agg"],
  ["leaf", "tor"],
  ["access", "edge"],
];

/** The layer with this name. Undefined when there is no annotation or it names no layer. */
function namedLayer(annotation: string | undefined): number | undefined {
  const name = annotation?.trim().toLowerCase() ?? "";
  const layer = LAYER_NAMES.findIndex((names) => names.includes(name));
  return layer === -1 ? undefined : layer;
}
