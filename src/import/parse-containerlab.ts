/**
 * Reads a topology file of containerlab (https://containerlab.dev/manual/topo-def-file): each node is a device, each
 * link with two nodes is a cable between the named interfaces. Settings of the deployment (mounts, commands, environment) do
 * not describe the network and are not read. Values of a node come from the node, its group, its kind or the defaults, in
 * this order.
 */
import { isRecord } from "../lib/is-record.ts";
import type { DEVICE_TYPES } from "../model/entity.ts";
import {
  type GraphEdge,
  type GraphNode,
  type GraphResult,
  type JsonObject,
  type Note,
  textOf,
} from "./import-graph.ts";

type DeviceType = (typeof DEVICE_TYPES)[number];

/** Device types by a pattern of the kind. A kind that matches no pattern gets the default type. */
const TYPES: readonly (readonly [pattern: RegExp, type: DeviceType])[] = [
  [/^(linux|host|ext-container|k8s-kind|generic_vm)$/, "SERVER"],
  [/vsrx|paloalto|fortinet|checkpoint|ftdv|asav|sophos/, "FIREWALL"],
  [/keysight|ixia|cisco_sdwan|f5_/, "OTHER"],
  [
    /sros|xrd|xrv|csr|c8000|iol|vmx|vjunosrouter|vjunosevolved|crpd|ros$|vyos|frr|openbsd|freebsd|cisco_8000/,
    "ROUTER",
  ],
];

/** Ends of links that are not nodes but belong to the machine that runs the lab. */
const OUTSIDE = ["host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy"];

export function parseContainerlab(document: unknown): GraphResult {
  const topology = isRecord(document) ? document.topology : undefined;
  if (!isRecord(document) || !isRecord(topology)) {
    return { ok: false, fault: { message: "is not a containerlab file: it has no topology" } };
  }
  if (!isRecord(topology.nodes)) {
    return {
      ok: false,
      fault: { at: ["topology", "nodes"], message: "topology.nodes: must be a map of nodes" },
    };
  }
  const { links = [] } = topology;
  if (links !== null && !Array.isArray(links)) {
    return { ok: false, fault: { at: ["topology", "links"], message: "topology.links: must be a list" } };
  }
  const notes: Note[] = [];
  const nodes = Object.entries(topology.nodes).map(([name, node]) =>
    parseNode(name, node, topology, document),
  );
  const edges = (links ?? []).flatMap((link: unknown, index) => parseLink(link, index, topology, notes));
  return { ok: true, graph: { nodes, edges, notes, ownExport: false } };
}

function parseNode(name: string, given: unknown, topology: JsonObject, document: JsonObject): GraphNode {
  const node = isRecord(given) ? given : {};
  const defaults = objectAt(topology, "defaults");
  const group = textOf(node.group) ?? textOf(defaults.group);
  const groups = objectAt(objectAt(topology, "groups"), group);
  const kind = textOf(node.kind) ?? textOf(groups.kind) ?? textOf(defaults.kind);
  const layers = [node, groups, objectAt(objectAt(topology, "kinds"), kind), defaults];
  const value = (...fields: string[]) =>
    layers.flatMap((layer) => fields.map((field) => textOf(layer[field]))).find((text) => text !== undefined);
  const type = TYPES.find(([pattern]) => pattern.test(kind ?? ""))?.[1];
  const fullName = containerName(name, document);
  return {
    at: ["topology", "nodes", name],
    id: name,
    properties: {
      ...(type && { type }),
      hw: value("type"),
      sw: value("image"),
    },
    annotations: {
      ...Object.fromEntries(layers.toReversed().flatMap((layer) => Object.entries(labelsOf(layer)))),
      name,
      kind,
      group,
      lab: textOf(document.name),
      managementAddress: value("mgmt-ipv4", "mgmt_ipv4"),
      managementAddress6: value("mgmt-ipv6", "mgmt_ipv6"),
    },
    ...(fullName !== undefined && { aliases: [fullName] }),
  };
}

/** The name of the container, which tools that read containerlab's inventory use. */
function containerName(node: string, { name, prefix }: JsonObject): string | undefined {
  const lab = textOf(name);
  if (lab === undefined || prefix === "") return undefined;
  const full = prefix === "__lab-name" ? `${lab}-${node}` : `${textOf(prefix) ?? "clab"}-${lab}-${node}`;
  return /\s/.test(full) || full.length > 255 ? undefined : full;
}

interface Endpoint {
  readonly node: string;
  readonly port: string;
}

function parseLink(link: unknown, index: number, topology: JsonObject, notes: Note[]): GraphEdge[] {
  const at = ["topology", "links", index];
  const leaveOut = (reason: string): [] => {
    notes.push({ at, message: `left out topology.links[${index}]: ${reason}` });
    return [];
  };
  if (!isRecord(link)) return leaveOut("it is no object");
  if (!Array.isArray(link.endpoints)) {
    const type = textOf(link.type);
    return leaveOut(`${type === undefined ? "it" : `a link of type ${type}`} has no two endpoints`);
  }
  const [first, second, ...more] = link.endpoints.map(parseEndpoint);
  if (!first || !second || more.length > 0) return leaveOut('it wants two endpoints such as "node1:eth1"');
  const nodes = objectAt(topology, "nodes");
  const outside = [first, second].find(({ node }) => OUTSIDE.includes(node) && !Object.hasOwn(nodes, node));
  if (outside) return leaveOut(`${outside.node}:${outside.port} is outside of the lab`);
  const mtu = textOf(link.mtu);
  return [
    {
      at,
      source: first.node,
      target: second.node,
      sourcePort: first.port,
      targetPort: second.port,
      direction: "both",
      properties: {},
      annotations: { ...labelsOf(link), ...(mtu !== undefined && { mtu }) },
    },
  ];
}

/** Parses `node:interface`, or an object with both. */
function parseEndpoint(endpoint: unknown): Endpoint | undefined {
  if (isRecord(endpoint)) {
    const [node, port] = [textOf(endpoint.node), textOf(endpoint.interface)];
    return node && port ? { node, port } : undefined;
  }
  const [, node, port] = /^([^:]+):(.+)$/s.exec(textOf(endpoint) ?? "") ?? [];
  return node !== undefined && port !== undefined ? { node, port } : undefined;
}

/** The labels with scalar values. With YAML aliases, a small file can have a list that is extremely large as text. */
const labelsOf = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(objectAt(object, "labels")).filter(([, value]) => textOf(value) !== undefined),
  );

function objectAt(object: JsonObject, field: string | undefined): JsonObject {
  const value = field !== undefined && Object.hasOwn(object, field) ? object[field] : undefined;
  return isRecord(value) ? value : {};
}
