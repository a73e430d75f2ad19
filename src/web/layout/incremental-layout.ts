/**
 * Updates the layout when the network changes. A device that has a position keeps it. A new device gets a free cell
 * near its neighbours. A removed device returns to its old position, but its cell counts as free meanwhile. The whole
 * network is laid out again only when a large share of its devices is new.
 */
import type { MapGraph } from "./cluster-assignment.ts";
import { layoutMap, type MapLayout, SPACING } from "./map-layout.ts";

export interface LayoutPosition {
  readonly x: number;
  readonly y: number;
  readonly cluster: number;
}

type Positions = Map<string, LayoutPosition>;

/** With a larger share of new devices, a new layout is easier to read than an extended one. */
const MAX_NEW_SHARE = 0.3;
const MAX_SEARCH_RING = 60;

/** Returns the layout of `graph` and adds the positions of new devices to `positions`, for the next call. */
export function updateLayout(graph: MapGraph, positions: Positions): MapLayout {
  const newCount = graph.nodes.filter((node) => !positions.has(node.id)).length;
  if (newCount > graph.nodes.length * MAX_NEW_SHARE) return layoutAgain(graph, positions);
  const occupied = new Set<string>();
  for (const node of graph.nodes) {
    const position = positions.get(node.id);
    if (position) occupied.add(cellOf(position.x, position.y));
  }
  // Repeated, because a new device may be connected only to other new devices.
  let unplaced = graph.nodes.map((_, i) => i).filter((i) => !positions.has(graph.nodes[i]?.id ?? ""));
  for (let before = -1; unplaced.length !== before; ) {
    before = unplaced.length;
    unplaced = unplaced.filter((node) => !placeNearNeighbours(graph, node, positions, occupied));
  }
  const below = positionBelowAll(positions);
  for (const node of unplaced) {
    const cell = occupyFreeCell(below.x, below.y, occupied);
    positions.set(graph.nodes[node]?.id ?? "", { ...cell, cluster: below.cluster });
  }
  return toLayout(graph, positions);
}

function layoutAgain(graph: MapGraph, positions: Positions): MapLayout {
  const layout = layoutMap(graph);
  positions.clear();
  for (const [i, { id }] of graph.nodes.entries()) {
    positions.set(id, {
      x: layout.positions[i * 2] ?? 0,
      y: layout.positions[i * 2 + 1] ?? 0,
      cluster: layout.clusterOf[i] ?? 0,
    });
  }
  return layout;
}

function toLayout({ nodes }: MapGraph, known: ReadonlyMap<string, LayoutPosition>): MapLayout {
  const positions = new Float64Array(nodes.length * 2);
  const clusterOf = new Uint32Array(nodes.length);
  for (const [i, { id }] of nodes.entries()) {
    const position = known.get(id);
    positions[i * 2] = position?.x ?? 0;
    positions[i * 2 + 1] = position?.y ?? 0;
    clusterOf[i] = position?.cluster ?? 0;
  }
  return { positions, clusterOf };
}

const cellOf = (x: number, y: number): string =>
  `${Math.round(x / SPACING.width)},${Math.round(y / SPACING.height)}`;

/** One row below the centre of its neighbours. Returns false when no neighbour has a position. */
function placeNearNeighbours(
  graph: MapGraph,
  node: number,
  positions: Positions,
  occupied: Set<string>,
): boolean {
  const placed = (graph.neighbours[node] ?? []).flatMap(
    (other) => positions.get(graph.nodes[other]?.id ?? "") ?? [],
  );
  const [first] = placed;
  if (first === undefined) return false;
  const x = placed.reduce((sum, position) => sum + position.x, 0) / placed.length;
  const y = placed.reduce((sum, position) => sum + position.y, 0) / placed.length + SPACING.height;
  const cell = occupyFreeCell(x, y, occupied);
  positions.set(graph.nodes[node]?.id ?? "", { ...cell, cluster: first.cluster });
  return true;
}

/** Below all other devices and in a new cluster: for devices without a connection to the placed ones. */
function positionBelowAll(positions: ReadonlyMap<string, LayoutPosition>): LayoutPosition {
  let [x, y, cluster] = [0, 0, 0];
  for (const position of positions.values()) {
    x = Math.min(x, position.x);
    y = Math.max(y, position.y);
    cluster = Math.max(cluster, position.cluster);
  }
  return { x, y: y + SPACING.height * 2, cluster: cluster + 1 };
}

/** The nearest free cell at or below the position, searched in growing rings. */
function occupyFreeCell(x: number, y: number, occupied: Set<string>): { x: number; y: number } {
  for (let ring = 0; ring <= MAX_SEARCH_RING; ring++) {
    for (let dy = 0; dy <= ring; dy++) {
      for (const dx of dy === ring ? columnsOf(ring) : [-ring, ring]) {
        const position = { x: x + dx * SPACING.width, y: y + dy * SPACING.height };
        const cell = cellOf(position.x, position.y);
        if (occupied.has(cell)) continue;
        occupied.add(cell);
        return position;
      }
    }
  }
  return { x, y };
}

const columnsOf = (ring: number): number[] => Array.from({ length: ring * 2 + 1 }, (_, i) => i - ring);
