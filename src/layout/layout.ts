/**
 * Assigns each node of a network a position: hierarchies in layers, rings and dense graphs on a circle, other graphs by
 * springs, very large ones on a grid. Connected components are laid out separately and packed side by side. Isolated
 * nodes form one block at the end. No two nodes overlap, and the same network always gives the same layout.
 */
import {
  type Adjacency,
  type Component,
  connectedComponents,
  maxOf,
  type Point,
  type Size,
} from "./adjacency.ts";
import { forceLayout, MAX_NODES_FOR_FORCE, removeOverlaps } from "./force.ts";
import { assignLayers, layeredLayout } from "./layered.ts";

/** The width of pages and screens relative to their height. */
const ASPECT_RATIO = 1.6;
const MAX_EDGES_FOR_LAYERS = 60_000;

interface Layout {
  /** The centre of each node; the smallest x and y are 0. */
  readonly points: readonly Point[];
  readonly width: number;
  readonly height: number;
}

export function layoutNetwork(graph: Adjacency, spacing: Size): Layout {
  const components = connectedComponents(graph);
  const connected = components.filter(({ members }) => members.length > 1);
  const isolated = components.flatMap(({ members }) => (members.length === 1 ? members : []));
  const blocks = connected.map((component) => layoutComponent(component, spacing));
  if (isolated.length > 0) blocks.push(createBlock(isolated, rowLayout(isolated.length, spacing)));
  return packBlocks(blocks, spacing);
}

function layoutComponent(component: Component, spacing: Size): Block {
  const { members } = component;
  const layers = component.edges.length <= MAX_EDGES_FOR_LAYERS ? assignLayers(component) : undefined;
  if (layers !== undefined) return createBlock(members, layeredLayout(component, layers, spacing));
  const isSmall = members.length <= MAX_NODES_FOR_FORCE;
  const layout =
    isRing(component) || isDense(component) ? circularLayout : isSmall ? forceLayout : gridLayout;
  return createBlock(members, layout(component, spacing));
}

/** Places nodes in rows of equal length. */
function rowLayout(count: number, spacing: Size): Point[] {
  const columns = Math.ceil(Math.sqrt((count * ASPECT_RATIO * spacing.height) / spacing.width));
  return Array.from({ length: count }, (_, i) => ({
    x: (i % columns) * spacing.width,
    y: Math.floor(i / columns) * spacing.height,
  }));
}

/** Nodes with positions relative to the top left of the block. */
interface Block {
  readonly nodes: readonly number[];
  readonly points: readonly Point[];
  readonly width: number;
  readonly height: number;
}

function createBlock(nodes: readonly number[], points: readonly Point[]): Block {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { x, y } of points) {
    box.left = Math.min(box.left, x);
    box.top = Math.min(box.top, y);
    box.right = Math.max(box.right, x);
    box.bottom = Math.max(box.bottom, y);
  }
  return {
    nodes,
    points: points.map(({ x, y }) => ({ x: x - box.left, y: y - box.top })),
    width: box.right - box.left,
    height: box.bottom - box.top,
  };
}

/** Packs blocks from left to right on a shelf and starts a new shelf when one is full. The blocks come largest first. */
function packBlocks(blocks: readonly Block[], spacing: Size): Layout {
  const area = blocks.reduce((sum, b) => sum + (b.width + spacing.width) * (b.height + spacing.height), 0);
  const maxWidth = Math.max(Math.sqrt(area * ASPECT_RATIO), maxOf(blocks.map((block) => block.width)));
  const points: Point[] = [];
  let [x, y, shelfHeight, width, height] = [0, 0, 0, 0, 0];
  for (const block of blocks) {
    if (x > 0 && x + block.width > maxWidth) {
      x = 0;
      y += shelfHeight + spacing.height * 1.5;
      shelfHeight = 0;
    }
    for (const [i, node] of block.nodes.entries()) {
      const point = block.points[i] ?? { x: 0, y: 0 };
      points[node] = { x: x + point.x, y: y + point.y };
    }
    width = Math.max(width, x + block.width);
    height = Math.max(height, y + block.height);
    shelfHeight = Math.max(shelfHeight, block.height);
    x += block.width + spacing.width * 1.25;
  }
  return { points, width, height };
}

/** The largest dense graph that is laid out on a circle. */
const MAX_NODES = 60;
/** The part of all possible edges above which a graph is dense. */
const MIN_DENSITY = 0.5;

function isDense({ nodes, edges }: Adjacency): boolean {
  const n = nodes.length;
  return n > 3 && n <= MAX_NODES && edges.length >= (MIN_DENSITY * n * (n - 1)) / 2;
}

/** Whether a connected graph is one ring: each node has two neighbours. */
function isRing({ nodes, neighbours }: Adjacency): boolean {
  return nodes.length > 2 && neighbours.every((list) => list.length === 2);
}

/**
 * The layout of rings and dense graphs: on a circle no edge runs behind a node. The nodes are in depth-first order, so
 * that neighbours in a ring are side by side.
 */
function circularLayout(graph: Adjacency, spacing: Size): Point[] {
  const count = graph.nodes.length;
  // Nodes are wider than high, so the circle is an ellipse.
  const [radiusX, radiusY] = [(count * spacing.width) / 5, (count * spacing.height) / 3];
  const points: Point[] = [];
  let i = 0;
  for (const node of depthFirst(graph)) {
    const angle = (i++ / count) * 2 * Math.PI - Math.PI / 2;
    points[node] = { x: radiusX * Math.cos(angle), y: radiusY * Math.sin(angle) };
  }
  return removeOverlaps(points, spacing);
}

/**
 * The layout of graphs that are too large for the others: the nodes in depth-first order along a Hilbert curve. Nodes
 * that are near in that order are near in the plane, so a branch of the network becomes one area of the drawing.
 */
export function gridLayout(graph: Adjacency, spacing: Size): Point[] {
  let side = 1;
  while (side * side < graph.nodes.length) side *= 2;
  const points: Point[] = [];
  let index = 0;
  for (const node of depthFirst(graph)) {
    const { x, y } = hilbertCell(side, index++);
    points[node] = { x: x * spacing.width, y: y * spacing.height };
  }
  return points;
}

function* depthFirst({ neighbours }: Adjacency): Generator<number> {
  const seen = new Uint8Array(neighbours.length);
  for (const root of neighbours.keys()) {
    const stack = [root];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (seen[node]) continue;
      seen[node] = 1;
      yield node;
      for (const other of neighbours[node] ?? []) if (!seen[other]) stack.push(other);
    }
  }
}

/** The cell number `index` of the curve that fills a square of `side` cells, a power of two. */
function hilbertCell(side: number, index: number): Point {
  let [x, y, rest] = [0, 0, index];
  for (let s = 1; s < side; s *= 2) {
    const right = 1 & (rest >> 1);
    const up = 1 & (rest ^ right);
    if (up === 0) {
      if (right === 1) [x, y] = [s - 1 - x, s - 1 - y];
      [x, y] = [y, x];
    }
    x += s * right;
    y += s * up;
    rest >>= 2;
  }
  return { x, y };
}
