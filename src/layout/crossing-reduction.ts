/**
 * Moves single nodes of a layout with straight edges to places where their edges cross fewer others. Places are tried
 * around the node, and around the centre of its neighbours, where no other node is.
 */
import type { Adjacency, Point, Size } from "./adjacency.ts";
import { crossesBox } from "./box-index.ts";

const ROUNDS = 4;
const DIRECTIONS = 12;
/** The distances of the places that are tried, in spacings. */
const RADII = [1, 2, 3.5];
/** The cost of a node that an edge runs through: the edge is led around it and crosses others there. */
const THROUGH_COST = 1;

export function countStraightCrossings(graph: Adjacency, points: readonly Point[]): number {
  let count = 0;
  for (const [i, edge] of graph.edges.entries()) {
    for (let j = i + 1; j < graph.edges.length; j++) {
      const other = graph.edges[j];
      if (other && edgesCross(points, edge, other)) count++;
    }
  }
  return count;
}

export function reduceCrossings(graph: Adjacency, initial: readonly Point[], spacing: Size): Point[] {
  const points = [...initial];
  for (let round = 0; round < ROUNDS; round++) {
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

/** The crossings of the edges of a node, and the nodes near to one of them. */
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
