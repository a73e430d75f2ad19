/**
 * Where to draw each node of a network: hierarchies in layers, other networks by springs, full meshes on a
 * ring, very large ones on a grid. Parts that are not connected are laid out each for itself and set side by side; single nodes go together
 * in a block at the end. No two nodes overlap, and the same network always gives the same picture.
 */
import {
  type Adjacency,
  components,
  createAdjacency,
  type LayoutEdge,
  type LayoutNode,
  largest,
  type Point,
  type Spacing,
} from "./adjacency.ts";
import { forceLayout, MAX_NODES_FOR_FORCE } from "./force.ts";
import { gridLayout } from "./grid.ts";
import { layeredLayout } from "./layered.ts";
import { findLayers } from "./layer-assignment.ts";
import { isDense, ringLayout } from "./circular.ts";

/** Pages and screens are about this much wider than high. */
const ASPECT = 1.6;
const MAX_EDGES_FOR_LAYERS = 60_000;

export interface LayoutInput {
  readonly nodes: readonly LayoutNode[];
  readonly edges: readonly LayoutEdge[];
}

export interface Layout {
  /** The middle of each node; the smallest x and y are 0. */
  readonly positions: ReadonlyMap<string, Point>;
  /** The nodes that stand in layers, so that lines between them can go from foot to head. */
  readonly layered: ReadonlySet<string>;
  readonly width: number;
  readonly height: number;
}

export function layoutNetwork({ nodes, edges }: LayoutInput, spacing: Spacing): Layout {
  const parts = components(createAdjacency(nodes, edges));
  const joined = parts.filter((part) => part.nodes.length > 1);
  const single = parts.filter((part) => part.nodes.length === 1).flatMap((part) => part.nodes);
  const blocks = joined.map((part) => layoutPart(part, spacing));
  if (single.length > 0) blocks.push(createBlock(single, rowsOf(single.length, spacing), false));
  return packed(blocks, spacing);
}

/** One connected part, by the layout that suits it. */
function layoutPart(part: Adjacency, spacing: Spacing): Block {
  const layers = part.edges.length <= MAX_EDGES_FOR_LAYERS ? findLayers(part) : undefined;
  if (layers !== undefined) return createBlock(part.nodes, layeredLayout(part, layers, spacing), true);
  const isSmall = part.nodes.length <= MAX_NODES_FOR_FORCE;
  const layout = isDense(part) ? ringLayout : isSmall ? forceLayout : gridLayout;
  return createBlock(part.nodes, layout(part, spacing), false);
}

function rowsOf(count: number, spacing: Spacing): Point[] {
  const columns = Math.ceil(Math.sqrt((count * ASPECT * spacing.y) / spacing.x));
  return Array.from({ length: count }, (_, i) => ({
    x: (i % columns) * spacing.x,
    y: Math.floor(i / columns) * spacing.y,
  }));
}

interface Block {
  readonly nodes: readonly LayoutNode[];
  readonly points: readonly Point[];
  readonly layered: boolean;
  readonly width: number;
  readonly height: number;
}

function createBlock(nodes: readonly LayoutNode[], points: readonly Point[], layered: boolean): Block {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { x, y } of points) {
    box.left = Math.min(box.left, x);
    box.top = Math.min(box.top, y);
    box.right = Math.max(box.right, x);
    box.bottom = Math.max(box.bottom, y);
  }
  return {
    nodes,
    layered,
    points: points.map(({ x, y }) => ({ x: x - box.left, y: y - box.top })),
    width: box.right - box.left,
    height: box.bottom - box.top,
  };
}

/** Shelves: blocks from left to right, a new shelf when one is full. They come largest first. */
function packed(blocks: readonly Block[], spacing: Spacing): Layout {
  const area = blocks.reduce((sum, b) => sum + (b.width + spacing.x) * (b.height + spacing.y), 0);
  const full = Math.max(Math.sqrt(area * ASPECT), largest(blocks.map((block) => block.width)));
  const positions = new Map<string, Point>();
  let [x, y, shelfHeight, width, height] = [0, 0, 0, 0, 0];
  for (const block of blocks) {
    if (x > 0 && x + block.width > full) {
      x = 0;
      y += shelfHeight + spacing.y * 1.5;
      shelfHeight = 0;
    }
    for (const [i, node] of block.nodes.entries()) {
      const point = block.points[i] ?? { x: 0, y: 0 };
      positions.set(node.id, { x: x + point.x, y: y + point.y });
    }
    width = Math.max(width, x + block.width);
    height = Math.max(height, y + block.height);
    shelfHeight = Math.max(shelfHeight, block.height);
    x += block.width + spacing.x * 1.25;
  }
  const inLayers = blocks.filter((block) => block.layered).flatMap((block) => block.nodes);
  return { positions, layered: new Set(inLayers.map((node) => node.id)), width, height };
}
