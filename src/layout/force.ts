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
import { type Adjacency, maxOf, type Point, type Size, shortestDistances } from "./adjacency.ts";
import { countStraightCrossings, reduceCrossings } from "./crossing-reduction.ts";
import { removeOverlaps } from "./overlap-removal.ts";
import { createRandom, shuffle } from "./seeded-random.ts";

/** Larger graphs have more overlaps than can be removed in reasonable time. */
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
  /** Two nodes and the length of each spring, flat. */
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
    // A sunflower spiral: evenly spread, no two nodes in one place.
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
