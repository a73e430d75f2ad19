/**
 * The layout of a hierarchy, in the usual steps: order the nodes of each layer so that few edges cross
 * (`layer-order.ts`), then assign coordinates that place each node near the mean of its neighbours. All nodes of a layer
 * are on one row, however wide it is: a second row would look like another layer. Edges that skip a layer have a narrow
 * free place in it.
 */
import { type Adjacency, maxOf, minOf, type Point, type Size, shortestDistances } from "./adjacency.ts";
import { createLayerGraph, type LayerGraph, orderLayers } from "./layer-order.ts";

const ROUNDS = 12;
/** The width of the free place of an edge that skips a layer, relative to that of a node. */
const VIRTUAL_WIDTH = 0.3;
/** The nodes of a narrow layer are at most this many times further apart than needed. */
const MAX_STRETCH = 2;
/** The weight of an edge between virtual nodes, which should be straight. */
const VIRTUAL_WEIGHT = 4;
/** The space between two rows, relative to the height of a node: wide drawings need more, or edges are nearly level. */
const MIN_GAP = 0.9;
const MAX_GAP = 6;
const GAP_PER_WIDTH = 0.07;

export function layeredLayout(graph: Adjacency, layers: readonly number[], spacing: Size): Point[] {
  const layerGraph = createLayerGraph(graph, layers);
  const order = orderLayers(layerGraph);
  const x = assignX(layerGraph, order, spacing.width);
  const real = [...graph.nodes.keys()];
  const xs = real.map((node) => x[node] ?? 0);
  const width = maxOf(xs) - minOf(xs);
  const gap = Math.min(MAX_GAP, Math.max(MIN_GAP, (width * GAP_PER_WIDTH) / spacing.height));
  const rowHeight = spacing.height * (1 + gap);
  return real.map((node) => ({ x: x[node] ?? 0, y: (layers[node] ?? 0) * rowHeight }));
}

/**
 * The x coordinate of each node. The widest layer is spaced evenly. From there up and down, each node is placed as near
 * as possible to the mean of its neighbours in the layer before; then all layers are placed again between both sides.
 */
function assignX(graph: LayerGraph, order: readonly (readonly number[])[], spacing: number): Float64Array {
  const x = new Float64Array(graph.layers.length);
  const widthOf = (node: number) => (node < graph.realCount ? spacing : spacing * VIRTUAL_WIDTH);
  const widths = order.map((layer) => layer.reduce((sum, node) => sum + widthOf(node), 0));
  const widest = widths.indexOf(maxOf(widths));
  const stretches = widths.map((width) =>
    Math.min(MAX_STRETCH, Math.max(1, ((widths[widest] ?? 0) * 0.6) / width)),
  );
  const place = (l: number, sides: readonly (readonly (readonly number[])[])[]) => {
    const layer = order[l] ?? [];
    const desired = layer.map((node) => weightedMean(graph, node, sides, x) ?? x[node] ?? 0);
    const stretch = stretches[l] ?? 1;
    const steps = layer.map((node, i) => ((widthOf(node) + widthOf(layer[i - 1] ?? node)) / 2) * stretch);
    for (const [i, position] of enforceSpacing(desired, steps).entries()) x[layer[i] ?? 0] = position;
  };
  let right = 0;
  for (const node of order[widest] ?? []) {
    x[node] = right + widthOf(node) / 2;
    right += widthOf(node);
  }
  for (let l = widest - 1; l >= 0; l--) place(l, [graph.down]);
  for (let l = widest + 1; l < order.length; l++) place(l, [graph.up]);
  for (let round = 0; round < ROUNDS; round++) {
    const isDown = round % 2 === 0;
    for (let step = 0; step < order.length; step++)
      place(isDown ? step : order.length - 1 - step, [graph.up, graph.down]);
  }
  return x;
}

function weightedMean(
  { realCount }: LayerGraph,
  node: number,
  sides: readonly (readonly (readonly number[])[])[],
  x: Float64Array,
): number | undefined {
  let [sum, weights] = [0, 0];
  for (const side of sides) {
    for (const other of side[node] ?? []) {
      const weight = node >= realCount && other >= realCount ? VIRTUAL_WEIGHT : 1;
      sum += (x[other] ?? 0) * weight;
      weights += weight;
    }
  }
  return weights === 0 ? undefined : sum / weights;
}

/**
 * The positions nearest to the desired ones (least squares) that keep the order and are at least `steps[i]` after the
 * position before; the first step is not used. This is isotonic regression of the positions minus the sum of the steps
 * before them, by pooling adjacent violators.
 */
export function enforceSpacing(desired: readonly number[], steps: readonly number[]): number[] {
  const offsets: number[] = [];
  const pools: { sum: number; count: number }[] = [];
  for (const [i, position] of desired.entries()) {
    const offset = i === 0 ? 0 : (offsets[i - 1] ?? 0) + (steps[i] ?? 0);
    offsets.push(offset);
    let pool = { sum: position - offset, count: 1 };
    for (
      let last = pools.at(-1);
      last && last.sum / last.count > pool.sum / pool.count;
      last = pools.at(-1)
    ) {
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count };
      pools.pop();
    }
    pools.push(pool);
  }
  const positions = pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count));
  return positions.map((position, i) => position + (offsets[i] ?? 0));
}

const MAX_LAYERS = 10;
/** The highest score of a hierarchy. Annotated layers may score worse, because a person assigned them. */
const MAX_SCORE = 0.15;
const MAX_SCORE_OF_ANNOTATIONS = 0.75;
/** The largest graph whose centre is a candidate, because finding it needs the distances of all pairs. */
const MAX_NODES_FOR_CENTRE = 1500;

/**
 * Decides whether a connected graph is a hierarchy (leaf and spine, a tree, core and access) and assigns each node a
 * layer: 0 is the top and no layer is empty. Undefined when the graph is not a hierarchy.
 *
 * The layers are those of the annotations, or else the best of several candidates: the distance from the nodes of highest
 * degree, from those of lowest degree, from those up to the median degree, and from the centre. Hosts do not count,
 * because they come and go, and the map would differ with them. In a hierarchy edges join adjacent layers, and each layer
 * is at least as wide as the one above. Rings, meshes and tori score badly with every candidate and get another layout.
 */
export function assignLayers(graph: Adjacency): number[] | undefined {
  if (graph.nodes.length < 3) return undefined;
  const annotated = annotatedLayers(graph);
  if (annotated !== undefined && scoreLayers(graph, annotated) <= MAX_SCORE_OF_ANNOTATIONS) return annotated;
  let best: number[] | undefined;
  let [bestScore, bestDepth] = [MAX_SCORE, 0];
  for (const candidate of candidateLayers(graph)) {
    const [score, depth] = [scoreLayers(graph, candidate), maxOf(candidate)];
    // Of equal scores, the deeper hierarchy is better: distribution switches often have more links than the core above.
    if (score > bestScore || (score === bestScore && depth <= bestDepth)) continue;
    [best, bestScore, bestDepth] = [candidate, score, depth];
  }
  return best;
}

function layersFromBottom(graph: Adjacency, bottom: readonly number[]): number[] {
  const heights = shortestDistances(graph, bottom);
  const maxHeight = maxOf(heights);
  return [...heights].map((height) => maxHeight - height);
}

/** Yields the most reliable candidate first, because the first one of equal scores and depths is used. */
function* candidateLayers(graph: Adjacency): Generator<number[]> {
  const degrees = graph.neighbours.map((list) => list.length);
  const sorted = degrees.toSorted((p, q) => p - q);
  const [minDegree = 0, maxDegree = 0] = [sorted[0], sorted.at(-1)];
  const medianDegree = sorted[sorted.length >> 1] ?? 0;
  const nodesWhere = (test: (node: number) => boolean) => [...degrees.keys()].filter(test);
  const layersFromTop = (top: number[]) => [...shortestDistances(graph, top)];
  yield layersFromTop(nodesWhere((node) => (degrees[node] ?? 0) >= maxDegree * 0.7));
  // Most devices of a hierarchy are at its bottom. Some of them may have fewer uplinks than the others.
  for (const highest of new Set([minDegree, medianDegree])) {
    yield layersFromBottom(
      graph,
      nodesWhere((node) => (degrees[node] ?? 0) <= highest),
    );
  }
  if (graph.nodes.length > MAX_NODES_FOR_CENTRE) return;
  const eccentricities = nodesWhere(() => true).map((node) => maxOf(shortestDistances(graph, [node])));
  const radius = minOf(eccentricities);
  yield layersFromTop(nodesWhere((node) => eccentricities[node] === radius));
}

/**
 * The annotated layers, when at least half of the nodes have one. A node without one is placed below its highest
 * annotated neighbour.
 */
function annotatedLayers(graph: Adjacency): number[] | undefined {
  const annotations = graph.nodes.map((node) => node.layer);
  const known = annotations.filter((layer) => layer !== undefined);
  if (known.length * 2 < annotations.length) return undefined;
  const lowest = maxOf(known);
  const layers = annotations.map((layer, node) => {
    if (layer !== undefined) return layer;
    const ofNeighbours = (graph.neighbours[node] ?? []).flatMap((other) => annotations[other] ?? []);
    return ofNeighbours.length > 0 ? minOf(ofNeighbours) + 1 : lowest + 1;
  });
  const used = [...new Set(layers)].sort((p, q) => p - q);
  return layers.map((layer) => used.indexOf(layer));
}

/**
 * The part of the edges that contradicts a hierarchy: edges within a layer, edges that skip a layer (half as bad), and
 * edges from a wider layer down to a narrower one. Infinite when there are too few or too many layers.
 */
function scoreLayers(graph: Adjacency, layers: readonly number[]): number {
  const sizes: number[] = [];
  for (const layer of layers) sizes[layer] = (sizes[layer] ?? 0) + 1;
  const maxLayers = Math.min(MAX_LAYERS, Math.max(3, graph.nodes.length / 2.5));
  if (sizes.length < 2 || sizes.length > maxLayers) return Number.POSITIVE_INFINITY;
  let penalty = 0;
  for (const [a, b] of graph.edges) {
    const [upper, lower] = [layers[a] ?? 0, layers[b] ?? 0].sort((p, q) => p - q);
    if (upper === undefined || lower === undefined) continue;
    if (upper === lower) penalty += 1;
    else if (lower - upper > 1) penalty += 0.5;
    else if ((sizes[upper] ?? 0) > (sizes[lower] ?? 0)) penalty += 1;
  }
  return penalty / graph.edges.length;
}
