/**
 * The layout of a hierarchy, in the usual steps: order the nodes of each layer so that edges are short and cross
 * little (barycentre heuristic), then assign coordinates that place each node near the mean of its neighbours.
 *
 * A layer that is too wide is folded into several rows, column by column, so that neighbours in the order stay
 * neighbours. The columns of a folded layer are further apart, because the edges to its lower rows run between them.
 */
import { type Adjacency, maxOf, minOf, type Point, type Size } from "./adjacency.ts";

/** Downward and upward passes of the ordering. */
const SWEEPS = 12;
/** The distance between the columns of a folded layer, relative to that of single nodes. */
const FOLDED_COLUMN_FACTOR = 1.12;

/** The columns of one layer, each with its nodes from top to bottom. */
type Columns = readonly (readonly number[])[];

export function layeredLayout(graph: Adjacency, layers: readonly number[], spacing: Size): Point[] {
  const maxColumns = Math.max(8, Math.ceil(Math.sqrt(graph.nodes.length * 2.6)));
  const columnsByLayer = orderLayers(graph, layers).map((layer) =>
    foldLayer(graph, layers, layer, maxColumns),
  );
  const x = assignX(graph, layers, columnsByLayer, spacing.width);
  const width = maxOf(x) - minOf(x);
  // Wide drawings need more room between layers; otherwise the edges are nearly horizontal.
  const gap = Math.min(spacing.height * 4, Math.max(spacing.height * 0.9, width * 0.08));
  const points: Point[] = [];
  let top = 0;
  for (const columns of columnsByLayer) {
    for (const column of columns) {
      for (const [row, node] of column.entries())
        points[node] = { x: x[node] ?? 0, y: top + row * spacing.height };
    }
    top += countRows(columns) * spacing.height + gap;
  }
  return points;
}

const countRows = (columns: Columns): number => maxOf(columns.map((column) => column.length));

/** At most about `maxColumns` columns. Nodes with the same parents get columns of their own where that fits. */
function foldLayer(
  graph: Adjacency,
  layers: readonly number[],
  layer: readonly number[],
  maxColumns: number,
): number[][] {
  const rows = Math.ceil(layer.length / maxColumns);
  if (rows === 1) return layer.map((node) => [node]);
  const siblingGroups: number[][] = [];
  let previousParents = "";
  for (const node of layer) {
    const parents = (graph.neighbours[node] ?? [])
      .filter((other) => (layers[other] ?? 0) < (layers[node] ?? 0))
      .join();
    if (siblingGroups.length > 0 && parents === previousParents) siblingGroups.at(-1)?.push(node);
    else siblingGroups.push([node]);
    previousParents = parents;
  }
  const grouped = siblingGroups.flatMap((group) => splitIntoColumns(group, rows));
  return grouped.length <= maxColumns * 1.4 ? grouped : splitIntoColumns(layer, rows);
}

/** Columns of `rows` nodes, or one less where the number of nodes is not a multiple of it. */
function splitIntoColumns(nodes: readonly number[], rows: number): number[][] {
  const count = Math.ceil(nodes.length / rows);
  const start = (column: number) => Math.ceil((column * nodes.length) / count);
  return Array.from({ length: count }, (_, column) => nodes.slice(start(column), start(column + 1)));
}

/**
 * The nodes of each layer in drawing order. Sweeps down and up, and sorts each layer by the mean position of its
 * neighbours in the layers before it. The order with the shortest edges is used.
 */
function orderLayers(graph: Adjacency, layers: readonly number[]): number[][] {
  const count = maxOf(layers) + 1;
  let order: number[][] = Array.from({ length: count }, () => []);
  for (const node of depthFirst(graph, layers)) order[layers[node] ?? 0]?.push(node);
  let best = order;
  let bestLength = totalEdgeLength(graph, order);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    const position = relativePositions(order, graph.nodes.length);
    order = order.map((layer) => [...layer]);
    for (let step = 0; step < count; step++) {
      const l = down ? step : count - 1 - step;
      const layer = order[l] ?? [];
      const barycentres = new Map<number, number>();
      for (const node of layer) {
        const all = graph.neighbours[node] ?? [];
        const before = all.filter((other) => (down ? (layers[other] ?? 0) < l : (layers[other] ?? 0) > l));
        // A node without neighbours on that side uses those of its own layer and of the other side.
        const others = before.length > 0 ? before : all;
        const sum = others.reduce((total, other) => total + (position[other] ?? 0), 0);
        barycentres.set(node, sum / others.length);
      }
      layer.sort((p, q) => (barycentres.get(p) ?? 0) - (barycentres.get(q) ?? 0));
      for (const [i, node] of layer.entries()) position[node] = (i + 0.5) / layer.length;
    }
    const length = totalEdgeLength(graph, order);
    if (length >= bestLength) continue;
    best = order;
    bestLength = length;
  }
  return best;
}

/** From the top layer down, so that the nodes of a subtree are next to each other in the initial order. */
function* depthFirst(graph: Adjacency, layers: readonly number[]): Generator<number> {
  const seen = new Set<number>();
  const roots = [...layers.keys()].sort((p, q) => (layers[p] ?? 0) - (layers[q] ?? 0) || p - q);
  for (const root of roots) {
    const stack = [root];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      yield node;
      const layer = layers[node] ?? 0;
      // Reversed, because a stack returns the last one first.
      for (const other of (graph.neighbours[node] ?? []).toReversed()) {
        if ((layers[other] ?? 0) > layer) stack.push(other);
      }
    }
  }
}

/** Each node's position within its layer, from 0 to 1. */
function relativePositions(order: readonly (readonly number[])[], nodes: number): Float64Array {
  const position = new Float64Array(nodes);
  for (const layer of order)
    for (const [i, node] of layer.entries()) position[node] = (i + 0.5) / layer.length;
  return position;
}

/** The horizontal length of all edges: longer edges cross more. */
function totalEdgeLength(graph: Adjacency, order: readonly (readonly number[])[]): number {
  const position = relativePositions(order, graph.nodes.length);
  let total = 0;
  for (const [a, b] of graph.edges) total += Math.abs((position[a] ?? 0) - (position[b] ?? 0));
  return total;
}

/**
 * The x coordinate of each node. The widest layer is spaced evenly. From there up and down, each column is placed as
 * near as possible to the mean of its neighbours in the layers that are already placed.
 */
function assignX(
  graph: Adjacency,
  layers: readonly number[],
  columnsByLayer: readonly Columns[],
  spacing: number,
): number[] {
  const columnStep = (l: number) =>
    countRows(columnsByLayer[l] ?? []) > 1 ? spacing * FOLDED_COLUMN_FACTOR : spacing;
  const layerWidth = (l: number) => (columnsByLayer[l]?.length ?? 0) * columnStep(l);
  const widest = [...columnsByLayer.keys()].reduce(
    (best, l) => (layerWidth(l) > layerWidth(best) ? l : best),
    0,
  );
  const x: number[] = [];
  const placedLayers = new Set<number>();
  const setLayer = (l: number, columnX: readonly number[]) => {
    for (const [i, column] of (columnsByLayer[l] ?? []).entries())
      for (const node of column) x[node] = columnX[i] ?? 0;
    placedLayers.add(l);
  };
  const placeNearNeighbours = (l: number) => {
    const columns = columnsByLayer[l] ?? [];
    const step = columnStep(l);
    const stretch = Math.min(2, Math.max(1, layerWidth(widest) / (columns.length + 1) / step));
    const desired = columns.map((column) => {
      const neighbours = column.flatMap((node) => graph.neighbours[node] ?? []);
      const placed = neighbours.filter((other) => placedLayers.has(layers[other] ?? -1));
      const sum = placed.reduce((total, other) => total + (x[other] ?? 0), 0);
      return placed.length > 0 ? sum / placed.length : layerWidth(widest) / 2;
    });
    setLayer(l, enforceSpacing(desired, step * stretch));
  };
  setLayer(
    widest,
    (columnsByLayer[widest] ?? []).map((_, i) => i * columnStep(widest)),
  );
  for (let l = widest - 1; l >= 0; l--) placeNearNeighbours(l);
  for (let l = widest + 1; l < columnsByLayer.length; l++) placeNearNeighbours(l);
  return x;
}

/**
 * The positions nearest to the desired ones (least squares) that keep the order and at least `step` between
 * neighbours. This is isotonic regression of the positions minus their steps, by pooling adjacent violators.
 */
export function enforceSpacing(desired: readonly number[], step: number): number[] {
  const pools: { sum: number; count: number }[] = [];
  for (const [i, position] of desired.entries()) {
    let pool = { sum: position - i * step, count: 1 };
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
  return positions.map((position, i) => position + i * step);
}
