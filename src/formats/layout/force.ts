/**
 * The layout of connected graphs that are not hierarchies. It minimises stress: each pair of nodes has a spring whose
 * length is the number of hops between them, and the springs are relaxed one pair at a time with shrinking steps
 * (stochastic gradient descent; Zheng, Pawar and Goodman 2018). It finds the shape of rings, meshes and tori in about
 * twenty rounds, where attracting and repelling forces need hundreds. The order of the pairs is pseudo-random from a
 * fixed seed, so that the same network always gives the same layout.
 */
import { type Adjacency, maxOf, type Point, type Size, shortestDistances } from "./adjacency.ts";
import { removeOverlaps } from "./overlap-removal.ts";

/** The distances of all pairs are kept in memory: too many for larger graphs. */
export const MAX_NODES_FOR_FORCE = 1200;
const ROUNDS = 18;
const LAST_STEP = 0.05;
const GOLDEN_ANGLE = 2.399963;

export function forceLayout(graph: Adjacency, spacing: Size): Point[] {
  const n = graph.nodes.length;
  if (n === 1) return [{ x: 0, y: 0 }];
  const random = createRandom(n);
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    // A sunflower spiral: evenly spread, no two nodes in one place.
    const angle = i * GOLDEN_ANGLE;
    x[i] = Math.sqrt(i + 0.5) * Math.cos(angle);
    y[i] = Math.sqrt(i + 0.5) * Math.sin(angle);
  }
  minimiseStress(graph, x, y, random);
  rotateToHorizontal(x, y);
  const points = Array.from(x, (value, i) => ({
    x: value * spacing.width * 1.3,
    y: (y[i] ?? 0) * spacing.height * 2.2,
  }));
  return removeOverlaps(points, spacing);
}

function minimiseStress(graph: Adjacency, x: Float64Array, y: Float64Array, random: () => number): void {
  const n = x.length;
  const hops = Array.from({ length: n }, (_, i) => shortestDistances(graph, [i]));
  const pairs = new Uint32Array((n * (n - 1)) / 2);
  let count = 0;
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) pairs[count++] = i * n + j;
  const maxHops = maxOf(hops.map(maxOf));
  const firstStep = maxHops * maxHops;
  const decay = Math.log(firstStep / LAST_STEP) / (ROUNDS - 1);
  for (let round = 0; round < ROUNDS; round++) {
    const step = firstStep * Math.exp(-decay * round);
    shuffle(pairs, random);
    for (const pair of pairs) {
      const i = Math.floor(pair / n);
      const j = pair % n;
      const target = hops[i]?.[j] ?? 1;
      const dx = (x[i] ?? 0) - (x[j] ?? 0);
      const dy = (y[i] ?? 0) - (y[j] ?? 0);
      const distance = Math.hypot(dx, dy) || 1e-9;
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

/** Fisher–Yates. */
function shuffle(list: Uint32Array, random: () => number): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const swapped = list[i] ?? 0;
    list[i] = list[j] ?? 0;
    list[j] = swapped;
  }
}

/** Mulberry32: small, and good enough for a shuffle. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
