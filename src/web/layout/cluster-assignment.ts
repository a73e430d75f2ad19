/**
 * Cuts a network into blocks: parts that belong together, are laid out each for itself, and are drawn as one when
 * seen from far. In order of trust: what the devices say (a site), where they stand (a device nobody located belongs
 * to the nearest that somebody did), and in a large network without either, who is connected to whom.
 */
import type { MapNode } from "./messages.ts";

export interface Topology {
  readonly nodes: readonly MapNode[];
  readonly neighbours: readonly (readonly number[])[];
}

/** Below this a network without sites or places is one picture. */
const MAX_IN_ONE_BLOCK = 400;
const ROUNDS = 8;

/** For each node the number of its block; blocks count from 0 in the order of their first node. */
export function partition(graph: Topology): Uint32Array {
  const said = graph.nodes.filter((node) => node.group !== undefined).length;
  const located = graph.nodes.filter((node) => node.place !== undefined).length;
  if (said * 2 >= graph.nodes.length && said > 0) return numbered(grown(graph, (node) => node.group));
  if (located > 0) return numbered(grown(graph, (node) => node.place && spot(node.place)));
  if (graph.nodes.length <= MAX_IN_ONE_BLOCK) return new Uint32Array(graph.nodes.length);
  return numbered(communities(graph));
}

/** Two routers in neighbouring buildings stand in one spot. */
const spot = ({ x, y }: { readonly x: number; readonly y: number }): string =>
  `${Math.round(x * 10)},${Math.round(y * 10)}`;

/** Gives every node the mark of the nearest node that has one; what is not connected to any stays together. */
function grown(graph: Topology, mark: (node: MapNode) => string | undefined): string[] {
  const marks = graph.nodes.map(mark);
  const queue = [...marks.keys()].filter((node) => marks[node] !== undefined);
  for (const node of queue) {
    for (const other of graph.neighbours[node] ?? []) {
      if (marks[other] !== undefined) continue;
      marks[other] = marks[node];
      queue.push(other);
    }
  }
  return marks.map((one) => one ?? "");
}

/**
 * Label propagation: everybody takes the label most common among their neighbours, a few rounds long. Walking in a
 * fixed order and keeping the own label on a tie makes it the same every time.
 */
function communities({ nodes, neighbours }: Topology): string[] {
  const labels = Uint32Array.from(nodes, (_, i) => i);
  // The busiest first: their labels are the ones that spread.
  const order = [...nodes.keys()].sort(
    (p, q) => (neighbours[q]?.length ?? 0) - (neighbours[p]?.length ?? 0) || p - q,
  );
  for (let round = 0; round < ROUNDS; round++) {
    let moved = false;
    for (const node of order) {
      const votes = new Map<number, number>();
      for (const other of neighbours[node] ?? []) {
        const label = labels[other] ?? 0;
        votes.set(label, (votes.get(label) ?? 0) + 1);
      }
      let best = labels[node] ?? 0;
      for (const [label, count] of votes) if (count > (votes.get(best) ?? 0)) best = label;
      if (best !== labels[node]) moved = true;
      labels[node] = best;
    }
    if (!moved) break;
  }
  return Array.from(labels, String);
}

function numbered(marks: readonly string[]): Uint32Array {
  const numbers = new Map<string, number>();
  return Uint32Array.from(marks, (mark) => {
    const number = numbers.get(mark) ?? numbers.size;
    numbers.set(mark, number);
    return number;
  });
}
