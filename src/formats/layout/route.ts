/**
 * Edge routing: paths between nodes that do not run behind a third node, where an edge would seem to end.
 *
 * Between layers, an edge runs from the bottom of the upper node to the top of the lower one. If other rows of a folded
 * layer are in the way, it runs down a channel beside the column of the lower node and enters that node from the side.
 * Within a layer, an edge is straight between neighbours and otherwise an arc above the nodes. All other edges run from
 * centre to centre, with the smallest bend that avoids the nodes in between.
 */
import { cellKey, type Point, type Size } from "./adjacency.ts";

export interface EdgeEnds {
  readonly from: Point;
  readonly to: Point;
  /** Whether both ends are in the layers of one hierarchy. */
  readonly layered: boolean;
}

export interface EdgePath {
  readonly from: Point;
  readonly to: Point;
  /** The control point of a quadratic curve. */
  readonly control?: Point;
  /** The corners between `from` and `to`. */
  readonly via?: readonly Point[];
}

export interface BoundingBox {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The points of a curve that are tested for nodes. */
const SAMPLES = 24;
/** How far a curve bends, in heights of a node. Tried in this order, on both sides. */
const BENDS = [1, 1.5, 2, 2.5, 3];
/** The height of an arc relative to its width, and its maximum in heights of a node. */
const ARC_RISE = 0.07;
const MAX_ARC_RISE = 4;
/** The part of the gutter between two columns that edges may use. */
const CHANNEL_PART = 0.7;
const MAX_ENTRY_GAP = 5;

/**
 * One path for each edge. The ends of the edges must be the same objects as the points in `nodes`. `size` is the size
 * of a node as drawn, `gutter` the space between nodes.
 */
export function routeEdges(
  edges: readonly EdgeEnds[],
  nodes: Iterable<Point>,
  size: Size,
  gutter: Size,
): EdgePath[] {
  const isCovered = createCoverTest(nodes, size);
  const paths: EdgePath[] = [];
  const channels = new Map<number, ChannelEdge[]>();
  for (const [i, edge] of edges.entries()) {
    if (!edge.layered || Math.abs(edge.from.y - edge.to.y) <= size.height) {
      paths[i] = edge.layered ? arcPath(edge, isCovered, size) : bentPath(edge, isCovered, size);
      continue;
    }
    const down = edge.from.y < edge.to.y;
    const [upper, lower] = down ? [edge.from, edge.to] : [edge.to, edge.from];
    const start = { x: upper.x, y: upper.y + size.height / 2 };
    const end = { x: lower.x, y: lower.y - size.height / 2 };
    paths[i] = down ? { from: start, to: end } : { from: end, to: start };
    if (countCovered(start, midpoint(start, end), end, (at) => isCovered(at, upper, lower)) === 0) continue;
    const columnTop = findColumnTop(lower, isCovered, size, gutter);
    const channelEdge = { index: i, down, start, lower, columnTop };
    const channel = channels.get(lower.x);
    if (channel) channel.push(channelEdge);
    else channels.set(lower.x, [channelEdge]);
  }
  for (const channel of channels.values()) routeThroughChannel(channel, paths, size, gutter);
  return paths;
}

/** An edge that runs down the channel beside the column of its lower end. */
interface ChannelEdge {
  readonly index: number;
  readonly down: boolean;
  /** The bottom of the upper node. */
  readonly start: Point;
  readonly lower: Point;
  readonly columnTop: number;
}

/** Side by side. The edge that enters its node first is nearest to the column, so that none cross in the channel. */
function routeThroughChannel(channel: ChannelEdge[], paths: EdgePath[], size: Size, gutter: Size): void {
  channel.sort((p, q) => p.lower.y - q.lower.y || q.start.x - p.start.x);
  const room = gutter.width * CHANNEL_PART;
  for (const [i, { index, down, start, lower, columnTop }] of channel.entries()) {
    const x = lower.x - size.width / 2 - (gutter.width - room) / 2 - (room * (i + 0.5)) / channel.length;
    const sameNode = channel.filter((other) => other.lower === lower);
    const gap = Math.min(MAX_ENTRY_GAP, (size.height * 0.6) / sameNode.length);
    const rank = sameNode.findIndex((other) => other.index === index);
    const y = lower.y + (rank - (sameNode.length - 1) / 2) * gap;
    const corners = [
      { x, y: columnTop - gutter.height / 2 },
      { x, y },
    ];
    const end = { x: lower.x - size.width / 2, y };
    paths[index] = down
      ? { from: start, to: end, via: corners }
      : { from: end, to: start, via: corners.toReversed() };
  }
}

/** The upper edge of the highest node that is above this one without a gap. */
function findColumnTop(node: Point, isCovered: CoverTest, size: Size, gutter: Size): number {
  let top = node.y - size.height / 2;
  for (let y = top; y > top - gutter.height * 1.5; y -= gutter.height / 4) {
    if (isCovered({ x: node.x, y }, node, node)) top = y - size.height / 2;
  }
  return top;
}

/** Whether a point is behind a node other than the two ends of its edge. */
type CoverTest = (at: Point, from: Point, to: Point) => boolean;

function createCoverTest(nodes: Iterable<Point>, size: Size): CoverTest {
  const column = (x: number) => Math.floor(x / size.width);
  const row = (y: number) => Math.floor(y / size.height);
  const cells = new Map<number, Point[]>();
  for (const node of nodes) {
    const key = cellKey(column(node.x), row(node.y));
    const cell = cells.get(key);
    if (cell) cell.push(node);
    else cells.set(key, [node]);
  }
  return (at, from, to) => {
    for (let c = column(at.x) - 1; c <= column(at.x) + 1; c++) {
      for (let r = row(at.y) - 1; r <= row(at.y) + 1; r++) {
        for (const node of cells.get(cellKey(c, r)) ?? []) {
          if (node === from || node === to) continue;
          if (Math.abs(node.x - at.x) < size.width / 2 && Math.abs(node.y - at.y) < size.height / 2)
            return true;
        }
      }
    }
    return false;
  };
}

/** Straight, or an arc above the nodes. A longer arc is higher, so that two arcs from one node do not coincide. */
function arcPath({ from, to }: EdgeEnds, isCovered: CoverTest, size: Size): EdgePath {
  if (countCovered(from, midpoint(from, to), to, (at) => isCovered(at, from, to)) === 0) return { from, to };
  const rise = Math.min(size.height * MAX_ARC_RISE, size.height * 0.6 + Math.abs(to.x - from.x) * ARC_RISE);
  const topOf = ({ x, y }: Point): Point => ({ x, y: y - size.height / 2 });
  // A quadratic curve rises half as high as its control point.
  const control = { x: (from.x + to.x) / 2, y: Math.min(topOf(from).y, topOf(to).y) - rise * 2 };
  return { from: topOf(from), to: topOf(to), control };
}

/** Straight if no node is in the way, otherwise the smallest bend that avoids them, or the bend that avoids most. */
function bentPath({ from, to }: EdgeEnds, isCovered: CoverTest, size: Size): EdgePath {
  const covered = (control: Point) => countCovered(from, control, to, (at) => isCovered(at, from, to));
  const middle = midpoint(from, to);
  let best: EdgePath = { from, to };
  let fewest = covered(middle);
  if (fewest === 0) return best;
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const normal = { x: -(to.y - from.y) / length, y: (to.x - from.x) / length };
  for (const bend of BENDS) {
    for (const offset of [-bend * 2 * size.height, bend * 2 * size.height]) {
      const control = { x: middle.x + normal.x * offset, y: middle.y + normal.y * offset };
      const count = covered(control);
      if (count === 0) return { from, to, control };
      if (count >= fewest) continue;
      fewest = count;
      best = { from, to, control };
    }
  }
  return best;
}

function countCovered(from: Point, control: Point, to: Point, isCovered: (at: Point) => boolean): number {
  let count = 0;
  for (let i = 1; i < SAMPLES; i++) if (isCovered(curvePoint(from, control, to, i / SAMPLES))) count++;
  return count;
}

const midpoint = (p: Point, q: Point): Point => ({ x: (p.x + q.x) / 2, y: (p.y + q.y) / 2 });

/** Of nodes and paths. A curve counts with its middle, which is its farthest point. */
export function boundingBox(paths: readonly EdgePath[], nodes: Iterable<Point>, size: Size): BoundingBox {
  const box = { left: 0, top: 0, right: 0, bottom: 0 };
  const include = ({ x, y }: Point, dx: number, dy: number) => {
    box.left = Math.min(box.left, x - dx);
    box.top = Math.min(box.top, y - dy);
    box.right = Math.max(box.right, x + dx);
    box.bottom = Math.max(box.bottom, y + dy);
  };
  for (const node of nodes) include(node, size.width / 2, size.height / 2);
  for (const { from, to, control, via = [] } of paths) {
    if (control !== undefined) include(curvePoint(from, control, to, 0.5), 0, 0);
    for (const corner of via) include(corner, 0, 0);
  }
  return box;
}

/** The point of a quadratic curve at parameter `t`, from 0 to 1. */
export function curvePoint(from: Point, control: Point, to: Point, t: number): Point {
  const [a, b, c] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t];
  return { x: a * from.x + b * control.x + c * to.x, y: a * from.y + b * control.y + c * to.y };
}
