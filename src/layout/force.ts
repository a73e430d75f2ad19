/**
 * The layout of connected graphs that are not hierarchies. It minimises stress: pairs of nodes have a spring whose length
 * is the number of hops between them, and the springs are relaxed one pair at a time with shrinking steps (stochastic
 * gradient descent; Zheng, Pawar and Goodman 2018). It finds the shape of rings, meshes and tori in about twenty rounds,
 * where attracting and repelling forces need hundreds. In a small graph all pairs have a spring; in a large one, pairs of
 * neighbours and each node with some pivots (Ortmann, Klimenta and Brandes 2017).
 *
 * Small graphs are laid out several times from different starts; the result with the fewest crossings is used, and nodes
 * whose edges cross others are moved to better places. All orders are pseudo-random from fixed seeds, so that the same
 * network always gives the same layout.
 */
import { appendTo } from "../lib/multimap.ts";
import {
  type Adjacency,
  cellKey,
  createRandom,
  maxOf,
  type Point,
  type Size,
  shortestDistances,
  shuffle,
} from "./adjacency.ts";
import { crossesBox } from "./box-index.ts";

/** The largest graph that springs lay out. Larger graphs have more overlaps than can be removed in reasonable time. */
export const MAX_NODES_FOR_FORCE = 1200;
const MAX_NODES_FOR_ALL_PAIRS = 250;
const PIVOTS = 40;
const ROUNDS = 18;
const LAST_STEP = 0.05;
const GOLDEN_ANGLE = 2.399963;
const STARTS = 6;
const MAX_EDGES_FOR_STARTS = 400;

export function forceLayout(graph: Adjacency, spacing: Size): Point[] {
  if (graph.nodes.length === 1) return [{ x: 0, y: 0 }];
  const springs = createSprings(graph);
  if (graph.edges.length > MAX_EDGES_FOR_STARTS) return layoutFrom(graph, springs, spacing, 0);
  let best: Point[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  for (let start = 0; start < STARTS && fewest > 0; start++) {
    const points = layoutFrom(graph, springs, spacing, start);
    const crossings = countStraightCrossings(graph, points);
    if (crossings < fewest) [best, fewest] = [points, crossings];
  }
  return fewest === 0 ? best : reduceCrossings(graph, best, spacing);
}

interface Springs {
  /** The two nodes of each spring in one flat array. */
  readonly ends: Uint32Array;
  readonly lengths: Float64Array;
  readonly maxLength: number;
}

function createSprings(graph: Adjacency): Springs {
  const n = graph.nodes.length;
  const ends: number[] = [];
  const lengths: number[] = [];
  const add = (i: number, j: number, length: number) => {
    ends.push(i, j);
    lengths.push(length);
  };
  if (n <= MAX_NODES_FOR_ALL_PAIRS) {
    for (let i = 0; i < n; i++) {
      const distance = shortestDistances(graph, [i]);
      for (let j = i + 1; j < n; j++) add(i, j, distance[j] ?? 1);
    }
  } else {
    for (const [a, b] of graph.edges) add(a, b, 1);
    // Each pivot is the node that is farthest from those before it.
    const nearest = new Int32Array(n).fill(n);
    for (let k = 0, pivot = 0; k < PIVOTS; k++) {
      const distance = shortestDistances(graph, [pivot]);
      for (let i = 0; i < n; i++) {
        if ((distance[i] ?? 0) > 1) add(pivot, i, distance[i] ?? 1);
        nearest[i] = Math.min(nearest[i] ?? 0, distance[i] ?? 0);
      }
      pivot = nearest.indexOf(maxOf(nearest));
    }
  }
  return { ends: Uint32Array.from(ends), lengths: Float64Array.from(lengths), maxLength: maxOf(lengths) };
}

function layoutFrom(graph: Adjacency, springs: Springs, spacing: Size, start: number): Point[] {
  const n = graph.nodes.length;
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    // The nodes start on a sunflower spiral, which spreads them evenly and puts no two in one place.
    const angle = i * GOLDEN_ANGLE * (start + 1);
    x[i] = Math.sqrt(i + 0.5) * Math.cos(angle);
    y[i] = Math.sqrt(i + 0.5) * Math.sin(angle);
  }
  minimiseStress(springs, x, y, createRandom(n + start));
  rotateToHorizontal(x, y);
  const points = Array.from(x, (value, i) => ({
    x: value * spacing.width * 1.3,
    y: (y[i] ?? 0) * spacing.height * 2.2,
  }));
  return removeOverlaps(points, spacing);
}

function minimiseStress(
  { ends, lengths, maxLength }: Springs,
  x: Float64Array,
  y: Float64Array,
  random: () => number,
): void {
  const order = Uint32Array.from(lengths, (_, i) => i);
  const firstStep = maxLength * maxLength;
  const decay = Math.log(firstStep / LAST_STEP) / (ROUNDS - 1);
  for (let round = 0; round < ROUNDS; round++) {
    const step = firstStep * Math.exp(-decay * round);
    shuffle(order, random);
    for (const spring of order) {
      const [i, j] = [ends[spring * 2] ?? 0, ends[spring * 2 + 1] ?? 0];
      const target = lengths[spring] ?? 1;
      const dx = (x[i] ?? 0) - (x[j] ?? 0);
      const dy = (y[i] ?? 0) - (y[j] ?? 0);
      const distance = Math.sqrt(dx * dx + dy * dy) || 1e-9;
      const factor = (Math.min(1, step / (target * target)) * (distance - target)) / 2 / distance;
      x[i] = (x[i] ?? 0) - factor * dx;
      y[i] = (y[i] ?? 0) - factor * dy;
      x[j] = (x[j] ?? 0) + factor * dx;
      y[j] = (y[j] ?? 0) + factor * dy;
    }
  }
}

/** Rotates the principal axis to the horizontal, because pages and screens are wider than high. */
function rotateToHorizontal(x: Float64Array, y: Float64Array): void {
  const n = x.length;
  const meanX = x.reduce((p, q) => p + q, 0) / n;
  const meanY = y.reduce((p, q) => p + q, 0) / n;
  let [xx, xy, yy] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    const dx = (x[i] ?? 0) - meanX;
    const dy = (y[i] ?? 0) - meanY;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  const angle = -Math.atan2(2 * xy, xx - yy) / 2;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (let i = 0; i < n; i++) {
    const dx = (x[i] ?? 0) - meanX;
    const dy = (y[i] ?? 0) - meanY;
    x[i] = dx * cos - dy * sin;
    y[i] = dx * sin + dy * cos;
  }
}

const MOVE_ROUNDS = 4;
const DIRECTIONS = 12;
/** The distances of the places that are tried, in spacings. */
const RADII = [1, 2, 3.5];
/** The cost of a node that an edge runs through: the edge is led around it and crosses others there. */
const THROUGH_COST = 1;

function countStraightCrossings(graph: Adjacency, points: readonly Point[]): number {
  let count = 0;
  for (const [i, edge] of graph.edges.entries()) {
    for (let j = i + 1; j < graph.edges.length; j++) {
      const other = graph.edges[j];
      if (other && edgesCross(points, edge, other)) count++;
    }
  }
  return count;
}

/**
 * Moves single nodes of a layout with straight edges to places where their edges cross fewer others. The places that are
 * tried are around the node and around the centre of its neighbours; places near another node are skipped.
 */
function reduceCrossings(graph: Adjacency, initial: readonly Point[], spacing: Size): Point[] {
  const points = [...initial];
  for (let round = 0; round < MOVE_ROUNDS; round++) {
    let moved = false;
    for (const node of graph.nodes.keys()) if (moveNode(graph, points, node, spacing)) moved = true;
    if (!moved) break;
  }
  return points;
}

function moveNode(graph: Adjacency, points: Point[], node: number, spacing: Size): boolean {
  const before = points[node];
  if (!before) return false;
  let best = before;
  let least = costOf(graph, points, node, spacing);
  if (least === 0) return false;
  for (const place of placesFor(graph, points, node, spacing)) {
    if (!isFree(points, node, place, spacing)) continue;
    points[node] = place;
    const cost = costOf(graph, points, node, spacing);
    if (cost < least) [best, least] = [place, cost];
    if (least === 0) break;
  }
  points[node] = best;
  return best !== before;
}

function* placesFor(
  graph: Adjacency,
  points: readonly Point[],
  node: number,
  spacing: Size,
): Generator<Point> {
  const neighbours = (graph.neighbours[node] ?? []).flatMap((other) => points[other] ?? []);
  const centre = {
    x: neighbours.reduce((sum, { x }) => sum + x, 0) / neighbours.length,
    y: neighbours.reduce((sum, { y }) => sum + y, 0) / neighbours.length,
  };
  yield centre;
  for (const { x, y } of [centre, points[node] ?? centre]) {
    for (const radius of RADII) {
      for (let i = 0; i < DIRECTIONS; i++) {
        const angle = (i / DIRECTIONS) * 2 * Math.PI;
        yield {
          x: x + Math.cos(angle) * radius * spacing.width,
          y: y + Math.sin(angle) * radius * spacing.height,
        };
      }
    }
  }
}

function isFree(points: readonly Point[], node: number, { x, y }: Point, { width, height }: Size): boolean {
  return points.every(
    (other, i) => i === node || Math.abs(other.x - x) >= width || Math.abs(other.y - y) >= height,
  );
}

/** The number of crossings of a node's edges plus the cost of other nodes that these edges run through. */
function costOf(graph: Adjacency, points: readonly Point[], node: number, spacing: Size): number {
  let cost = 0;
  for (const other of graph.neighbours[node] ?? []) {
    for (const edge of graph.edges) if (edgesCross(points, [node, other], edge)) cost++;
    for (const [i, point] of points.entries()) {
      if (i !== node && i !== other && isNear(points, node, other, point, spacing)) cost += THROUGH_COST;
    }
  }
  return cost;
}

/** Whether the edge from `a` to `b` runs through the middle of the space of a node at `point`. */
function isNear(
  points: readonly Point[],
  a: number,
  b: number,
  point: Point,
  { width, height }: Size,
): boolean {
  const [p, q] = [points[a], points[b]];
  if (!p || !q) return false;
  return crossesBox(p.x - point.x, p.y - point.y, q.x - point.x, q.y - point.y, width / 4, height / 4);
}

function edgesCross(
  points: readonly Point[],
  [a, b]: readonly [number, number],
  [c, d]: readonly [number, number],
): boolean {
  if (a === c || a === d || b === c || b === d) return false;
  const [p, q, r, s] = [points[a], points[b], points[c], points[d]];
  if (!p || !q || !r || !s) return false;
  return side(p, q, r) * side(p, q, s) < 0 && side(r, s, p) * side(r, s, q) < 0;
}

const side = (p: Point, q: Point, r: Point): number => (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);

const ROUNDS_BETWEEN_SCALING = 12;
const MAX_ROUNDS = 600;
const SCALE = 1.12;
/** The factor that pushes a pair slightly further than needed, because rounding could otherwise leave an overlap. */
const SLACK = 1.001;

/**
 * Moves nodes until none overlap: each overlapping pair is pushed apart along the axis that needs less movement. The
 * number of rounds is bounded. Every few rounds the whole layout is scaled up, which makes room in crowded areas.
 */
export function removeOverlaps(points: readonly Point[], spacing: Size): Point[] {
  const x = Float64Array.from(points, (point) => point.x);
  const y = Float64Array.from(points, (point) => point.y);
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    if (!pushAllApart(x, y, spacing)) break;
    if (round % ROUNDS_BETWEEN_SCALING !== 0) continue;
    for (let i = 0; i < x.length; i++) {
      x[i] = (x[i] ?? 0) * SCALE;
      y[i] = (y[i] ?? 0) * SCALE;
    }
  }
  return Array.from(x, (value, i) => ({ x: value, y: y[i] ?? 0 }));
}

/** Runs one round over all pairs in neighbouring cells of a grid. Returns whether any node moved. */
function pushAllApart(x: Float64Array, y: Float64Array, spacing: Size): boolean {
  const cells = new Map<number, number[]>();
  const column = (i: number) => Math.floor((x[i] ?? 0) / spacing.width);
  const row = (i: number) => Math.floor((y[i] ?? 0) / spacing.height);
  let moved = false;
  for (let i = 0; i < x.length; i++) {
    for (let c = column(i) - 1; c <= column(i) + 1; c++) {
      for (let r = row(i) - 1; r <= row(i) + 1; r++) {
        for (const j of cells.get(cellKey(c, r)) ?? []) if (pushPairApart(x, y, j, i, spacing)) moved = true;
      }
    }
    appendTo(cells, cellKey(column(i), row(i)), i);
  }
  return moved;
}

function pushPairApart(x: Float64Array, y: Float64Array, i: number, j: number, spacing: Size): boolean {
  const dx = (x[j] ?? 0) - (x[i] ?? 0);
  const dy = (y[j] ?? 0) - (y[i] ?? 0);
  const overlapX = spacing.width - Math.abs(dx);
  const overlapY = spacing.height - Math.abs(dy);
  if (overlapX <= 0 || overlapY <= 0) return false;
  if (overlapX / spacing.width < overlapY / spacing.height) {
    const push = ((overlapX * SLACK) / 2) * (dx < 0 ? -1 : 1);
    x[i] = (x[i] ?? 0) - push;
    x[j] = (x[j] ?? 0) + push;
  } else {
    const push = ((overlapY * SLACK) / 2) * (dy < 0 ? -1 : 1);
    y[i] = (y[i] ?? 0) - push;
    y[j] = (y[j] ?? 0) + push;
  }
  return true;
}
