/**
 * The graph that the renderer draws, and how it is updated. `device-graph.ts` and `cluster-graph.ts` compute its content
 * from the network; `updateGraph` changes only what differs, because the renderer processes each change of a graph.
 */
import { MultiDirectedGraph } from "graphology";
import type { Network } from "../network.ts";
import type { MapPosition } from "./clusters.ts";
import type { Highlights } from "./highlights.ts";
import type { Palette } from "./palette.ts";
import type { EdgeStyle, NodeStyle } from "./style.ts";

export interface NodeAttributes extends NodeStyle {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly zIndex: number;
}
interface EdgeAttributes extends EdgeStyle {
  readonly zIndex: number;
}
export type RenderGraph = MultiDirectedGraph<NodeAttributes, EdgeAttributes>;

export interface GraphInput {
  readonly network: Network;
  readonly positions: ReadonlyMap<string, MapPosition>;
  readonly highlights: Highlights;
  readonly palette: Palette;
  readonly expanded: ReadonlySet<string>;
}

/** The renderer processes the whole graph for each removal. For more removals than this, a new graph is cheaper. */
const MAX_REMOVALS = 40;

export interface GraphContent {
  readonly nodes: Map<string, NodeAttributes>;
  readonly edges: Map<string, GraphEdge>;
}

interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly attributes: EdgeAttributes;
}

export function createRenderGraph(): RenderGraph {
  return new MultiDirectedGraph<NodeAttributes, EdgeAttributes>();
}

/** Changes `graph` to the given content, or returns a new graph when that is cheaper. */
export function updateGraph(graph: RenderGraph, content: GraphContent): RenderGraph {
  const removedNodes = graph.filterNodes((node) => !content.nodes.has(node));
  const removedEdges = graph.filterEdges((edge) => !content.edges.has(edge));
  const createNew = removedNodes.length + removedEdges.length > MAX_REMOVALS || graph.order === 0;
  const target = createNew ? createRenderGraph() : graph;
  if (!createNew) {
    for (const edge of removedEdges) graph.dropEdge(edge);
    for (const node of removedNodes) graph.dropNode(node);
  }
  for (const [node, attributes] of content.nodes) {
    if (!target.hasNode(node)) target.addNode(node, attributes);
    else if (!hasAttributes(target.getNodeAttributes(node), attributes))
      target.replaceNodeAttributes(node, attributes);
  }
  for (const [edge, { from, to, attributes }] of content.edges) {
    if (target.hasEdge(edge) && target.source(edge) !== from) target.dropEdge(edge);
    if (!target.hasEdge(edge)) target.addDirectedEdgeWithKey(edge, from, to, attributes);
    else if (!hasAttributes(target.getEdgeAttributes(edge), attributes))
      target.replaceEdgeAttributes(edge, attributes);
  }
  return target;
}

function hasAttributes<T extends object>(current: T, attributes: T): boolean {
  for (const key in attributes) if (current[key] !== attributes[key]) return false;
  return true;
}
