/**
 * Lays out a whole network, for the map and for the SVG format. The network is divided into clusters, and each cluster is
 * laid out separately, in layers if it is a hierarchy. Then the clusters are placed by the locations of their devices, or
 * else by their links. The result depends only on the network, not on time or chance, so the same network always has the
 * same layout.
 */
import { createAdjacency, maxOf, type Point, type Size } from "./adjacency.ts";
import { assignClusters, type ClusterGraph, type DeviceNode } from "./cluster-assignment.ts";
import { forceLayout, MAX_NODES_FOR_FORCE } from "./force.ts";
import { gridLayout, layoutNetwork } from "./layout.ts";

/**
 * The area over which locations are distributed, relative to the area of the clusters, and its width relative to its
 * height. Boxes that are as large as cards are denser, and moving them apart makes the area wider.
 */
const SPREAD = { area: 1.7, ratio: 1.8 } as const;
const SPREAD_OF_CARDS = { area: 0.9, ratio: 1.4 } as const;
type Spread = Readonly<Record<keyof typeof SPREAD, number>>;
const ASPECT_RATIO = 1.6;

interface LayoutSizes {
  /** The space for one device. */
  readonly spacing: Size;
  /** The space around a cluster: for its background, its name and the links between clusters. */
  readonly margin: Size;
}

export interface ClusteredLayout {
  /** The x and y of each node in one flat array; y points downwards. */
  readonly positions: Float64Array;
  /** The index of the cluster of each node. */
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
  const boxes = clusters.map(({ box }) => box);
  const least = leastCardSize(boxes, graph.nodes.length, sizes.spacing);
  for (const box of boxes) {
    box.width = Math.max(box.width, least.width);
    box.height = Math.max(box.height, least.height);
  }
  const spread = least.width > 0 ? SPREAD_OF_CARDS : SPREAD;
  if (clusters.length > 1) placeClusters(graph, clusters, clusterOf, spread);
  const positions = new Float64Array(graph.nodes.length * 2);
  for (const { members, points, box } of clusters) {
    for (const [i, node] of members.entries()) {
      positions[node * 2] = box.x + (points[i]?.x ?? 0);
      positions[node * 2 + 1] = box.y + (points[i]?.y ?? 0);
    }
  }
  return { positions, clusterOf };
}

/** A network with at most this many devices is always drawn as devices, never as one card for each cluster. */
export const MAX_DEVICES_WITHOUT_CARDS = 200;
/** The smallest spacing of devices in pixels at which devices are drawn. With less, the map draws cards instead. */
export const MIN_DEVICE_SPACING_PX = 8;
/** The least size of a card: a name and a number on one line. */
const LEAST_CARD_PX = { width: 52, height: 19 } as const;
/** The area of the map on a screen of common size, and the part of it that cards cover. */
const SCREEN_AREA_PX = 1230 * 620;
const COVERED_SHARE = 0.45;
const SEARCH_STEPS = 40;

/**
 * The least size of the box of a cluster: that of a card with legible text when the whole network is in view on a screen
 * of common size. Zero if devices are large enough to be drawn there, or if there are too many clusters for any text.
 */
export function leastCardSize(boxes: readonly Size[], devices: number, spacing: Size): Size {
  const { width, height } = LEAST_CARD_PX;
  const coversScreen = (scale: number) => {
    const areas = boxes.map(
      (box) => Math.max(box.width * scale, width) * Math.max(box.height * scale, height),
    );
    return areas.reduce((sum, area) => sum + area, 0) > SCREEN_AREA_PX * COVERED_SHARE;
  };
  let [low, high] = [0, MIN_DEVICE_SPACING_PX / spacing.width];
  const isOverview = devices > MAX_DEVICES_WITHOUT_CARDS && boxes.length > 1 && coversScreen(high);
  if (!isOverview || coversScreen(low)) return { width: 0, height: 0 };
  for (let step = 0; step < SEARCH_STEPS; step++) {
    const middle = (low + high) / 2;
    if (coversScreen(middle)) high = middle;
    else low = middle;
  }
  return { width: width / low, height: height / low };
}

function layoutEach(graph: ClusterGraph, clusterOf: Uint32Array, sizes: LayoutSizes): ClusterLayout[] {
  // Clusters are numbered in the order of their first node.
  const members = Map.groupBy(clusterOf.keys(), (node) => clusterOf[node]);
  return Array.from(members.values(), (list) => layoutCluster(graph, list, sizes));
}

function layoutCluster(
  { nodes, neighbours }: ClusterGraph,
  members: readonly number[],
  { spacing, margin }: LayoutSizes,
): ClusterLayout {
  const index = new Map(members.map((node, i) => [node, i]));
  const clusterNodes = members.flatMap((node) => nodes[node] ?? []);
  const edges = members.flatMap((node, i) =>
    (neighbours[node] ?? []).flatMap((other): [number, number][] => {
      const j = index.get(other);
      return j !== undefined && other > node ? [[i, j]] : [];
    }),
  );
  const { points, width, height } = layoutNetwork(createAdjacency(clusterNodes, edges), spacing);
  return {
    members,
    points: points.map(({ x, y }) => ({ x: x - width / 2, y: y - height / 2 })),
    box: { x: 0, y: 0, width: width + margin.width, height: height + margin.height },
    location: meanLocation(clusterNodes),
  };
}

function meanLocation(nodes: readonly DeviceNode[]): Point | undefined {
  const locations = nodes.flatMap((node) => node.location ?? []);
  if (locations.length === 0) return undefined;
  const sum = locations.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }));
  return { x: sum.x / locations.length, y: sum.y / locations.length };
}

function placeClusters(
  graph: ClusterGraph,
  clusters: readonly ClusterLayout[],
  clusterOf: Uint32Array,
  spread: Spread,
): void {
  const neighbours = clusterNeighbours(graph, clusters.length, clusterOf);
  const located = clusters.filter((cluster) => cluster.location !== undefined);
  if (located.length > 1) placeByLocation(clusters, located, neighbours, spread);
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
  spread: Spread,
): void {
  const area = clusters.reduce((sum, { box }) => sum + box.width * box.height, 0);
  const positions = scaleLocations(
    located.map((cluster) => cluster.location ?? { x: 0, y: 0 }),
    { ...spread, area: area * spread.area },
  );
  for (const [i, cluster] of located.entries()) {
    cluster.box.x = positions[i]?.x ?? 0;
    cluster.box.y = positions[i]?.y ?? 0;
  }
  const placed = new Set([...clusters.keys()].filter((i) => clusters[i]?.location !== undefined));
  const bottom = maxOf(positions.map((position) => position.y));
  // A cluster without a location is placed at the centre of its placed neighbours. The one with the most of them is next.
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
  const edges = neighbours.flatMap((others, i) => Array.from(others, (j): [number, number] => [i, j]));
  const graph = createAdjacency(
    clusters.map(() => ({})),
    edges,
  );
  const meanArea = clusters.reduce((sum, { box }) => sum + box.width * box.height, 0) / clusters.length;
  const spacing = { width: Math.sqrt(meanArea * ASPECT_RATIO), height: Math.sqrt(meanArea / ASPECT_RATIO) };
  const useForce = clusters.length <= MAX_NODES_FOR_FORCE && neighbours.every((others) => others.size > 0);
  const points = useForce ? forceLayout(graph, spacing) : gridLayout(graph, spacing);
  for (const [i, { box }] of clusters.entries()) {
    box.x = points[i]?.x ?? 0;
    box.y = points[i]?.y ?? 0;
  }
}

/** The maximum ratio between the scales of the two axes. Above it, the outline of a country is not recognisable. */
const MAX_STRETCH = 2;
/** The widest gap, relative to the range of the values divided by the square root of their number. */
const MAX_GAP = 0.6;

/**
 * Converts the locations of clusters to positions on the map, which cover about this area. The order from west to east
 * and from north to south does not change. Wide gaps are narrowed, because oceans waste space, and the result is
 * stretched within limits to the aspect ratio of a screen. The smallest x and y are 0.
 */
function scaleLocations(locations: readonly Point[], { area, ratio }: Spread): Point[] {
  const x = narrowGaps(locations.map((location) => location.x));
  const y = narrowGaps(locations.map((location) => location.y));
  const [maxX, maxY] = [Math.max(...x, 1e-9), Math.max(...y, 1e-9)];
  const width = Math.sqrt(area * ratio);
  let [scaleX, scaleY] = [width / maxX, width / ratio / maxY];
  scaleX = Math.min(scaleX, scaleY * MAX_STRETCH);
  scaleY = Math.min(scaleY, scaleX * MAX_STRETCH);
  return locations.map((_, i) => ({ x: (x[i] ?? 0) * scaleX, y: (y[i] ?? 0) * scaleY }));
}

/** Shifts the values so that they start at 0, and narrows gaps wider than the limit. Their order does not change. */
function narrowGaps(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((p, q) => (values[p] ?? 0) - (values[q] ?? 0));
  const min = values[order[0] ?? 0] ?? 0;
  const max = values[order.at(-1) ?? 0] ?? 0;
  const maxGap = ((max - min) / Math.sqrt(values.length)) * MAX_GAP;
  const result: number[] = [];
  let [previous, position] = [min, 0];
  for (const i of order) {
    const value = values[i] ?? 0;
    position += Math.min(value - previous, maxGap);
    previous = value;
    result[i] = position;
  }
  return result;
}

export interface Box {
  /** The coordinates of the centre. */
  x: number;
  y: number;
  width: number;
  height: number;
}

const MAX_ROUNDS = 400;
/** The factor that moves a pair slightly more than needed, so that a rounding error does not make it overlap again. */
const MOVE_FACTOR = 1.001;

/**
 * Moves overlapping rectangles apart and keeps their relative order. Each overlapping pair moves along the axis on which
 * the overlap is smaller relative to the size of the boxes. The number of rounds is limited, so a small overlap may
 * remain.
 */
export function separateBoxes(boxes: readonly Box[]): void {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // The boxes are sorted by their left edge, so the boxes that can overlap a box come directly after it.
    const order = boxes.toSorted((p, q) => p.x - p.width / 2 - (q.x - q.width / 2));
    let moved = false;
    for (const [i, box] of order.entries()) {
      for (let j = i + 1; j < order.length; j++) {
        const other = order[j];
        if (other === undefined || other.x - other.width / 2 >= box.x + box.width / 2) break;
        if (separatePair(box, other)) moved = true;
      }
    }
    if (!moved) return;
  }
}

function separatePair(a: Box, b: Box): boolean {
  const overlapX = (a.width + b.width) / 2 - Math.abs(b.x - a.x);
  const overlapY = (a.height + b.height) / 2 - Math.abs(b.y - a.y);
  if (overlapX <= 1e-6 || overlapY <= 1e-6) return false;
  // Compares relative overlaps. With absolute ones, wide boxes would always move vertically and form columns.
  if (overlapX * (a.height + b.height) < overlapY * (a.width + b.width)) {
    const distance = ((overlapX * MOVE_FACTOR) / 2) * (b.x < a.x ? -1 : 1);
    a.x -= distance;
    b.x += distance;
  } else {
    const distance = ((overlapY * MOVE_FACTOR) / 2) * (b.y < a.y ? -1 : 1);
    a.y -= distance;
    b.y += distance;
  }
  return true;
}
