/**
 * Draws a hierarchy: layers from top to bottom, in each layer an order that keeps what belongs together side by
 * side, and positions below the middle of what a node hangs on.
 *
 * A layer too wide for the picture is folded into several rows, column by column, so that neighbours in the order
 * stay neighbours. Columns stand a little further apart than single nodes: the lines to the lower rows come down
 * between them.
 */
import { type Adjacency, largest, type Point, type Spacing, smallest } from "./adjacency.ts";

const SWEEPS = 12;
/** How much further apart the columns of a folded layer stand. */
const CHANNEL = 1.12;

export function layeredLayout(graph: Adjacency, layers: readonly number[], spacing: Spacing): Point[] {
  const most = Math.max(8, Math.ceil(Math.sqrt(graph.nodes.length * 2.6)));
  const columns = ordered(graph, layers).map((layer) => inColumns(graph, layers, layer, most));
  const x = placed(graph, layers, columns, spacing.x);
  const width = largest(x) - smallest(x);
  // Wide pictures need room between layers, or all lines run flat.
  const gap = Math.min(spacing.y * 4, Math.max(spacing.y * 0.9, width * 0.08));
  const points: Point[] = [];
  let top = 0;
  for (const layer of columns) {
    for (const column of layer) {
      for (const [row, node] of column.entries())
        points[node] = { x: x[node] ?? 0, y: top + row * spacing.y };
    }
    top += rowsOf(layer) * spacing.y + gap;
  }
  return points;
}

const rowsOf = (layer: readonly (readonly number[])[]): number =>
  largest(layer.map((column) => column.length));

/** A layer in at most about `most` columns; those that hang on the same nodes have columns to themselves. */
function inColumns(
  graph: Adjacency,
  layers: readonly number[],
  layer: readonly number[],
  most: number,
): number[][] {
  const rows = Math.ceil(layer.length / most);
  if (rows === 1) return layer.map((node) => [node]);
  const siblings: number[][] = [];
  let last = "";
  for (const node of layer) {
    const above = (graph.neighbours[node] ?? []).filter(
      (other) => (layers[other] ?? 0) < (layers[node] ?? 0),
    );
    const key = above.join();
    if (siblings.length > 0 && key === last) siblings.at(-1)?.push(node);
    else siblings.push([node]);
    last = key;
  }
  const grouped = siblings.flatMap((group) => folded(group, rows));
  return grouped.length <= most * 1.4 ? grouped : folded(layer, rows);
}

/** In columns of `rows` nodes, or one less where they do not come out even. */
function folded(nodes: readonly number[], rows: number): number[][] {
  const count = Math.ceil(nodes.length / rows);
  const start = (column: number) => Math.ceil((column * nodes.length) / count);
  return Array.from({ length: count }, (_, column) => nodes.slice(start(column), start(column + 1)));
}

/** Sweeps down and up, each layer sorted by the mean place of its neighbours in the others; the tidiest is kept. */
function ordered(graph: Adjacency, layers: readonly number[]): number[][] {
  const count = largest(layers) + 1;
  let order: number[][] = Array.from({ length: count }, () => []);
  for (const node of depthFirst(graph, layers)) order[layers[node] ?? 0]?.push(node);
  let best = order;
  let shortest = spread(graph, order);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    const place = relativePlaces(order, graph.nodes.length);
    order = order.map((layer) => [...layer]);
    for (let step = 0; step < count; step++) {
      const l = down ? step : count - 1 - step;
      const layer = order[l] ?? [];
      const wanted = new Map<number, number>();
      for (const node of layer) {
        const all = graph.neighbours[node] ?? [];
        const beyond = all.filter((other) => (down ? (layers[other] ?? 0) < l : (layers[other] ?? 0) > l));
        // What has nothing on that side goes by its neighbours on its own layer and the other side.
        const others = beyond.length > 0 ? beyond : all;
        const sum = others.reduce((total, other) => total + (place[other] ?? 0), 0);
        wanted.set(node, sum / others.length);
      }
      layer.sort((p, q) => (wanted.get(p) ?? 0) - (wanted.get(q) ?? 0));
      for (const [i, node] of layer.entries()) place[node] = (i + 0.5) / layer.length;
    }
    const length = spread(graph, order);
    if (length >= shortest) continue;
    best = order;
    shortest = length;
  }
  return best;
}

/** From the top, what hangs below a node before its next neighbour: subtrees start out side by side. */
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
      // Backwards, since the last in is the first out.
      for (const other of (graph.neighbours[node] ?? []).toReversed()) {
        if ((layers[other] ?? 0) > layer) stack.push(other);
      }
    }
  }
}

function relativePlaces(order: readonly (readonly number[])[], nodes: number): Float64Array {
  const place = new Float64Array(nodes);
  for (const layer of order) for (const [i, node] of layer.entries()) place[node] = (i + 0.5) / layer.length;
  return place;
}

/** How far, in all, lines run sideways: long lines cross more. */
function spread(graph: Adjacency, order: readonly (readonly number[])[]): number {
  const place = relativePlaces(order, graph.nodes.length);
  let total = 0;
  for (const [a, b] of graph.edges) total += Math.abs((place[a] ?? 0) - (place[b] ?? 0));
  return total;
}

/** The widest layer is spaced evenly; from there up and down each column goes as near as it can to its neighbours. */
function placed(
  graph: Adjacency,
  layers: readonly number[],
  columns: readonly (readonly (readonly number[])[])[],
  spacing: number,
): number[] {
  const stepOf = (l: number) => (rowsOf(columns[l] ?? []) > 1 ? spacing * CHANNEL : spacing);
  const span = (l: number) => (columns[l]?.length ?? 0) * stepOf(l);
  const widest = [...columns.keys()].reduce((most, l) => (span(l) > span(most) ? l : most), 0);
  const x: number[] = [];
  const done = new Set<number>();
  const settle = (l: number, places: readonly number[]) => {
    for (const [i, column] of (columns[l] ?? []).entries())
      for (const node of column) x[node] = places[i] ?? 0;
    done.add(l);
  };
  const near = (l: number) => {
    const step = stepOf(l);
    const loose = Math.min(2, Math.max(1, span(widest) / ((columns[l]?.length ?? 0) + 1) / step));
    const wanted = (columns[l] ?? []).map((column) => {
      const others = column.flatMap((node) => graph.neighbours[node] ?? []);
      const settled = others.filter((other) => done.has(layers[other] ?? -1));
      const sum = settled.reduce((total, other) => total + (x[other] ?? 0), 0);
      return settled.length > 0 ? sum / settled.length : span(widest) / 2;
    });
    settle(l, apart(wanted, step * loose));
  };
  settle(
    widest,
    (columns[widest] ?? []).map((_, i) => i * stepOf(widest)),
  );
  for (let l = widest - 1; l >= 0; l--) near(l);
  for (let l = widest + 1; l < columns.length; l++) near(l);
  return x;
}

/**
 * The places nearest to those wanted (least squares) that keep the order and a step between neighbours: isotonic
 * regression on what is left when the steps are taken off, by pooling neighbours that want to pass each other.
 */
export function apart(wanted: readonly number[], step: number): number[] {
  const pools: { sum: number; count: number }[] = [];
  for (const [i, want] of wanted.entries()) {
    let pool = { sum: want - i * step, count: 1 };
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
  const places = pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count));
  return places.map((place, i) => place + i * step);
}
