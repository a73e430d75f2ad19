/**
 * Decides whether a connected graph is a hierarchy (leaf and spine, a tree, core and access) and assigns each node a
 * layer.
 *
 * The layers are those of the annotations, or else the distance from the nodes with hosts, or else the best of several
 * candidates: the distance from the nodes of highest degree, from those of lowest degree, and from the centre. In a hierarchy edges join adjacent layers, and each layer
 * is at least as wide as the one above. Rings, meshes and tori score badly with every candidate and get another layout.
 */
import { type Adjacency, maxOf, minOf, shortestDistances } from "./adjacency.ts";

const MAX_LAYERS = 10;
/**
 * The highest score of a hierarchy. Annotated layers may score worse, because a person assigned them, and the distance
 * from hosts may score worse than what is found in the links alone.
 */
const MAX_SCORE = 0.15;
const MAX_SCORE_OF_HOSTS = 0.3;
const MAX_SCORE_OF_ANNOTATIONS = 0.75;
/** Finding the centre needs the distances of all pairs. */
const MAX_NODES_FOR_CENTRE = 1500;

/** The layer of each node: 0 is the top and no layer is empty. Undefined when the graph is not a hierarchy. */
export function assignLayers(graph: Adjacency): number[] | undefined {
  if (graph.nodes.length < 3) return undefined;
  const annotated = annotatedLayers(graph);
  if (annotated !== undefined && scoreLayers(graph, annotated) <= MAX_SCORE_OF_ANNOTATIONS) return annotated;
  const fromHosts = layersFromHosts(graph);
  if (fromHosts !== undefined && scoreLayers(graph, fromHosts) <= MAX_SCORE_OF_HOSTS) return fromHosts;
  let best: number[] | undefined;
  let bestScore = MAX_SCORE;
  for (const candidate of candidateLayers(graph)) {
    const score = scoreLayers(graph, candidate);
    if (score < bestScore || (score === bestScore && best === undefined)) {
      best = candidate;
      bestScore = score;
    }
  }
  return best;
}

/** The nodes with hosts are at the bottom. Undefined when there are none. */
function layersFromHosts(graph: Adjacency): number[] | undefined {
  const bottom = [...graph.nodes.keys()].filter((node) => (graph.nodes[node]?.leaves ?? 0) > 0);
  return bottom.length > 0 ? layersFromBottom(graph, bottom) : undefined;
}

function layersFromBottom(graph: Adjacency, bottom: readonly number[]): number[] {
  const heights = shortestDistances(graph, bottom);
  const maxHeight = maxOf(heights);
  return [...heights].map((height) => maxHeight - height);
}

/** The most reliable candidate first: of equal scores the first one is used. */
function* candidateLayers(graph: Adjacency): Generator<number[]> {
  const degrees = graph.neighbours.map((list) => list.length);
  const maxDegree = maxOf(degrees);
  const minDegree = minOf(degrees);
  const nodesWhere = (test: (node: number) => boolean) => [...degrees.keys()].filter(test);
  const layersFromTop = (top: number[]) => [...shortestDistances(graph, top)];
  yield layersFromTop(nodesWhere((node) => (degrees[node] ?? 0) >= maxDegree * 0.7));
  yield layersFromBottom(
    graph,
    nodesWhere((node) => degrees[node] === minDegree),
  );
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
