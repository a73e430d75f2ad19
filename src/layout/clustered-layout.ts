/**
 * Lays out a whole network, for the map and for the SVG format. The network is divided into clusters, and each cluster is
 * laid out separately, in layers if it is a hierarchy. Then the clusters are placed by the locations of their devices, or
 * else by their links. The result depends only on the network, not on time or chance, so the same network always has the
 * same layout.
 */
import { createAdjacency, maxOf, type Point, type Size } from "./adjacency.ts";
import { assignClusters, type ClusterGraph, type ClusterNode } from "./cluster-assignment.ts";
import { forceLayout, MAX_NODES_FOR_FORCE } from "./force.ts";
import { gridLayout } from "./grid.ts";
import { layoutNetwork } from "./layout.ts";
import { scaleLocations } from "./scale-locations.ts";
import { type Box, separateBoxes } from "./separate-boxes.ts";

/** The area over which locations are distributed, relative to the area of the clusters. */
const AREA_FACTOR = 1.7;
const ASPECT_RATIO = 1.6;

interface LayoutSizes {
  /** The space for one device. */
  readonly spacing: Size;
  /** The space around a cluster: for its background, its name and the links between clusters. */
  readonly margin: Size;
}

export interface ClusteredLayout {
  /** x and y of each node, flat, y downwards. */
  readonly positions: Float64Array;
  /** For each node the index of its cluster. */
  readonly clusterOf: Uint32Array;
}

interface ClusterLayout {
  readonly members: readonly number[];
  /** The positions of `members`, relative to the centre of `box`. */
  readonly points: readonly Point[];
  readonly box: Box;
  readonly location: Point | undefined;
}

export function layoutClusters(graph: ClusterGraph, sizes: LayoutSizes): ClusteredLayout {
  const clusterOf = assignClusters(graph);
  const clusters = layoutEach(graph, clusterOf, sizes);
  if (clusters.length > 1) placeClusters(graph, clusters, clusterOf);
  const positions = new Float64Array(graph.nodes.length * 2);
  for (const { members, points, box } of clusters) {
    for (const [i, node] of members.entries()) {
      positions[node * 2] = box.x + (points[i]?.x ?? 0);
      positions[node * 2 + 1] = box.y + (points[i]?.y ?? 0);
    }
  }
  return { positions, clusterOf };
}

function layoutEach(graph: ClusterGraph, clusterOf: Uint32Array, sizes: LayoutSizes): ClusterLayout[] {
  const members: number[][] = [];
  for (const [node, cluster] of clusterOf.entries()) {
    const list = members[cluster];
    if (list) list.push(node);
    else members[cluster] = [node];
  }
  return members.map((list) => layoutCluster(graph, list, sizes));
}

function layoutCluster(
  { nodes, neighbours }: ClusterGraph,
  members: readonly number[],
  { spacing, margin }: LayoutSizes,
): ClusterLayout {
  const memberSet = new Set(members);
  const clusterNodes = members.flatMap((node) => nodes[node] ?? []);
  const edges = members.flatMap((node) =>
    (neighbours[node] ?? [])
      .filter((other) => other > node && memberSet.has(other))
      .map((other) => ({ a: nodes[node]?.id ?? "", b: nodes[other]?.id ?? "" })),
  );
  const { positions, width, height } = layoutNetwork({ nodes: clusterNodes, edges }, spacing);
  const points = clusterNodes.map(({ id }) => {
    const position = positions.get(id) ?? { x: 0, y: 0 };
    return { x: position.x - width / 2, y: position.y - height / 2 };
  });
  return {
    members,
    points,
    box: { x: 0, y: 0, width: width + margin.width, height: height + margin.height },
    location: meanLocation(clusterNodes),
  };
}

function meanLocation(nodes: readonly ClusterNode[]): Point | undefined {
  const locations = nodes.flatMap((node) => node.location ?? []);
  if (locations.length === 0) return undefined;
  const sum = locations.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }));
  return { x: sum.x / locations.length, y: sum.y / locations.length };
}

function placeClusters(
  graph: ClusterGraph,
  clusters: readonly ClusterLayout[],
  clusterOf: Uint32Array,
): void {
  const neighbours = clusterNeighbours(graph, clusters.length, clusterOf);
  const located = clusters.filter((cluster) => cluster.location !== undefined);
  if (located.length > 1) placeByLocation(clusters, located, neighbours);
  else placeByLinks(clusters, neighbours);
  separateBoxes(clusters.map((cluster) => cluster.box));
}

function clusterNeighbours(
  { neighbours }: ClusterGraph,
  count: number,
  clusterOf: Uint32Array,
): Set<number>[] {
  const sets = Array.from({ length: count }, () => new Set<number>());
  for (const [node, others] of neighbours.entries()) {
    const cluster = clusterOf[node] ?? 0;
    for (const other of others) {
      const otherCluster = clusterOf[other] ?? 0;
      if (otherCluster !== cluster) sets[cluster]?.add(otherCluster);
    }
  }
  return sets;
}

function placeByLocation(
  clusters: readonly ClusterLayout[],
  located: readonly ClusterLayout[],
  neighbours: readonly Set<number>[],
): void {
  const area = clusters.reduce((sum, { box }) => sum + box.width * box.height, 0);
  const positions = scaleLocations(
    located.map((cluster) => cluster.location ?? { x: 0, y: 0 }),
    area * AREA_FACTOR,
  );
  for (const [i, cluster] of located.entries()) {
    cluster.box.x = positions[i]?.x ?? 0;
    cluster.box.y = positions[i]?.y ?? 0;
  }
  const placed = new Set([...clusters.keys()].filter((i) => clusters[i]?.location !== undefined));
  const bottom = maxOf(positions.map((position) => position.y));
  // A cluster without a location is placed at the centre of its placed neighbours; the one with most of those is next.
  const unplaced = [...clusters.keys()].filter((i) => !placed.has(i));
  while (unplaced.length > 0) {
    const placedNeighbours = (i: number) => [...(neighbours[i] ?? [])].filter((other) => placed.has(other));
    unplaced.sort((p, q) => placedNeighbours(q).length - placedNeighbours(p).length || p - q);
    const next = unplaced.shift() ?? 0;
    const neighbourBoxes = placedNeighbours(next).flatMap((other) => clusters[other]?.box ?? []);
    const box = clusters[next]?.box;
    if (box && neighbourBoxes.length > 0) {
      box.x = neighbourBoxes.reduce((sum, other) => sum + other.x, 0) / neighbourBoxes.length;
      box.y = neighbourBoxes.reduce((sum, other) => sum + other.y, 0) / neighbourBoxes.length + 1;
    } else if (box) box.y = bottom + box.height;
    placed.add(next);
  }
}

function placeByLinks(clusters: readonly ClusterLayout[], neighbours: readonly Set<number>[]): void {
  const nodes = clusters.map((_, i) => ({ id: String(i) }));
  const edges = neighbours.flatMap((others, i) => [...others].map((j) => ({ a: String(i), b: String(j) })));
  const graph = createAdjacency(nodes, edges);
  const meanArea = clusters.reduce((sum, { box }) => sum + box.width * box.height, 0) / clusters.length;
  const spacing = { width: Math.sqrt(meanArea * ASPECT_RATIO), height: Math.sqrt(meanArea / ASPECT_RATIO) };
  const useForce = nodes.length <= MAX_NODES_FOR_FORCE && neighbours.every((others) => others.size > 0);
  const points = useForce ? forceLayout(graph, spacing) : gridLayout(graph, spacing);
  for (const [i, { box }] of clusters.entries()) {
    box.x = points[i]?.x ?? 0;
    box.y = points[i]?.y ?? 0;
  }
}
