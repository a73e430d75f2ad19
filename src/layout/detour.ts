/**
 * The shortest way between two points around boxes. A shortest way bends only at corners of boxes, so it is a shortest
 * path in the graph of the corners that see each other (Dijkstra). Only boxes that a way would run through take part:
 * the first way is the straight line; the boxes on it are added, and the search is repeated until the way is free.
 */
import type { Point, Size } from "./adjacency.ts";
import { type BoxIndex, crossesBox } from "./box-index.ts";

/** A corner that a way bends at. */
export interface Bend {
  readonly box: number;
  /** 0 to 3: top left, top right, bottom right, bottom left. */
  readonly corner: number;
}

export interface DetourInput {
  readonly boxes: BoxIndex;
  readonly size: Size;
  /** The distance of corners from their boxes. */
  readonly clearance: number;
  /** More boxes than this are not searched. */
  readonly maxObstacles: number;
  /** How many more times a segment may be compared with a box. Shared by all searches of an update. */
  readonly tests: { left: number };
  /** The extra length for a bend here: ways with fewer bends, and corners with fewer ways, are better. */
  bendCost(box: number, corner: number): number;
}

const CORNERS: readonly Point[] = [
  { x: -1, y: -1 },
  { x: 1, y: -1 },
  { x: 1, y: 1 },
  { x: -1, y: 1 },
];

/** The part of the clearance that a way may use up: rounding must not make a way along a box run through it. */
const TOLERANCE = 0.5;

/** Undefined when there is no way, or when the search would exceed its limits. */
export function findDetour(input: DetourInput, a: number, b: number): Bend[] | undefined {
  const { boxes, maxObstacles } = input;
  const [from, to] = [boxes.get(a), boxes.get(b)];
  if (!from || !to) return undefined;
  const obstacles: number[] = [];
  const known = new Set([a, b]);
  let way: Bend[] | undefined = [];
  for (;;) {
    const before = obstacles.length;
    let previous: Point = from;
    for (const next of [...way.map((bend) => cornerPoint(input, bend)), to]) {
      boxes.forEachHit(previous.x, previous.y, next.x, next.y, (id) => {
        if (!known.has(id)) {
          known.add(id);
          obstacles.push(id);
        }
        return obstacles.length > maxObstacles;
      });
      previous = next;
    }
    if (obstacles.length === before) return way;
    if (obstacles.length > maxObstacles) return undefined;
    way = shortestWay(input, from, to, obstacles);
    if (!way) return undefined;
  }
}

export function cornerPoint(
  { boxes, size, clearance }: DetourInput,
  { box, corner }: Bend,
  extra = 0,
): Point {
  const centre = boxes.get(box) ?? { x: 0, y: 0 };
  const sign = CORNERS[corner] ?? { x: 0, y: 0 };
  return {
    x: centre.x + sign.x * (size.width / 2 + clearance + extra),
    y: centre.y + sign.y * (size.height / 2 + clearance + extra),
  };
}

function shortestWay(
  input: DetourInput,
  from: Point,
  to: Point,
  obstacles: readonly number[],
): Bend[] | undefined {
  const { boxes, size, clearance } = input;
  const halfWidth = size.width / 2 + clearance - TOLERANCE;
  const halfHeight = size.height / 2 + clearance - TOLERANCE;
  const centres = obstacles.map((id) => boxes.get(id) ?? from);
  const bends = obstacles.flatMap((box) => CORNERS.map((_, corner): Bend => ({ box, corner })));
  // The last two points are the ends.
  const points: Point[] = [...bends.map((bend) => cornerPoint(input, bend)), from, to];
  const [start, end] = [points.length - 2, points.length - 1];
  const distance = new Float64Array(points.length).fill(Number.POSITIVE_INFINITY);
  const previous = new Int32Array(points.length).fill(-1);
  const done = new Uint8Array(points.length);
  const estimate = points.map((point) => Math.hypot(point.x - to.x, point.y - to.y));
  const extra = bends.map(({ box, corner }) => input.bendCost(box, corner));
  distance[start] = 0;
  for (;;) {
    let node = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < points.length; i++) {
      const total = (distance[i] ?? 0) + (estimate[i] ?? 0);
      if (!done[i] && total < least) [node, least] = [i, total];
    }
    if (node === -1) return undefined;
    if (node === end) break;
    input.tests.left -= points.length * centres.length;
    if (input.tests.left < 0) return undefined;
    done[node] = 1;
    const p = points[node] ?? from;
    for (let i = 0; i < points.length; i++) {
      const q = points[i] ?? to;
      if (done[i]) continue;
      const length = (distance[node] ?? 0) + Math.hypot(q.x - p.x, q.y - p.y) + (extra[i] ?? 0);
      if (length >= (distance[i] ?? 0)) continue;
      const isBlocked = centres.some(({ x, y }) =>
        crossesBox(p.x - x, p.y - y, q.x - x, q.y - y, halfWidth, halfHeight),
      );
      if (isBlocked) continue;
      distance[i] = length;
      previous[i] = node;
    }
  }
  const way: Bend[] = [];
  for (let node = previous[end] ?? -1; node !== start && node !== -1; node = previous[node] ?? -1) {
    const bend = bends[node];
    if (bend) way.unshift(bend);
  }
  return way;
}
