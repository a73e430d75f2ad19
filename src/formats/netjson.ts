/**
 * NetJSON NetworkGraph (https://netjson.org/rfc.html, section 4): devices and hosts are nodes, each cable is one
 * undirected link. NetJSON wants a routing protocol and a cost; there is no routing here, so the protocol is this
 * service, and every link costs 1. State is in `properties`, which NetJSON leaves to the sender.
 */

import type { Cable } from "../model/cable.ts";
import { type Device, type Host, hasConflict } from "../model/entity.ts";
import { inChunks, jsonItems } from "./chunks.ts";
import {
  type Attachment,
  attachments,
  cablesOf,
  deviceName,
  hostName,
  type NodeNames,
  nodeNames,
  type TopologyGraph,
} from "./graph.ts";

export function renderNetJson(graph: TopologyGraph): Iterable<string> {
  return inChunks(document(graph));
}

function* document(graph: TopologyGraph): Generator<string> {
  const head = {
    type: "NetworkGraph",
    protocol: "gazetteer",
    version: "1",
    revision: String(graph.revision),
    metric: "hops",
    label: "Network topology",
    time: graph.topology.time,
  };
  const names = nodeNames(graph);
  yield JSON.stringify(head).slice(0, -1);
  yield* jsonItems(',\n"nodes":[', nodes(graph, names), "\n]");
  yield* jsonItems(',\n"links":[', links(graph, names), "\n]}\n");
}

function* nodes(graph: TopologyGraph, names: NodeNames): Generator<string> {
  for (const device of graph.devices) yield JSON.stringify(deviceNode(device, names));
  for (const host of graph.hosts) yield JSON.stringify(hostNode(host, names));
}

function* links(graph: TopologyGraph, names: NodeNames): Generator<string> {
  for (const edge of cablesOf(graph)) yield JSON.stringify(cable(edge, names));
  for (const attachment of attachments(graph)) yield JSON.stringify(attached(attachment, names));
}

function deviceNode(device: Device, names: NodeNames): object {
  const { id, annotations, ...facts } = device;
  const address = annotations.managementAddress ?? "";
  return {
    id: names.device(id),
    label: deviceName(device),
    local_addresses: address === "" ? [] : [address],
    properties: { kind: "device", ...facts, conflict: hasConflict(device), annotations },
  };
}

function hostNode(host: Host, names: NodeNames): object {
  const { id, ipAddresses, locations: _, location: __, annotations = {}, ...facts } = host;
  return {
    id: names.host(id),
    label: hostName(host),
    local_addresses: [...new Set([...ipAddresses, host.mac])],
    properties: { kind: "host", ...facts, conflict: hasConflict(host), annotations },
  };
}

function cable(edge: Cable, names: NodeNames): object {
  const [first] = edge.links;
  return {
    source: names.device(edge.from.device),
    target: names.device(edge.to.device),
    cost: 1,
    properties: {
      kind: "link",
      ids: edge.links.map((link) => link.id),
      type: first.type,
      state: edge.active ? "ACTIVE" : "INACTIVE",
      bidirectional: !edge.oneWay,
      verified: edge.verified,
      conflict: edge.conflict,
      source_port: edge.from.port,
      target_port: edge.to.port,
    },
  };
}

function attached({ host, at }: Attachment, names: NodeNames): object {
  return {
    source: names.host(host.id),
    target: names.device(at.device),
    cost: 1,
    properties: { kind: "attachment", target_port: at.port },
  };
}
