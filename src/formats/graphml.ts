/**
 * GraphML (http://graphml.graphdrawing.org): a directed graph with every record. Devices and hosts are nodes, each
 * link record is an edge with its own id, each location of a host an edge from the host to the device. What is
 * known of a thing is data, typed by `<key>`; each annotation is a key of its own (`annotations.KEY`), since graph
 * tools make a column of each key.
 */
import type { Annotations, Device, Host, Link } from "../model/entity.ts";
import { type ConnectPoint, linkId, portId } from "../model/ids.ts";
import { inChunks } from "./chunks.ts";
import {
  attachments,
  createUnique,
  deviceName,
  hostName,
  type NodeNames,
  nodeNames,
  resolvedLinks,
  type TopologyGraph,
} from "./graph.ts";
import { xmlCharacters, xmlText } from "./xml.ts";

type Value = string | number | boolean;
type Facts = Record<string, Value>;
type Domain = "node" | "edge";

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
`;

export function renderGraphml(graph: TopologyGraph): Iterable<string> {
  return inChunks(document(graph));
}

function* document(graph: TopologyGraph): Generator<string> {
  const names = nodeNames(graph, xmlCharacters);
  const keys = new Keys();
  // Keys must stand before the graph: everything is looked at once for its keys, then once more for its data.
  for (const element of elements(graph, names)) keys.collect(element);
  yield HEAD;
  yield* keys.declarations();
  yield `  <key id="g0" for="graph" attr.name="revision" attr.type="long"/>\n`;
  yield `  <key id="g1" for="graph" attr.name="time" attr.type="long"/>\n`;
  yield `  <graph id="gazetteer" edgedefault="directed">\n`;
  yield `    <data key="g0">${graph.revision}</data>\n    <data key="g1">${graph.topology.time}</data>\n`;
  for (const element of elements(graph, names)) {
    yield `    <${element.domain} ${element.attributes}>\n${keys.data(element)}    </${element.domain}>\n`;
  }
  yield "  </graph>\n</graphml>\n";
}

interface Element {
  readonly domain: Domain;
  readonly attributes: string;
  readonly facts: Facts;
}

function* elements(graph: TopologyGraph, names: NodeNames): Generator<Element> {
  for (const device of graph.devices) yield node(names.device(device.id), deviceFacts(device));
  for (const host of graph.hosts) yield node(names.host(host.id), hostFacts(host));
  const unique = createUnique();
  const idOf = (src: ConnectPoint, dst: ConnectPoint) => unique(xmlCharacters(linkId(src, dst)));
  for (const link of resolvedLinks(graph)) {
    yield edge(
      idOf(link.src, link.dst),
      names.device(link.src.device),
      names.device(link.dst.device),
      linkFacts(link),
    );
  }
  for (const { host, at } of attachments(graph)) {
    const id = idOf({ device: host.id, port: "nic" }, at);
    const facts = { kind: "attachment", dstPort: at.port };
    yield edge(id, names.host(host.id), names.device(at.device), facts);
  }
}

const node = (name: string, facts: Facts): Element => ({
  domain: "node",
  attributes: `id="${xmlText(name)}"`,
  facts,
});

function edge(id: string, source: string, target: string, facts: Facts): Element {
  const attributes = `id="${xmlText(id)}" source="${xmlText(source)}" target="${xmlText(target)}"`;
  return { domain: "edge", attributes, facts };
}

function deviceFacts(device: Device): Facts {
  const { id: _, annotations, sources, ...facts } = device;
  return {
    kind: "device",
    label: deviceName(device),
    ...facts,
    sources: sources.join(" "),
    ...prefixed(annotations),
  };
}

function hostFacts(host: Host): Facts {
  const { id: _, ipAddresses, locations, location: __, annotations = {}, sources, ...facts } = host;
  return {
    kind: "host",
    label: hostName(host),
    ...facts,
    ipAddresses: ipAddresses.join(" "),
    locations: locations.map((at) => portId(at.elementId, at.port)).join(" "),
    sources: sources.join(" "),
    ...prefixed(annotations),
  };
}

function linkFacts({ id: _, src, dst, annotations = {}, sources, ...facts }: Link): Facts {
  const ports = { srcPort: src.port, dstPort: dst.port };
  return { kind: "link", ...ports, ...facts, sources: sources.join(" "), ...prefixed(annotations) };
}

const prefixed = (annotations: Annotations): Facts =>
  Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`annotations.${key}`, value]));

/** The `<key>` elements: one for each name in each domain, in the order of first use. */
class Keys {
  readonly #ids = { node: new Map<string, string>(), edge: new Map<string, string>() };
  readonly #types = new Map<string, string>();

  collect({ domain, facts }: Element): void {
    for (const [name, value] of Object.entries(facts)) {
      const ids = this.#ids[domain];
      if (ids.has(name)) continue;
      const id = `${domain.charAt(0)}${ids.size}`;
      ids.set(name, id);
      this.#types.set(id, typeOf(value));
    }
  }

  *declarations(): Generator<string> {
    for (const domain of ["node", "edge"] as const) {
      for (const [name, id] of this.#ids[domain]) {
        const attributes = `attr.name="${xmlText(name)}" attr.type="${this.#types.get(id)}"`;
        yield `  <key id="${id}" for="${domain}" ${attributes}/>\n`;
      }
    }
  }

  data({ domain, facts }: Element): string {
    let text = "";
    for (const [name, value] of Object.entries(facts)) {
      text += `      <data key="${this.#ids[domain].get(name)}">${xmlText(String(value))}</data>\n`;
    }
    return text;
  }
}

function typeOf(value: Value): string {
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "boolean" : "long";
}
