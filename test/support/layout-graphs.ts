/**
 * Graphs for the tests and the benchmark of the layout: hierarchies, rings, meshes, and backbone networks with the sizes,
 * degrees and shapes of those in the Internet Topology Zoo. All are deterministic.
 */
import type { ClusterGraph, DeviceNode } from "../../src/layout/cluster-assignment.ts";
import { createPlan } from "../../src/sources/demo/network-plan.ts";
import { campus, type ListedGraph, listCables } from "./sample-network.ts";

export type NumberedEdge = readonly [a: number, b: number];

export interface LayoutGraph extends ClusterGraph {
  readonly name: string;
  readonly edges: readonly NumberedEdge[];
}

/** Without loops and multiple edges. */
export function layoutGraph(
  name: string,
  nodes: readonly DeviceNode[],
  edges: readonly NumberedEdge[],
): LayoutGraph {
  const neighbours: number[][] = nodes.map(() => []);
  const unique: NumberedEdge[] = [];
  for (const [a, b] of edges) {
    if (a === b || neighbours[a]?.includes(b)) continue;
    neighbours[a]?.push(b);
    neighbours[b]?.push(a);
    unique.push([a, b]);
  }
  return { name, nodes, neighbours, edges: unique };
}

export const numberedNodes = (count: number): DeviceNode[] =>
  Array.from({ length: count }, (_, i) => ({ id: `n${String(i).padStart(5, "0")}` }));

/** The network of the demo source. Its core routers have a location; with `sites`, all devices have a site. */
export function demoLayoutGraph(devices: number, { sites }: { readonly sites: boolean }): LayoutGraph {
  const plan = createPlan(devices);
  const nodes = plan.devices.map((device, i): DeviceNode => {
    const site = plan.sites[device.site];
    const isLocated = device.layer === "core" && site;
    return {
      id: `d${String(i).padStart(5, "0")}`,
      ...(sites && site && { site: site.code }),
      ...(isLocated && { location: { x: site.longitude, y: -site.latitude } }),
    };
  });
  return layoutGraph(
    `demo ${devices}`,
    nodes,
    plan.cables.map(({ a, b }) => [a, b] as const),
  );
}

export function listedLayoutGraph(name: string, graph: ListedGraph): LayoutGraph {
  const index = new Map(graph.devices.map(({ id }, i) => [id, i]));
  return layoutGraph(
    name,
    graph.devices.map(({ id }) => ({ id })),
    listCables(graph).map(
      ({ from, to }) => [index.get(from.device) ?? 0, index.get(to.device) ?? 0] as const,
    ),
  );
}

export const campusLayoutGraph = (): LayoutGraph => listedLayoutGraph("campus", campus());

/** The switches of a fat tree: cores, and in each of `k` pods k/2 upper and k/2 lower switches. */
export function fatTree(k: number): LayoutGraph {
  const half = k / 2;
  const cores = half * half;
  const edges: NumberedEdge[] = [];
  for (let pod = 0; pod < k; pod++) {
    const upper = cores + pod * k;
    for (let u = 0; u < half; u++) {
      for (let c = 0; c < half; c++) edges.push([u * half + c, upper + u]);
      for (let l = 0; l < half; l++) edges.push([upper + u, upper + half + l]);
    }
  }
  return layoutGraph(`fat tree ${k}`, numberedNodes(cores + k * k), edges);
}

export const ring = (count: number): LayoutGraph =>
  layoutGraph(
    `ring ${count}`,
    numberedNodes(count),
    Array.from({ length: count }, (_, i) => [i, (i + 1) % count] as const),
  );

export function grid(columns: number, rows: number): LayoutGraph {
  const nodes = numberedNodes(columns * rows);
  const edges = nodes.flatMap((_, i): NumberedEdge[] => [
    ...((i + 1) % columns === 0 ? [] : [[i, i + 1] as const]),
    ...(i + columns >= nodes.length ? [] : [[i, i + columns] as const]),
  ]);
  return layoutGraph(`grid ${columns}×${rows}`, nodes, edges);
}

/** Devices and links of the 24 backbones. In the Zoo the median is 21 devices, the mean degree about 2.4. */
const BACKBONE_SIZES: readonly NumberedEdge[] = [
  [10, 12],
  [11, 14],
  [11, 18],
  [12, 15],
  [15, 18],
  [17, 19],
  [18, 25],
  [19, 27],
  [21, 24],
  [22, 36],
  [24, 37],
  [25, 28],
  [27, 42],
  [28, 36],
  [30, 55],
  [33, 47],
  [37, 57],
  [40, 61],
  [48, 63],
  [53, 89],
  [62, 78],
  [74, 101],
  [113, 161],
  [197, 243],
];

/**
 * Sites at pseudo-random places, joined by a shortest spanning tree, then by links that shorten the longest ways for
 * their length, as operators build backbones. Every third is a set of rings on a core, as national networks are.
 */
export const backbones = (): LayoutGraph[] =>
  BACKBONE_SIZES.map(([count, links], i) => createBackbone(i, count, links));

function createBackbone(index: number, count: number, links: number): LayoutGraph {
  const random = createRandom(index + 1);
  const places = Array.from({ length: count }, () => ({ x: random() * 1.6, y: random() }));
  const length = (a: number, b: number) => {
    const [p, q] = [places[a], places[b]];
    return p && q ? Math.hypot(p.x - q.x, p.y - q.y) : 0;
  };
  const edges: NumberedEdge[] = [];
  const has = (a: number, b: number) => edges.some(([p, q]) => (p === a && q === b) || (p === b && q === a));
  if (index % 3 === 2) addRings(count, random, edges);
  else addSpanningTree(count, length, edges);
  const hops = () => allDistances(count, edges);
  while (edges.length < links) {
    const distance = hops();
    let [best, bestValue]: [NumberedEdge | undefined, number] = [undefined, 0];
    for (let tries = 0; tries < count * 4; tries++) {
      const [a, b] = [Math.floor(random() * count), Math.floor(random() * count)];
      if (a === b || has(a, b)) continue;
      const value = (distance[a]?.[b] ?? 1) ** 0.7 / (length(a, b) + 0.05);
      if (value > bestValue) [best, bestValue] = [[a, b], value];
    }
    if (best) edges.push(best);
  }
  return layoutGraph(`backbone ${index + 1}`, numberedNodes(count), edges);
}

function addSpanningTree(
  count: number,
  length: (a: number, b: number) => number,
  edges: NumberedEdge[],
): void {
  const joined = new Set([0]);
  while (joined.size < count) {
    let [best, bestLength]: [NumberedEdge, number] = [[0, 0], Number.POSITIVE_INFINITY];
    for (const a of joined) {
      for (let b = 0; b < count; b++) {
        if (!joined.has(b) && length(a, b) < bestLength) [best, bestLength] = [[a, b], length(a, b)];
      }
    }
    edges.push(best);
    joined.add(best[1]);
  }
}

/** A core ring of about a fifth of the devices; the others in rings from one core device to the next. */
function addRings(count: number, random: () => number, edges: NumberedEdge[]): void {
  const core = Math.max(3, Math.round(count / 5));
  for (let i = 0; i < core; i++) edges.push([i, (i + 1) % core]);
  let next = core;
  while (next < count) {
    const start = Math.floor(random() * core);
    const size = Math.min(count - next, 2 + Math.floor(random() * 4));
    for (let i = 0; i < size; i++) edges.push([i === 0 ? start : next + i - 1, next + i]);
    edges.push([next + size - 1, (start + 1) % core]);
    next += size;
  }
}

function allDistances(count: number, edges: readonly NumberedEdge[]): number[][] {
  const { neighbours } = layoutGraph("", numberedNodes(count), edges);
  return numberedNodes(count).map((_, start) => {
    const distance: number[] = [];
    distance[start] = 0;
    const queue = [start];
    for (const node of queue) {
      for (const other of neighbours[node] ?? []) {
        if (distance[other] !== undefined) continue;
        distance[other] = (distance[node] ?? 0) + 1;
        queue.push(other);
      }
    }
    return distance;
  });
}

/** Mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed * 7919;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
