/** The topology: counts as JSON, the whole graph in the graph formats; all of it, or what lies around something. */
import type { Format } from "../../formats/format.ts";
import type { TopologyGraph } from "../../formats/graph.ts";
import { TOPOLOGY_RENDERERS } from "../../formats/topology.ts";
import type { Topology } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import type { Query } from "../../query/parse-query.ts";
import { select } from "../../query/select.ts";
import { LinkGraph as Connections } from "../../view/link-graph.ts";
import { type NetworkState, parseStored, topologyOf } from "../../view/view.ts";
import type { Representation } from "../body-renderer.ts";
import { bytesOf } from "./json-list.ts";
import { type FilteredState, filteredStateOf, type ReadContext, stateFor } from "./read-context.ts";

const RENDER: Readonly<Record<string, (graph: TopologyGraph) => Iterable<string>>> = TOPOLOGY_RENDERERS;

export function topologyRead(context: ReadContext, query: Query, format: Format): Representation {
  const reading = stateFor(context, query);
  const render = RENDER[format.name];
  const markNow = () => {
    const { marks, revision } = reading;
    // The graph formats tell the revision they are of.
    if (render) return revision;
    return query.around ? Math.max(marks.devices, marks.links, marks.hosts, marks.graph) : marks.graph;
  };
  // Resolved here and not in `make`: an unknown `around` must be refused before a condition is looked at.
  const sight = filteredStateOf(reading, query);
  return {
    key: `topology ${format.name} ${query.fingerprint}`,
    version: markNow(),
    ...(query.at === undefined && !query.around && { currentVersion: markNow }),
    revision: reading.revision,
    contentType: format.contentType,
    tiny: !render,
    make: () => {
      const cut = sight.within && cutGraph(sight);
      if (!render) return { pieces: JSON.stringify(cut?.topology ?? topologyOf(reading)) };
      return { pieces: bytesOf(render(cut ?? wholeGraph(reading))) };
    },
  };
}

function wholeGraph(reading: NetworkState): TopologyGraph {
  return {
    topology: topologyOf(reading),
    revision: reading.revision,
    devices: all(reading, "devices", []),
    links: all(reading, "links", []),
    hosts: all(reading, "hosts", []),
  };
}

/** What lies around something, with counts of its own. */
function cutGraph({ reading, filters }: FilteredState): TopologyGraph {
  const devices = all(reading, "devices", filters("devices"));
  const links = all(reading, "links", filters("links"));
  const hosts = all(reading, "hosts", filters("hosts"));
  const connections = new Connections();
  for (const device of devices) connections.setDevice(device.id, device);
  for (const link of links) connections.setLink(link.id, link);
  const topology: Topology = {
    time: reading.graphTime,
    devices: devices.length,
    links: links.length,
    clusters: connections.clusters().length,
    hosts: hosts.length,
  };
  return { topology, revision: reading.revision, devices, links, hosts };
}

const all = <K extends Kind>(reading: NetworkState, kind: K, filters: Parameters<typeof select>[2]) =>
  [...select(reading, kind, filters)].map(({ text }) => parseStored(kind, text));
