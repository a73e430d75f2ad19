/**
 * A whole map: the network is cut into blocks, each block is laid out for itself (in layers where it is layered),
 * and the blocks are put where their devices are said to stand, or else near what they are connected to. Everything
 * is a function of the network alone: no clock, no chance, so the same network looks the same tomorrow.
 */
import { createAdjacency, type Point } from "../../formats/layout/adjacency.ts";
import { forceLayout, MAX_NODES_FOR_FORCE } from "../../formats/layout/force.ts";
import { gridLayout } from "../../formats/layout/grid.ts";
import { layoutNetwork } from "../../formats/layout/layout.ts";
import { partition, type Topology } from "./cluster-assignment.ts";
import type { MapNode } from "./messages.ts";
import { spread } from "./scale-locations.ts";
import { type Box, separateBoxes } from "./separate-boxes.ts";

/** What one device and its name need. The unit of all positions. */
export const SPACING = { width: 84, height: 60 } as const;
/** Around a block, for its plate, its name and the lines between blocks. */
const MARGIN = { x: 110, y: 120 } as const;
/** Places are spread over this much more room than the blocks need, before they are pushed apart. */
const ROOM = 1.7;
const ASPECT = 1.6;

export interface Arrangement {
  readonly positions: Float64Array;
  readonly blockOf: Uint32Array;
}

interface Block {
  readonly members: readonly number[];
  readonly points: readonly Point[];
  readonly box: Box;
  readonly place: Point | undefined;
}

export function arrange(graph: Topology): Arrangement {
  const blockOf = partition(graph);
  const blocks = createBlocks(graph, blockOf);
  if (blocks.length > 1) placeBlocks(graph, blocks, blockOf);
  const positions = new Float64Array(graph.nodes.length * 2);
  for (const { members, points, box } of blocks) {
    for (const [i, node] of members.entries()) {
      positions[node * 2] = box.x + (points[i]?.x ?? 0);
      positions[node * 2 + 1] = box.y + (points[i]?.y ?? 0);
    }
  }
  return { positions, blockOf };
}

function createBlocks(graph: Topology, blockOf: Uint32Array): Block[] {
  const members: number[][] = [];
  for (const [node, block] of blockOf.entries()) {
    const list = members[block];
    if (list) list.push(node);
    else members[block] = [node];
  }
  return members.map((list) => createBlock(graph, list));
}

function createBlock({ nodes, neighbours }: Topology, members: readonly number[]): Block {
  const inside = new Set(members);
  const here = members.flatMap((node) => nodes[node] ?? []);
  const edges = members.flatMap((node) =>
    (neighbours[node] ?? [])
      .filter((other) => other > node && inside.has(other))
      .map((other) => ({ a: nodes[node]?.id ?? "", b: nodes[other]?.id ?? "" })),
  );
  const { positions, width, height } = layoutNetwork({ nodes: here, edges }, SPACING);
  const points = here.map(({ id }) => {
    const at = positions.get(id) ?? { x: 0, y: 0 };
    return { x: at.x - width / 2, y: at.y - height / 2 };
  });
  return {
    members,
    points,
    box: { x: 0, y: 0, width: width + MARGIN.x, height: height + MARGIN.y },
    place: meanPlace(here),
  };
}

function meanPlace(nodes: readonly MapNode[]): Point | undefined {
  const places = nodes.flatMap((node) => node.place ?? []);
  if (places.length === 0) return undefined;
  const sum = places.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }));
  return { x: sum.x / places.length, y: sum.y / places.length };
}

function placeBlocks(graph: Topology, blocks: readonly Block[], blockOf: Uint32Array): void {
  const joined = blockNeighbours(graph, blocks.length, blockOf);
  const located = blocks.filter((block) => block.place !== undefined);
  if (located.length > 1) placeByPlace(blocks, located, joined);
  else placeByLinks(blocks, joined);
  separateBoxes(blocks.map((block) => block.box));
}

function blockNeighbours({ neighbours }: Topology, count: number, blockOf: Uint32Array): Set<number>[] {
  const joined = Array.from({ length: count }, () => new Set<number>());
  for (const [node, others] of neighbours.entries()) {
    const here = blockOf[node] ?? 0;
    for (const other of others) {
      const there = blockOf[other] ?? 0;
      if (there !== here) joined[here]?.add(there);
    }
  }
  return joined;
}

function placeByPlace(
  blocks: readonly Block[],
  located: readonly Block[],
  joined: readonly Set<number>[],
): void {
  const area = blocks.reduce((sum, { box }) => sum + box.width * box.height, 0);
  const places = spread(
    located.map((block) => block.place ?? { x: 0, y: 0 }),
    area * ROOM,
  );
  for (const [i, block] of located.entries()) {
    block.box.x = places[i]?.x ?? 0;
    block.box.y = places[i]?.y ?? 0;
  }
  const done = new Set([...blocks.keys()].filter((i) => blocks[i]?.place !== undefined));
  const bottom = Math.max(...places.map((place) => place.y));
  // Those without a place go to the middle of their neighbours, the best connected first, round after round.
  const rest = [...blocks.keys()].filter((i) => !done.has(i));
  while (rest.length > 0) {
    const known = (i: number) => [...(joined[i] ?? [])].filter((other) => done.has(other));
    rest.sort((p, q) => known(q).length - known(p).length || p - q);
    const next = rest.shift() ?? 0;
    const anchors = known(next).flatMap((other) => blocks[other]?.box ?? []);
    const box = blocks[next]?.box;
    if (box && anchors.length > 0) {
      box.x = anchors.reduce((sum, anchor) => sum + anchor.x, 0) / anchors.length;
      box.y = anchors.reduce((sum, anchor) => sum + anchor.y, 0) / anchors.length + 1;
    } else if (box) box.y = bottom + box.height;
    done.add(next);
  }
}

function placeByLinks(blocks: readonly Block[], joined: readonly Set<number>[]): void {
  const nodes = blocks.map((_, i) => ({ id: String(i) }));
  const edges = joined.flatMap((others, i) => [...others].map((j) => ({ a: String(i), b: String(j) })));
  const graph = createAdjacency(nodes, edges);
  const area = blocks.reduce((sum, { box }) => sum + box.width * box.height, 0) / blocks.length;
  const spacing = { width: Math.sqrt(area * ASPECT), height: Math.sqrt(area / ASPECT) };
  const connected = nodes.length <= MAX_NODES_FOR_FORCE && joined.every((others) => others.size > 0);
  const points = connected ? forceLayout(graph, spacing) : gridLayout(graph, spacing);
  for (const [i, { box }] of blocks.entries()) {
    box.x = points[i]?.x ?? 0;
    box.y = points[i]?.y ?? 0;
  }
}
