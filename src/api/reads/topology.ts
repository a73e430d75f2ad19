/** The representations of the topology: counts as JSON, or the graph in a graph format; all of it, or with `around`. */

import type { Format } from "../../formats/formats.ts";
import type { TopologyGraph } from "../../formats/graph.ts";
import { runToEnd } from "../../lib/steps.ts";
import type { Entities, Topology } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import type { Filter } from "../../query/filter.ts";
import { type FilteredState, filterState } from "../../query/filtered-state.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import { select } from "../../query/select.ts";
import { LinkGraph } from "../../view/link-graph.ts";
import { type NetworkState, parseStored, topologyOf } from "../../view/view.ts";
import { throwIfFault } from "../query-problem.ts";
import type { Representation } from "../representation.ts";
import { encodeChunks } from "./json-list.ts";
import type { RequestContext } from "./read-context.ts";

export function topologyRepresentation(
  { history, dialect }: RequestContext,
  query: Query,
  format: Format,
): Representation {
  const state = throwIfFault(resolveState(history, query));
  const render = format.renderTopology;
  const currentVersion = () => {
    const { versions, revision } = state;
    // The graph formats contain the revision itself, so they change with every revision.
    if (render || query.at !== undefined) return revision;
    return query.around
      ? Math.max(versions.devices, versions.links, versions.hosts, versions.graph)
      : versions.graph;
  };
  // Resolved here and not in `render`: an unknown `around` must be a 400 whatever the condition of the request.
  const filtered = throwIfFault(filterState(state, query));
  return {
    key: `${dialect.keyPrefix}topology ${format.name} ${query.fingerprint}`,
    version: currentVersion(),
    ...(query.at === undefined && !query.around && { currentVersion }),
    revision: state.revision,
    contentType: format.contentType,
    tiny: !render,
    render: () => {
      const neighbourhood = filtered.neighbourhood && neighbourhoodGraph(filtered);
      if (!render) {
        const { topology, linkGraph } = neighbourhood ?? {
          topology: runToEnd(topologyOf(state)),
          linkGraph: runToEnd(state.linkGraph()),
        };
        return { chunks: JSON.stringify(dialect.topology(topology, linkGraph)) };
      }
      return { chunks: encodeChunks(render(neighbourhood ?? wholeGraph(state))) };
    },
  };
}

function wholeGraph(state: NetworkState): TopologyGraph {
  return {
    topology: runToEnd(topologyOf(state)),
    revision: state.revision,
    devices: selectEntities(state, "devices", []),
    links: selectEntities(state, "links", []),
    hosts: selectEntities(state, "hosts", []),
  };
}

/** The graph of a neighbourhood, with its own counts. */
function neighbourhoodGraph({ state, filters }: FilteredState): TopologyGraph & { linkGraph: LinkGraph } {
  const devices = selectEntities(state, "devices", filters("devices"));
  const links = selectEntities(state, "links", filters("links"));
  const hosts = selectEntities(state, "hosts", filters("hosts"));
  const graph = runToEnd(
    LinkGraph.empty.with({
      devices: devices.map((device) => [device.id, device] as const),
      links: links.map((link) => [link.id, link] as const),
    }),
  );
  const topology: Topology = {
    time: runToEnd(state.graphTime()),
    devices: devices.length,
    links: links.length,
    clusters: runToEnd(graph.clusterCount()),
    hosts: hosts.length,
  };
  return { topology, revision: state.revision, devices, links, hosts, linkGraph: graph };
}

const selectEntities = <K extends Kind>(
  state: NetworkState,
  kind: K,
  filters: readonly Filter[],
): Entities[K][] => [...select(state, kind, filters)].map(({ text }) => parseStored(kind, text));
