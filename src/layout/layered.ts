/**
 * The layout of a hierarchy, in the usual steps: order the nodes of each layer so that few edges cross
 * (`layer-order.ts`), then assign coordinates that place each node near the mean of its neighbours. All nodes of a layer
 * are on one row, however wide it is: a second row would look like another layer. Edges that skip a layer have a narrow
 * free place in it.
 */
import { type Adjacency, maxOf, minOf, type Point, type Size } from "./adjacency.ts";
import { createLayerGraph, type LayerGraph, orderLayers } from "./layer-order.ts";

const ROUNDS = 12;
/** The width of the free place of an edge that skips a layer, relative to that of a node. */
const VIRTUAL_WIDTH = 0.3;
/** The nodes of a narrow layer are at most so many times further apart than needed. */
const MAX_STRETCH = 2;
/** Between virtual nodes, an edge should be straight. */
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
 * The positions nearest to the desired ones (least squares) that keep the order and at least the step of each to the one
 * before; the first step is not used. This is isotonic regression of the positions minus the steps before them, by
 * pooling adjacent violators.
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
