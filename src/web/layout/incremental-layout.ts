/**
 * The positions of devices in a network that changes. A device that has a position keeps it. A new device gets a free
 * place: on the row of its peers, or else near its neighbours. A removed device that returns gets its old position, but
 * that place counts as free meanwhile. The whole network is laid out again only when most of its devices have no position.
 *
 * A device without any link, such as a switch whose links are not discovered yet, gets a place below all others. It is
 * placed again when it gets its first link.
 */
import { cellKey, type Point, type Size } from "../../layout/adjacency.ts";
import type { ClusterGraph } from "../../layout/cluster-assignment.ts";
import { layoutMap, roundCoordinate, SPACING } from "../../layout/map-layout.ts";
import { appendTo } from "../../lib/multimap.ts";

export interface LayoutPosition extends Point {
  readonly cluster: number;
}

export interface DevicePlaces {
  /** Positions by device id. */
  readonly positions: Map<string, LayoutPosition>;
  /** Devices that have had no link since they were placed. */
  readonly alone: Set<string>;
  /** Number of these devices that got their first link since the whole network was laid out. */
  joined: number;
}

type Positions = DevicePlaces["positions"];

/** A network with a larger share of new devices counts as another network. */
const MAX_NEW_SHARE = 0.5;

/** Sets the positions of devices that have none, and of those that got their first link. */
export function placeDevices(graph: ClusterGraph, placement: DevicePlaces): void {
  const { positions, alone } = placement;
  for (const [node, { id }] of graph.nodes.entries()) {
    if ((graph.neighbours[node]?.length ?? 0) === 0 || !alone.delete(id)) continue;
    positions.delete(id);
    placement.joined++;
  }
  const unplaced = graph.nodes.flatMap(({ id }, node) => (positions.has(id) ? [] : [node]));
  if (unplaced.length === 0) return;
  // A past network may have only a few of the devices that have positions.
  const most = Math.max(graph.nodes.length, positions.size) * MAX_NEW_SHARE;
  if (unplaced.length > most || placement.joined > most) {
    layoutAgain(graph, positions);
    placement.joined = 0;
  } else placeUnplaced(graph, unplaced, positions);
  for (const node of unplaced)
    if ((graph.neighbours[node]?.length ?? 0) === 0) alone.add(graph.nodes[node]?.id ?? "");
}

function placeUnplaced(graph: ClusterGraph, unplaced: readonly number[], positions: Positions): void {
  const space = new FreePlaces(SPACING);
  for (const { id } of graph.nodes) {
    const position = positions.get(id);
    if (position) space.occupy(position);
  }
  // The loop repeats, because a new device may be connected only to other new devices.
  let rest = unplaced;
  for (let before = -1; rest.length !== before; ) {
    before = rest.length;
    rest = rest.filter((node) => !placeByNeighbours(graph, node, positions, space));
  }
  const below = positionBelowAll(graph, positions);
  for (const node of rest) {
    const point = space.findNear(below);
    space.occupy(point);
    positions.set(graph.nodes[node]?.id ?? "", { ...rounded(point), cluster: below.cluster });
  }
}

const rounded = ({ x, y }: Point): Point => ({ x: roundCoordinate(x), y: roundCoordinate(y) });

function layoutAgain(graph: ClusterGraph, positions: Positions): void {
  const layout = layoutMap(graph);
  positions.clear();
  for (const [i, { id }] of graph.nodes.entries()) {
    const [x = 0, y = 0] = layout.positions.subarray(i * 2);
    positions.set(id, { x, y, cluster: layout.clusterOf[i] ?? 0 });
  }
}

/** Places the node near its neighbours. Returns false when no neighbour has a position. */
function placeByNeighbours(
  graph: ClusterGraph,
  node: number,
  positions: Positions,
  space: FreePlaces,
): boolean {
  const positionOf = (other: number) => positions.get(graph.nodes[other]?.id ?? "");
  const neighbours = graph.neighbours[node] ?? [];
  const placed = neighbours.flatMap((other) => positionOf(other) ?? []);
  const [first] = placed;
  if (first === undefined) return false;
  const x = placed.reduce((sum, position) => sum + position.x, 0) / placed.length;
  const y = placed.reduce((sum, position) => sum + position.y, 0) / placed.length;
  const row = rowOfPeers(graph, node, positions);
  const point =
    row === undefined ? space.findNear({ x, y: y + SPACING.height }) : space.findInRow({ x, y: row });
  space.occupy(point);
  positions.set(graph.nodes[node]?.id ?? "", { ...rounded(point), cluster: first.cluster });
  return true;
}

/**
 * The row of the devices of the same layer that have a neighbour in common with this one. Undefined unless at least two
 * of them are on one row, as in a hierarchy.
 */
function rowOfPeers(graph: ClusterGraph, node: number, positions: Positions): number | undefined {
  const neighbours = new Set(graph.neighbours[node] ?? []);
  const layer = graph.nodes[node]?.layer;
  const counts = new Map<number, number>();
  const seen = new Set([node]);
  for (const neighbour of neighbours) {
    for (const peer of graph.neighbours[neighbour] ?? []) {
      const y = positions.get(graph.nodes[peer]?.id ?? "")?.y;
      if (y === undefined || seen.has(peer) || neighbours.has(peer)) continue;
      seen.add(peer);
      if (graph.nodes[peer]?.layer === layer) counts.set(y, (counts.get(y) ?? 0) + 1);
    }
  }
  let [row, most]: [number | undefined, number] = [undefined, 1];
  for (const [y, count] of counts) if (count > most) [row, most] = [y, count];
  return row;
}

/** The position for devices without a connection to placed ones: below all others, in a new cluster. */
function positionBelowAll({ nodes }: ClusterGraph, positions: Positions): LayoutPosition {
  let [x, y, cluster] = [0, 0, 0];
  for (const { id } of nodes) {
    const position = positions.get(id);
    x = Math.min(x, position?.x ?? 0);
    y = Math.max(y, position?.y ?? 0);
  }
  // Clusters of removed devices count too, because removed devices may return.
  for (const position of positions.values()) cluster = Math.max(cluster, position.cluster);
  return { x, y: y + SPACING.height * 2, cluster: cluster + 1 };
}

const MAX_RINGS = 80;

/** The places of devices. Finds the nearest place where another device fits without overlapping any of them. */
class FreePlaces {
  readonly #spacing: Size;
  readonly #cells = new Map<number, Point[]>();

  constructor(spacing: Size) {
    this.#spacing = spacing;
  }

  occupy(point: Point): void {
    appendTo(this.#cells, cellKey(this.#column(point.x), this.#row(point.y)), point);
  }

  /** The nearest free place at the same height, to the left or right. */
  findInRow({ x, y }: Point): Point {
    for (let step = 0; ; step++) {
      for (const side of step === 0 ? [0] : [1, -1]) {
        const point = { x: x + (side * step * this.#spacing.width) / 2, y };
        if (this.#isFree(point)) return point;
      }
    }
  }

  /** The nearest free place at or below the point, searched in growing rings. */
  findNear({ x, y }: Point): Point {
    for (let ring = 0; ring <= MAX_RINGS; ring++) {
      for (let down = 0; down <= ring; down++) {
        for (const across of down === ring ? columnsOf(ring) : [-ring, ring]) {
          const point = { x: x + across * this.#spacing.width, y: y + down * this.#spacing.height };
          if (this.#isFree(point)) return point;
        }
      }
    }
    return this.findInRow({ x, y });
  }

  #isFree({ x, y }: Point): boolean {
    const { width, height } = this.#spacing;
    for (let c = this.#column(x) - 1; c <= this.#column(x) + 1; c++) {
      for (let r = this.#row(y) - 1; r <= this.#row(y) + 1; r++) {
        for (const other of this.#cells.get(cellKey(c, r)) ?? []) {
          if (Math.abs(other.x - x) < width && Math.abs(other.y - y) < height) return false;
        }
      }
    }
    return true;
  }

  #column(x: number): number {
    return Math.floor(x / this.#spacing.width);
  }

  #row(y: number): number {
    return Math.floor(y / this.#spacing.height);
  }
}

const columnsOf = (ring: number): number[] => Array.from({ length: ring * 2 + 1 }, (_, i) => i - ring);
