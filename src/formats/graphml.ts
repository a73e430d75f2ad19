/**
 * GraphML (http://graphml.graphdrawing.org): a directed graph with every entity but ports. Devices and hosts are nodes,
 * each link is an edge with its own id, and each location of a host is an edge from the host to the device. The fields
 * are data, typed by `<key>`. Each annotation has a key of its own (`annotations.KEY`), because graph tools make a column
 * of each key.
 */
import { forEachPaced, mapPaced } from "../lib/steps.ts";
import type { Annotations, Device, Drift, Host, Link } from "../model/entity.ts";
import { type ConnectPoint, linkId, portId } from "../model/ids.ts";
import type { PacedText } from "./chunks.ts";
import {
  assignNodeNames,
  attachmentsOf,
  createReplacedNameAllocator,
  type DeviceIds,
  deviceIdsOf,
  deviceName,
  hostName,
  type NodeNames,
  resolvedLinks,
  type TopologyGraph,
} from "./graph.ts";
import { xmlCharacters, xmlText } from "./xml.ts";

type Value = string | number | boolean;
type Data = Record<string, Value>;
type Domain = "node" | "edge";

const DOCUMENT_START = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
`;

export function* renderGraphml(graph: TopologyGraph): PacedText {
  const devices = yield* deviceIdsOf(graph);
  const names = yield* assignNodeNames(graph, xmlCharacters);
  const keys = new Keys();
  // Keys are declared before the graph, so the elements are created twice: first for their keys, then for their data.
  yield* forEachPaced(elements(graph, devices, names), (element) => keys.collect(element));
  yield DOCUMENT_START;
  yield* keys.renderDeclarations();
  yield `  <key id="g0" for="graph" attr.name="revision" attr.type="long"/>\n`;
  yield `  <key id="g1" for="graph" attr.name="time" attr.type="long"/>\n`;
  yield `  <graph id="gazetteer" edgedefault="directed">\n`;
  yield `    <data key="g0">${graph.revision}</data>\n    <data key="g1">${graph.topology.time}</data>\n`;
  yield* mapPaced(
    elements(graph, devices, names),
    (element) =>
      `    <${element.domain} ${element.attributes}>\n${keys.renderData(element)}    </${element.domain}>\n`,
  );
  yield "  </graph>\n</graphml>\n";
}

interface Element {
  readonly domain: Domain;
  readonly attributes: string;
  readonly data: Data;
}

function* elements(
  graph: TopologyGraph,
  devices: DeviceIds,
  names: NodeNames,
): Generator<Element | undefined, void, void> {
  yield* mapPaced(graph.devices, (device) => node(names.device(device.id), deviceData(device)));
  yield* mapPaced(graph.hosts, (host) => node(names.host(host.id), hostData(host)));
  const allocate = createReplacedNameAllocator();
  const edgeId = (src: ConnectPoint, dst: ConnectPoint) => allocate(xmlCharacters(linkId(src, dst)));
  yield* mapPaced(resolvedLinks(graph, devices), (link) => {
    const [source, target] = [names.device(link.src.device), names.device(link.dst.device)];
    return edge(edgeId(link.src, link.dst), source, target, linkData(link));
  });
  yield* mapPaced(attachmentsOf(graph, devices), ({ host, at }) => {
    const id = edgeId({ device: host.id, port: "nic" }, at);
    const data = { kind: "attachment", dstPort: at.port };
    return edge(id, names.host(host.id), names.device(at.device), data);
  });
}

const node = (name: string, data: Data): Element => ({
  domain: "node",
  attributes: `id="${xmlText(name)}"`,
  data,
});

function edge(id: string, source: string, target: string, data: Data): Element {
  const attributes = `id="${xmlText(id)}" source="${xmlText(source)}" target="${xmlText(target)}"`;
  return { domain: "edge", attributes, data };
}

function deviceData(device: Device): Data {
  const { id: _, annotations, sources, aliases, drift, ...rest } = device;
  return {
    kind: "device",
    label: deviceName(device),
    ...rest,
    sources: sources.join(" "),
    ...(aliases && { aliases: aliases.join(" ") }),
    ...driftData(drift),
    ...prefixKeys(annotations),
  };
}

const joinLocations = (locations: Host["locations"]): string =>
  locations.map((at) => portId(at.elementId, at.port)).join(" ");

function hostData(host: Host): Data {
  const { id: _, ipAddresses, locations, auxLocations, location: __, ...others } = host;
  const { annotations = {}, sources, drift, ...rest } = others;
  return {
    kind: "host",
    label: hostName(host),
    ...rest,
    ipAddresses: ipAddresses.join(" "),
    locations: joinLocations(locations),
    ...(auxLocations && { auxLocations: joinLocations(auxLocations) }),
    sources: sources.join(" "),
    ...driftData(drift),
    ...prefixKeys(annotations),
  };
}

function linkData({ id: _, src, dst, annotations = {}, sources, drift, ...rest }: Link): Data {
  return {
    kind: "link",
    srcPort: src.port,
    dstPort: dst.port,
    ...rest,
    sources: sources.join(" "),
    ...driftData(drift),
    ...prefixKeys(annotations),
  };
}

const driftData = (drift: Drift | undefined): Data =>
  drift ? { drift: drift.state, driftSince: drift.since } : {};

const prefixKeys = (annotations: Annotations): Data =>
  Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`annotations.${key}`, value]));

/** The `<key>` elements: one for each name in each domain, in order of first use. */
class Keys {
  readonly #ids = { node: new Map<string, string>(), edge: new Map<string, string>() };
  readonly #types = new Map<string, string>();

  collect({ domain, data }: Element): void {
    for (const [name, value] of Object.entries(data)) {
      const ids = this.#ids[domain];
      if (ids.has(name)) continue;
      const id = `${domain.charAt(0)}${ids.size}`;
      ids.set(name, id);
      this.#types.set(id, attributeType(value));
    }
  }

  *renderDeclarations(): Generator<string> {
    for (const domain of ["node", "edge"] as const) {
      for (const [name, id] of this.#ids[domain]) {
        const attributes = `attr.name="${xmlText(name)}" attr.type="${this.#types.get(id)}"`;
        yield `  <key id="${id}" for="${domain}" ${attributes}/>\n`;
      }
    }
  }

  renderData({ domain, data }: Element): string {
    let text = "";
    for (const [name, value] of Object.entries(data)) {
      text += `      <data key="${this.#ids[domain].get(name)}">${xmlText(String(value))}</data>\n`;
    }
    return text;
  }
}

function attributeType(value: Value): string {
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "boolean" : "long";
}
