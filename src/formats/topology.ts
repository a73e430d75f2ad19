/** The renderer of each topology format. All take one graph and yield text in chunks; none changes the graph. */
import { renderDot } from "./dot.ts";
import type { FormatName } from "./formats.ts";
import type { TopologyGraph } from "./graph.ts";
import { renderGraphml } from "./graphml.ts";
import { renderNetJson } from "./netjson.ts";
import { renderRfc8345 } from "./rfc8345.ts";
import { renderSvg } from "./svg.ts";

export type TopologyFormat = Extract<FormatName, "netjson" | "rfc8345" | "graphml" | "dot" | "svg">;

export const TOPOLOGY_RENDERERS: Readonly<
  Record<TopologyFormat, (graph: TopologyGraph) => Iterable<string>>
> = {
  netjson: renderNetJson,
  rfc8345: renderRfc8345,
  graphml: renderGraphml,
  dot: renderDot,
  svg: renderSvg,
};
