/**
 * Whether a connected network is a hierarchy (leaf and spine, a tree, core and access), and who stands on which of
 * its layers.
 *
 * Several guesses are made (what the nodes were told, distance from the busiest nodes, from the middle, from the
 * nodes at the bottom) and weighed: in a hierarchy cables join neighbouring layers, and each layer is at least as
 * wide as the one above. Rings, meshes and tori fail that under every guess, and get the other layout.
 */
import { type Adjacency, distances, largest, smallest } from "./adjacency.ts";

const MAX_LAYERS = 10;
/** How much of a picture may go against the rule before it is no hierarchy; what people said is trusted further. */
const TOLERANCE = 0.3;
const TOLERANCE_IF_TOLD = 0.75;
/** Finding the middle looks from every node at every other. */
const MAX_NODES_FOR_MIDDLE = 1500;

/** The layer of each node, 0 on top, none empty; undefined when it is no hierarchy. */
export function findLayers(graph: Adjacency): number[] | undefined {
  if (graph.nodes.length < 3) return undefined;
  const told = fromHints(graph);
  if (told !== undefined && disorder(graph, told) <= TOLERANCE_IF_TOLD) return told;
  let best: number[] | undefined;
  let least = TOLERANCE;
  for (const guess of guesses(graph)) {
    const found = disorder(graph, guess);
    if (found < least || (found === least && best === undefined)) {
      best = guess;
      least = found;
    }
  }
  return best;
}

function* guesses(graph: Adjacency): Generator<number[]> {
  const degrees = graph.neighbours.map((list) => list.length);
  const most = largest(degrees);
  const least = smallest(degrees);
  const where = (test: (node: number) => boolean) => [...degrees.keys()].filter(test);
  const down = (top: number[]) => [...distances(graph, top)];
  const up = (bottom: number[]) => {
    const height = distances(graph, bottom);
    const top = largest(height);
    return [...height].map((h) => top - h);
  };
  // Of equally good guesses the first is taken, so the best founded comes first.
  const bottom = where((node) => (graph.nodes[node]?.leaves ?? 0) > 0);
  if (bottom.length > 0) yield up(bottom);
  yield down(where((node) => (degrees[node] ?? 0) >= most * 0.7));
  yield up(where((node) => degrees[node] === least));
  if (graph.nodes.length > MAX_NODES_FOR_MIDDLE) return;
  const reach = where(() => true).map((node) => largest(distances(graph, [node])));
  const shortest = smallest(reach);
  yield down(where((node) => reach[node] === shortest));
}

/** What the nodes were told, when most were; a node that was not stands below the highest neighbour that was. */
function fromHints(graph: Adjacency): number[] | undefined {
  const hints = graph.nodes.map((node) => node.layer);
  const known = hints.filter((hint) => hint !== undefined);
  if (known.length * 2 < hints.length) return undefined;
  const lowest = largest(known);
  const filled = hints.map((hint, node) => {
    if (hint !== undefined) return hint;
    const above = (graph.neighbours[node] ?? []).flatMap((other) => hints[other] ?? []);
    return above.length > 0 ? smallest(above) + 1 : lowest + 1;
  });
  const ranks = [...new Set(filled)].sort((p, q) => p - q);
  return filled.map((layer) => ranks.indexOf(layer));
}

/**
 * The part of the cables that goes against a hierarchy: within a layer, past a layer (half as bad), or from a wider
 * layer to a narrower one below. Infinite when the shape is none at all.
 */
function disorder(graph: Adjacency, layers: readonly number[]): number {
  const sizes: number[] = [];
  for (const layer of layers) sizes[layer] = (sizes[layer] ?? 0) + 1;
  const most = Math.min(MAX_LAYERS, Math.max(3, graph.nodes.length / 2.5));
  if (sizes.length < 2 || sizes.length > most) return Number.POSITIVE_INFINITY;
  let against = 0;
  for (const [a, b] of graph.edges) {
    const [upper, lower] = [layers[a] ?? 0, layers[b] ?? 0].sort((p, q) => p - q);
    if (upper === undefined || lower === undefined) continue;
    if (upper === lower) against += 1;
    else if (lower - upper > 1) against += 0.5;
    else if ((sizes[upper] ?? 0) > (sizes[lower] ?? 0)) against += 1;
  }
  return against / graph.edges.length;
}
