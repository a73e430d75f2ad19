/** The topology: counts as JSON, the whole graph in the graph formats; all of it, or what lies around something. */
import { renderDot } from "../../formats/dot.ts";
import type { Format } from "../../formats/format.ts";
import type { Graph } from "../../formats/graph.ts";
import { renderGraphml } from "../../formats/graphml.ts";
import { renderNetJson } from "../../formats/netjson.ts";
import { renderRfc8345 } from "../../formats/rfc8345.ts";
import { renderSvg } from "../../formats/svg.ts";
import type { Topology } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import { Graph as Connections } from "../../view/graph.ts";
import { parseStored, type Reading, topologyOf } from "../../view/view.ts";
import type { Query } from "../query/query.ts";
import { select } from "../query/select.ts";
import type { Representation } from "../represent.ts";
import { filtersOf, type ReadContext, readingOf } from "./context.ts";
import { bytesOf } from "./json.ts";

const RENDER: Readonly<Record<string, (graph: Graph) => Iterable<string>>> = {
  netjson: renderNetJson,
  rfc8345: renderRfc8345,
  graphml: renderGraphml,
  dot: renderDot,
  svg: renderSvg,
};

export function topologyRead(context: ReadContext, query: Query, format: Format): Representation {
  const reading = readingOf(context, query);
  const render = RENDER[format.name];
  const markNow = () => {
    const { marks } = reading;
    return render || query.around
      ? Math.max(marks.devices, marks.links, marks.hosts, marks.graph)
      : marks.graph;
  };
  // Resolved here and not in `make`: an unknown `around` must be refused before a condition is looked at.
  const cut = query.around ? cutGraph(reading, query) : undefined;
  return {
    key: `topology ${format.name} ${query.fingerprint}`,
    mark: markNow(),
    ...(reading === context.view && { markNow }),
    revision: reading.revision,
    contentType: format.contentType,
    tiny: !render,
    make: () => {
      if (!render) return { pieces: bytesOf([JSON.stringify(cut?.topology ?? topologyOf(reading))]) };
      return { pieces: bytesOf(render(cut ?? wholeGraph(reading))) };
    },
  };
}

function wholeGraph(reading: Reading): Graph {
  return {
    topology: topologyOf(reading),
    revision: reading.revision,
    devices: all(reading, "devices", []),
    links: all(reading, "links", []),
    hosts: all(reading, "hosts", []),
  };
}

/** What lies around something, with counts of its own. */
function cutGraph(reading: Reading, query: Query): Graph {
  const filters = filtersOf(reading, query);
  const devices = all(reading, "devices", filters);
  const links = all(reading, "links", filters);
  const hosts = all(reading, "hosts", filters);
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

const all = <K extends Kind>(reading: Reading, kind: K, filters: Parameters<typeof select>[2]) =>
  [...select(reading, kind, filters)].map(({ text }) => parseStored(kind, text));
