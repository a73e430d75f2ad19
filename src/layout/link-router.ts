/**
 * Routes links around the boxes of devices that they do not end at. A route is a polyline from the centre of one box to
 * the centre of the other; boxes are drawn above links. It is, in order of preference:
 *
 * 1. the straight line;
 * 2. straight between two facing sides of the boxes, which keeps links between two rows out of both rows. For two
 *    boxes that are in rows this comes first: if only some links of a box did so, they would cross its others;
 * 3. the shortest way around the boxes. Links around one corner get lanes beside each other.
 *
 * The router holds boxes and links, so that after a change it routes only what the change touches. Routes depend on the
 * boxes, on the links and on the order of changes. Links that are routed at the same time are routed shortest first, so
 * that short links are nearest to a corner.
 */
import type { Point, Size } from "./adjacency.ts";
import { BoxIndex, crossesBox } from "./box-index.ts";

interface LinkRouterOptions {
  /** The size of all boxes. */
  readonly box: Size;
  /** The least space between two boxes. */
  readonly gutter: Size;
}

/** A link that comes nearer to a box than this counts as running through it. */
const MARGIN = 2;
const CLEARANCE = 4;
const LANE_GAP = 3;
/** The part of the gutter that the lanes at one corner may use: the lanes of the box beside it use the same gutter. */
const LANES_SHARE = 0.45;
/** The largest distance between two boxes of a row, in widths of a box. */
const MAX_ROW_GAP = 5;
/**
 * Above this number of boxes, routing is bounded: a link with more than `MAX_OBSTACLES_OF_LARGE` boxes in its way is
 * not led around them. When an update has compared segments with boxes `MAX_TESTS_OF_LARGE` times, the remaining links,
 * which are the longest, are not led around boxes either.
 */
const MAX_BOXES_WITHOUT_LIMIT = 500;
const MAX_OBSTACLES_OF_LARGE = 32;
const MAX_TESTS_OF_LARGE = 100_000_000;
const MAX_BOXES = 2 ** 24;
/**
 * The extra length of a bend above or below a box for each link that leaves the box on that side. It decides only between
 * routes of the same length: the link that closes a ring in a row is led around the side without links.
 */
const SIDE_COST = 0.01;

interface Link {
  readonly a: number;
  readonly b: number;
  readonly points: Float64Array;
  readonly bends: readonly Bend[];
  /** The lane of each bend. */
  readonly lanes: readonly number[];
}

/** One number for a pair of boxes in either order. */
export const pairKey = (a: number, b: number): number => (a < b ? a * MAX_BOXES + b : b * MAX_BOXES + a);

export const pairOf = (key: number): readonly [a: number, b: number] => [
  Math.floor(key / MAX_BOXES),
  key % MAX_BOXES,
];

export class LinkRouter {
  readonly #size: Size;
  readonly #boxes: BoxIndex;
  readonly #laneCount: number;
  readonly #links = new Map<number, Link>();
  /** The number of routes in each lane of each corner. */
  readonly #lanes = new Map<number, number[]>();
  /** Links that are to be routed, and boxes that were placed or moved, since the last `update`. */
  readonly #pending = new Map<number, readonly [a: number, b: number]>();
  readonly #placed = new Set<number>();

  constructor({ box, gutter }: LinkRouterOptions) {
    this.#size = box;
    this.#boxes = new BoxIndex(box, MARGIN);
    const room = Math.min(gutter.width, gutter.height) * LANES_SHARE - CLEARANCE;
    this.#laneCount = Math.max(1, 1 + Math.floor(room / LANE_GAP));
  }

  /** Adds a box or moves it. Returns whether that is a change. */
  place(id: number, { x, y }: Point): boolean {
    const before = this.#boxes.get(id);
    if (before && before.x === x && before.y === y) return false;
    this.#boxes.set(id, x, y);
    this.#placed.add(id);
    return true;
  }

  /** The links of the box must be removed before this call. */
  remove(id: number): void {
    this.#boxes.delete(id);
    this.#placed.delete(id);
    for (const [key, { a, b, bends }] of this.#links) {
      if (bends.some(({ box }) => box === id)) this.#pending.set(key, [a, b]);
    }
  }

  connect(a: number, b: number): void {
    const key = pairKey(a, b);
    if (a !== b && !this.#links.has(key)) this.#pending.set(key, [Math.min(a, b), Math.max(a, b)]);
  }

  disconnect(a: number, b: number): void {
    const key = pairKey(a, b);
    this.#pending.delete(key);
    this.#drop(key);
  }

  /** The route as flat x and y, from the box with the lower number to the other. */
  route(a: number, b: number): Float64Array | undefined {
    return this.#links.get(pairKey(a, b))?.points;
  }

  /** Routes the links that changes since the last call touch. Returns the keys of the pairs whose route changed. */
  update(): number[] {
    if (this.#placed.size > 0) this.#findTouched();
    this.#placed.clear();
    const pending = [...this.#pending].map(([key, [a, b]]) => ({ key, a, b, length: this.#length(a, b) }));
    this.#pending.clear();
    pending.sort((p, q) => p.length - q.length || p.key - q.key);
    const before = pending.map(({ key }) => this.#links.get(key)?.points);
    for (const { key } of pending) this.#drop(key);
    const changed: number[] = [];
    const input = this.#detourInput(this.#countSides(pending));
    for (const [i, { key, a, b }] of pending.entries()) {
      const link = this.#routeLink(input, a, b);
      if (!link) continue;
      this.#links.set(key, link);
      if (!isEqual(before[i], link.points)) changed.push(key);
    }
    return changed;
  }

  /** Whether a polyline is free of all boxes except those at its ends. */
  isFree(points: Float64Array, a: number, b: number): boolean {
    return !this.#hits(points, (id) => id !== a && id !== b);
  }

  #length(a: number, b: number): number {
    const [p, q] = [this.#boxes.get(a), this.#boxes.get(b)];
    return p && q ? Math.hypot(p.x - q.x, p.y - q.y) : 0;
  }

  /** Marks the links that end at a placed box, bend at it or run through it. */
  #findTouched(): void {
    const isPlaced = (id: number) => this.#placed.has(id);
    for (const [key, { a, b, bends, points }] of this.#links) {
      const touches =
        isPlaced(a) || isPlaced(b) || bends.some(({ box }) => isPlaced(box)) || this.#hits(points, isPlaced);
      if (touches) this.#pending.set(key, [a, b]);
    }
  }

  #hits(points: Float64Array, test: (id: number) => boolean): boolean {
    let found = false;
    for (let i = 0; i + 3 < points.length && !found; i += 2) {
      const [x1, y1] = [points[i] ?? 0, points[i + 1] ?? 0];
      this.#boxes.forEachHit(x1, y1, points[i + 2] ?? 0, points[i + 3] ?? 0, (id) => {
        found = test(id);
        return found;
      });
    }
    return found;
  }

  #routeLink(input: DetourInput, a: number, b: number): Link | undefined {
    const [from, to] = [this.#boxes.get(a), this.#boxes.get(b)];
    if (!from || !to) return undefined;
    const straight = Float64Array.of(from.x, from.y, to.x, to.y);
    const sides = [...this.#betweenSides(from, to)];
    const candidates = this.#isInRow(a) && this.#isInRow(b) ? [...sides, straight] : [straight, ...sides];
    for (const points of candidates) {
      if (this.isFree(points, a, b)) return { a, b, points, bends: [], lanes: [] };
    }
    const bends = findDetour(input, a, b);
    if (!bends) return { a, b, points: candidates[0] ?? straight, bends: [], lanes: [] };
    const lanes = bends.map((bend) => this.#freeLane(bend));
    const inLanes = (lane: (i: number) => number) => [
      from,
      ...bends.map((bend, i) => cornerPoint(input, bend, lane(i) * LANE_GAP)),
      to,
    ];
    let points = flatten(inLanes((i) => lanes[i] ?? 0));
    if (!this.isFree(points, a, b)) points = flatten(inLanes(() => 0));
    for (const [i, bend] of bends.entries()) this.#countLane(bend, lanes[i] ?? 0, 1);
    return { a, b, points, bends, lanes };
  }

  #isInRow(id: number): boolean {
    return this.#boxes.hasBeside(id, this.#size.width * MAX_ROW_GAP);
  }

  /** Lines from the bottom of the upper box to the top of the lower one, or between the facing sides of boxes side by side. */
  *#betweenSides(from: Point, to: Point): Generator<Float64Array> {
    const { width, height } = this.#size;
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    if (dx === 0 || dy === 0) return;
    if (Math.abs(dy) > height) {
      const half = (Math.sign(dy) * height) / 2;
      yield Float64Array.of(from.x, from.y, from.x, from.y + half, to.x, to.y - half, to.x, to.y);
    } else if (Math.abs(dx) > width) {
      const half = (Math.sign(dx) * width) / 2;
      yield Float64Array.of(from.x, from.y, from.x + half, from.y, to.x - half, to.y, to.x, to.y);
    }
  }

  /** The number of links that lead up from each box, at twice its number, and of those that lead down, at the next key. */
  #countSides(pending: readonly Pick<Link, "a" | "b">[]): Map<number, number> {
    const counts = new Map<number, number>();
    const add = (box: number, isBelow: boolean) => {
      const key = box * 2 + (isBelow ? 1 : 0);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    };
    for (const { a, b } of [...this.#links.values(), ...pending]) {
      const [p, q] = [this.#boxes.get(a), this.#boxes.get(b)];
      if (!p || !q || p.y === q.y) continue;
      add(a, q.y > p.y);
      add(b, q.y < p.y);
    }
    return counts;
  }

  #detourInput(sides: ReadonlyMap<number, number>): DetourInput {
    const isLarge = this.#boxes.size > MAX_BOXES_WITHOUT_LIMIT;
    const bendLength = this.#size.height / 2;
    return {
      boxes: this.#boxes,
      size: this.#size,
      clearance: CLEARANCE,
      maxObstacles: isLarge ? MAX_OBSTACLES_OF_LARGE : Number.POSITIVE_INFINITY,
      tests: { left: isLarge ? MAX_TESTS_OF_LARGE : Number.POSITIVE_INFINITY },
      bendCost: (box, corner) => {
        const lanes = this.#lanes.get(cornerKey({ box, corner }));
        const used = lanes === undefined ? 0 : lanes.reduce((sum, count) => sum + count, 0);
        const isBelow = (CORNERS[corner]?.y ?? 0) > 0;
        const besides = sides.get(box * 2 + (isBelow ? 1 : 0)) ?? 0;
        return bendLength + used * LANE_GAP * 2 + besides * SIDE_COST;
      },
    };
  }

  /** The lane with the fewest routes, the nearest to the corner first. */
  #freeLane(bend: Bend): number {
    const lanes = this.#lanes.get(cornerKey(bend)) ?? [];
    let best = 0;
    for (let lane = 1; lane < this.#laneCount; lane++) {
      if ((lanes[lane] ?? 0) < (lanes[best] ?? 0)) best = lane;
    }
    return best;
  }

  #countLane(bend: Bend, lane: number, change: number): void {
    const key = cornerKey(bend);
    const lanes = this.#lanes.get(key) ?? Array.from({ length: this.#laneCount }, () => 0);
    lanes[lane] = (lanes[lane] ?? 0) + change;
    this.#lanes.set(key, lanes);
  }

  #drop(key: number): void {
    const link = this.#links.get(key);
    if (!link) return;
    this.#links.delete(key);
    for (const [i, bend] of link.bends.entries()) this.#countLane(bend, link.lanes[i] ?? 0, -1);
  }
}

const cornerKey = ({ box, corner }: Bend): number => box * 4 + corner;

const flatten = (points: readonly Point[]): Float64Array =>
  Float64Array.from(points.flatMap(({ x, y }) => [x, y]));

function isEqual(p: Float64Array | undefined, q: Float64Array): boolean {
  return p !== undefined && p.length === q.length && p.every((value, i) => value === q[i]);
}

/** A corner of a box at which a route bends. */
interface Bend {
  readonly box: number;
  /** The index of the corner, 0 to 3: top left, top right, bottom right, bottom left. */
  readonly corner: number;
}

interface DetourInput {
  readonly boxes: BoxIndex;
  readonly size: Size;
  /** The distance of bends from the corners of boxes, in each direction. */
  readonly clearance: number;
  /** The largest number of boxes that a search leads around. A search that needs more finds no route. */
  readonly maxObstacles: number;
  /** The remaining number of comparisons of a segment with a box. All searches of an update share it. */
  readonly tests: { left: number };
  /** The extra length that a bend at this corner costs. It favours routes with few bends and corners with few routes. */
  bendCost(box: number, corner: number): number;
}

const CORNERS: readonly Point[] = [
  { x: -1, y: -1 },
  { x: 1, y: -1 },
  { x: 1, y: 1 },
  { x: -1, y: 1 },
];

/** The part of the clearance that a route may use up, so that rounding does not make a route along a box run through it. */
const TOLERANCE = 0.5;

/**
 * The bends of the shortest route between two boxes around the others. A shortest route bends only at corners of boxes,
 * so it is a shortest path in the graph whose edges join corners with a free straight line between them (A*). The search
 * considers only boxes that a route would run through: the first route is the straight line; the boxes on it are added,
 * and the search is repeated until the route is free. Undefined when there is no route or the search exceeds its limits.
 */
function findDetour(input: DetourInput, a: number, b: number): Bend[] | undefined {
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

function cornerPoint({ boxes, size, clearance }: DetourInput, { box, corner }: Bend, extra = 0): Point {
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
