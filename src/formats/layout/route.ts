/**
 * How to lead lines between nodes so that none runs behind a third node, where it would seem to end.
 *
 * Between layers a line goes from the foot of the upper node to the head of the lower one; where that is behind
 * other rows of a folded layer, it comes down the channel beside the column and enters from the side. Within a layer
 * it is straight between neighbours and otherwise an arc over their heads. All other lines go from middle to middle,
 * and are bent sideways by as little as it takes.
 */
import { cellKey, type Point, type Spacing } from "./adjacency.ts";

export interface Line {
  readonly from: Point;
  readonly to: Point;
  /** Whether both ends stand in the layers of one hierarchy. */
  readonly layered: boolean;
}

export interface Path {
  readonly from: Point;
  readonly to: Point;
  /** The control point of a quadratic curve. */
  readonly control?: Point;
  /** Corners on the way. */
  readonly via?: readonly Point[];
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const SAMPLES = 24;
/** How far a curve is bent, in heights of a node, tried in this order on both sides. */
const BENDS = [1, 1.5, 2, 2.5, 3];
/** How high an arc is for its width, and, in heights of a node, at most. */
const RISE = 0.07;
const MAX_RISE = 4;
/** The part of the room between two columns that lines may take. */
const CHANNEL = 0.7;
const MAX_BETWEEN_ENTRIES = 5;

/**
 * One path for each line, whose ends are two of the nodes, the same objects. `size` is that of a node as drawn,
 * `gutter` the room around it.
 */
export function routeLines(
  lines: readonly Line[],
  nodes: Iterable<Point>,
  size: Spacing,
  gutter: Spacing,
): Path[] {
  const covers = createCover(nodes, size);
  const paths: Path[] = [];
  const channels = new Map<number, Drop[]>();
  for (const [i, line] of lines.entries()) {
    if (!line.layered || Math.abs(line.from.y - line.to.y) <= size.y) {
      paths[i] = line.layered ? arched(line, covers, size) : bent(line, covers, size);
      continue;
    }
    const down = line.from.y < line.to.y;
    const [upper, lower] = down ? [line.from, line.to] : [line.to, line.from];
    const foot = { x: upper.x, y: upper.y + size.y / 2 };
    const head = { x: lower.x, y: lower.y - size.y / 2 };
    paths[i] = down ? { from: foot, to: head } : { from: head, to: foot };
    if (countHidden(foot, middle(foot, head), head, (at) => covers(at, upper, lower)) === 0) continue;
    const drop = { line: i, down, foot, lower, top: blockTop(lower, covers, size, gutter) };
    const channel = channels.get(lower.x);
    if (channel) channel.push(drop);
    else channels.set(lower.x, [drop]);
  }
  for (const channel of channels.values()) leadThrough(channel, paths, size, gutter);
  return paths;
}

/** A line that has to come down beside the column of its lower end. */
interface Drop {
  readonly line: number;
  readonly down: boolean;
  readonly foot: Point;
  readonly lower: Point;
  /** Where the column begins. */
  readonly top: number;
}

/** Side by side, those that enter first nearest to the column: none crosses another within the channel. */
function leadThrough(channel: Drop[], paths: Path[], size: Spacing, gutter: Spacing): void {
  channel.sort((p, q) => p.lower.y - q.lower.y || q.foot.x - p.foot.x);
  const room = gutter.x * CHANNEL;
  for (const [i, { line, down, foot, lower, top }] of channel.entries()) {
    const x = lower.x - size.x / 2 - (gutter.x - room) / 2 - (room * (i + 0.5)) / channel.length;
    const together = channel.filter((other) => other.lower === lower);
    const gap = Math.min(MAX_BETWEEN_ENTRIES, (size.y * 0.6) / together.length);
    const y =
      lower.y + (together.findIndex((other) => other.line === line) - (together.length - 1) / 2) * gap;
    const corners = [
      { x, y: top - gutter.y / 2 },
      { x, y },
    ];
    const end = { x: lower.x - size.x / 2, y };
    paths[line] = down
      ? { from: foot, to: end, via: corners }
      : { from: end, to: foot, via: corners.toReversed() };
  }
}

/** The upper edge of the highest of the nodes that stand without a gap above this one. */
function blockTop(node: Point, covers: Cover, size: Spacing, gutter: Spacing): number {
  let top = node.y - size.y / 2;
  for (let y = top; y > top - gutter.y * 1.5; y -= gutter.y / 4) {
    if (covers({ x: node.x, y }, node, node)) top = y - size.y / 2;
  }
  return top;
}

/** Whether a place lies behind a node other than the two ends. */
type Cover = (at: Point, from: Point, to: Point) => boolean;

function createCover(nodes: Iterable<Point>, size: Spacing): Cover {
  const column = (x: number) => Math.floor(x / size.x);
  const row = (y: number) => Math.floor(y / size.y);
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
          if (Math.abs(node.x - at.x) < size.x / 2 && Math.abs(node.y - at.y) < size.y / 2) return true;
        }
      }
    }
    return false;
  };
}

/** Straight, or an arc over the heads, the higher the farther it goes: no two arcs from one node run together. */
function arched({ from, to }: Line, covers: Cover, size: Spacing): Path {
  if (countHidden(from, middle(from, to), to, (at) => covers(at, from, to)) === 0) return { from, to };
  const rise = Math.min(size.y * MAX_RISE, size.y * 0.6 + Math.abs(to.x - from.x) * RISE);
  const head = ({ x, y }: Point): Point => ({ x, y: y - size.y / 2 });
  // A quadratic curve rises half as high as its control point.
  const control = { x: (from.x + to.x) / 2, y: Math.min(head(from).y, head(to).y) - rise * 2 };
  return { from: head(from), to: head(to), control };
}

/** Straight where that is free, otherwise the least bend that is; straight again where none is better. */
function bent({ from, to }: Line, covers: Cover, size: Spacing): Path {
  const hidden = (control: Point) => countHidden(from, control, to, (at) => covers(at, from, to));
  const straight = middle(from, to);
  let best: Path = { from, to };
  let least = hidden(straight);
  if (least === 0) return best;
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const side = { x: -(to.y - from.y) / length, y: (to.x - from.x) / length };
  for (const bend of BENDS) {
    for (const by of [-bend * 2 * size.y, bend * 2 * size.y]) {
      const control = { x: straight.x + side.x * by, y: straight.y + side.y * by };
      const count = hidden(control);
      if (count === 0) return { from, to, control };
      if (count >= least) continue;
      least = count;
      best = { from, to, control };
    }
  }
  return best;
}

function countHidden(from: Point, control: Point, to: Point, isCovered: (at: Point) => boolean): number {
  let count = 0;
  for (let i = 1; i < SAMPLES; i++) if (isCovered(curvePoint(from, control, to, i / SAMPLES))) count++;
  return count;
}

const middle = (p: Point, q: Point): Point => ({ x: (p.x + q.x) / 2, y: (p.y + q.y) / 2 });

/** The room that nodes and paths take. A curve is reckoned by its middle, where it is farthest out. */
export function extent(paths: readonly Path[], nodes: Iterable<Point>, size: Spacing): Box {
  const box = { left: 0, top: 0, right: 0, bottom: 0 };
  const reach = ({ x, y }: Point, dx: number, dy: number) => {
    box.left = Math.min(box.left, x - dx);
    box.top = Math.min(box.top, y - dy);
    box.right = Math.max(box.right, x + dx);
    box.bottom = Math.max(box.bottom, y + dy);
  };
  for (const node of nodes) reach(node, size.x / 2, size.y / 2);
  for (const { from, to, control, via = [] } of paths) {
    if (control !== undefined) reach(curvePoint(from, control, to, 0.5), 0, 0);
    for (const corner of via) reach(corner, 0, 0);
  }
  return box;
}

/** The point of a quadratic curve at `t` of its way. */
export function curvePoint(from: Point, control: Point, to: Point, t: number): Point {
  const [a, b, c] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t];
  return { x: a * from.x + b * control.x + c * to.x, y: a * from.y + b * control.y + c * to.y };
}
