/**
 * NetJSON NetworkGraph (https://netjson.org/rfc.html, section 4): devices and hosts are nodes, each cable is one
 * undirected link. NetJSON requires a routing protocol and a cost. This service does no routing, so the protocol is
 * `gazetteer` and every link costs 1. State is in `properties`, whose content NetJSON does not define.
 */
import { mapPaced } from "../lib/steps.ts";
import type { Cable } from "../model/cable.ts";
import { hasConflict } from "../model/conflict.ts";
import type { Device, Host } from "../model/entity.ts";
import { type PacedText, renderJsonItems } from "./chunks.ts";
import {
  type Attachment,
  assignNodeNames,
  attachmentsOf,
  cablesOf,
  type DeviceIds,
  deviceIdsOf,
  deviceName,
  hostName,
  type NodeNames,
  type TopologyGraph,
} from "./graph.ts";

export function* renderNetJson(graph: TopologyGraph): PacedText {
  const head = {
    type: "NetworkGraph",
    protocol: "gazetteer",
    version: "1",
    revision: String(graph.revision),
    metric: "hops",
    label: "Network topology",
    time: graph.topology.time,
  };
  const devices = yield* deviceIdsOf(graph);
  const names = yield* assignNodeNames(graph);
  yield JSON.stringify(head).slice(0, -1);
  yield* renderJsonItems(',\n"nodes":[', renderNodes(graph, names), "\n]");
  yield* renderJsonItems(',\n"links":[', renderLinks(graph, devices, names), "\n]}\n");
}

function* renderNodes(graph: TopologyGraph, names: NodeNames): PacedText {
  yield* mapPaced(graph.devices, (device) => JSON.stringify(deviceNode(device, names)));
  yield* mapPaced(graph.hosts, (host) => JSON.stringify(hostNode(host, names)));
}

function* renderLinks(graph: TopologyGraph, devices: DeviceIds, names: NodeNames): PacedText {
  yield* mapPaced(cablesOf(graph, devices), (cable) => JSON.stringify(cableLink(cable, names)));
  yield* mapPaced(attachmentsOf(graph, devices), (attachment) =>
    JSON.stringify(attachmentLink(attachment, names)),
  );
}

function deviceNode(device: Device, names: NodeNames): object {
  const { id, annotations, ...rest } = device;
  const address = annotations.managementAddress ?? "";
  return {
    id: names.device(id),
    label: deviceName(device),
    local_addresses: address === "" ? [] : [address],
    properties: { kind: "device", ...rest, conflict: hasConflict(device), annotations },
  };
}

function hostNode(host: Host, names: NodeNames): object {
  const { id, ipAddresses, locations: _, location: __, annotations = {}, ...rest } = host;
  return {
    id: names.host(id),
    label: hostName(host),
    local_addresses: [...new Set([...ipAddresses, host.mac])],
    properties: { kind: "host", ...rest, conflict: hasConflict(host), annotations },
  };
}

function cableLink(cable: Cable, names: NodeNames): object {
  const [first] = cable.links;
  return {
    source: names.device(cable.from.device),
    target: names.device(cable.to.device),
    cost: 1,
    properties: {
      kind: "link",
      ids: cable.links.map((link) => link.id),
      type: first.type,
      state: cable.active ? "ACTIVE" : "INACTIVE",
      bidirectional: !cable.oneWay,
      verified: cable.verified,
      conflict: cable.conflict,
      source_port: cable.from.port,
      target_port: cable.to.port,
    },
  };
}

function attachmentLink({ host, at }: Attachment, names: NodeNames): object {
  return {
    source: names.host(host.id),
    target: names.device(at.device),
    cost: 1,
    properties: { kind: "attachment", target_port: at.port },
  };
}
