/**
 * Places a network that is no hierarchy: springs between all pairs of nodes, each as long as the way between the
 * two, relaxed one pair at a time with shrinking steps (stochastic gradient descent on stress; Zheng, Pawar and
 * Goodman 2018). It finds the shape of rings, meshes and tori within a score of rounds, where repelling and attracting
 * forces need hundreds. The order of pairs is pseudo-random from a fixed seed: same network, same picture.
 */
import { type Adjacency, distances, largest, type Point, type Spacing } from "./adjacency.ts";
import { separated } from "./overlap-removal.ts";

/** All pairs are kept: beyond this many nodes that is too much memory and time. */
export const MAX_NODES_FOR_FORCE = 1200;
const ROUNDS = 18;
const LAST_STEP = 0.05;

export function forceLayout(graph: Adjacency, spacing: Spacing): Point[] {
  const n = graph.nodes.length;
  if (n === 1) return [{ x: 0, y: 0 }];
  const random = createRandom(n);
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    // A sunflower: spread evenly, and no two in one place.
    const angle = i * 2.399963;
    x[i] = Math.sqrt(i + 0.5) * Math.cos(angle);
    y[i] = Math.sqrt(i + 0.5) * Math.sin(angle);
  }
  relax(graph, x, y, random);
  level(x, y);
  const points = Array.from(x, (at, i) => ({ x: at * spacing.x * 1.3, y: (y[i] ?? 0) * spacing.y * 2.2 }));
  return separated(points, spacing);
}

function relax(graph: Adjacency, x: Float64Array, y: Float64Array, random: () => number): void {
  const n = x.length;
  const ways = Array.from({ length: n }, (_, i) => distances(graph, [i]));
  const pairs = new Uint32Array((n * (n - 1)) / 2);
  let count = 0;
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) pairs[count++] = i * n + j;
  const longest = largest(ways.map(largest));
  const firstStep = longest * longest;
  const decay = Math.log(firstStep / LAST_STEP) / (ROUNDS - 1);
  for (let round = 0; round < ROUNDS; round++) {
    const step = firstStep * Math.exp(-decay * round);
    shuffle(pairs, random);
    for (const pair of pairs) {
      const i = Math.floor(pair / n);
      const j = pair % n;
      const way = ways[i]?.[j] ?? 1;
      const dx = (x[i] ?? 0) - (x[j] ?? 0);
      const dy = (y[i] ?? 0) - (y[j] ?? 0);
      const apart = Math.hypot(dx, dy) || 1e-9;
      const part = (Math.min(1, step / (way * way)) * (apart - way)) / 2 / apart;
      x[i] = (x[i] ?? 0) - part * dx;
      y[i] = (y[i] ?? 0) - part * dy;
      x[j] = (x[j] ?? 0) + part * dx;
      y[j] = (y[j] ?? 0) + part * dy;
    }
  }
}

/** Turns the picture so that its long side lies: pages and screens are wider than high. */
function level(x: Float64Array, y: Float64Array): void {
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

/** Fisher and Yates. */
function shuffle(list: Uint32Array, random: () => number): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const kept = list[i] ?? 0;
    list[i] = list[j] ?? 0;
    list[j] = kept;
  }
}

/** Mulberry32: small, and good enough to shuffle with. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
