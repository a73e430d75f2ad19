/**
 * RFC 8345: one network of the modules `ietf-network` and `ietf-network-topology`, encoded as in RFC 7951, without
 * additions. The modules have nodes, termination points and links, but no state, so unavailable devices and inactive
 * links are listed like the others.
 *
 * Devices are nodes, each port that a link or a host uses is a termination point, each link record is a (directed)
 * link. A host is a node with one termination point and a link in each direction, as in OpenDaylight.
 * Ids are URIs (`../model/rfc8345-ids.ts`).
 */
import { mapPaced, type Paced, type PausingSteps } from "../lib/steps.ts";
import { linkId, portId } from "../model/ids.ts";
import { encodeRfc8345Id, RFC8345_NETWORK_ID } from "../model/rfc8345-ids.ts";
import { joinIntoChunks, type PacedText, renderJsonItems } from "./chunks.ts";
import { attachmentsOf, type DeviceIds, deviceIdsOf, resolvedLinks, type TopologyGraph } from "./graph.ts";

const deviceTp = (device: string, port: string): string => portId(encodeRfc8345Id("device", device), port);
const hostTp = (host: string): string => `${encodeRfc8345Id("host", host)}/nic`;

export const renderRfc8345 = (graph: TopologyGraph): Paced<string> => joinIntoChunks(renderDocument(graph));

function* renderDocument(graph: TopologyGraph): PacedText {
  const devices = yield* deviceIdsOf(graph);
  yield `{"ietf-network:networks":{"network":[{"network-id":"${RFC8345_NETWORK_ID}","network-types":{}`;
  yield* renderJsonItems(',\n"node":[', renderNodes(graph, devices), "\n]");
  yield* renderJsonItems(',\n"ietf-network-topology:link":[', renderLinks(graph, devices), "\n]}]}}\n");
}

function* renderNodes(graph: TopologyGraph, devices: DeviceIds): PacedText {
  const ports = yield* portsInUse(graph, devices);
  yield* mapPaced(graph.devices, ({ id }) =>
    renderNode(
      encodeRfc8345Id("device", id),
      [...(ports.get(id) ?? [])].map((port) => deviceTp(id, port)),
    ),
  );
  yield* mapPaced(graph.hosts, ({ id, locations }) => {
    const isAttached = locations.some(({ elementId }) => devices.has(elementId));
    return renderNode(encodeRfc8345Id("host", id), isAttached ? [hostTp(id)] : []);
  });
}

function renderNode(id: string, terminationPoints: string[]): string {
  const points = terminationPoints.map((tp) => ({ "tp-id": tp }));
  return JSON.stringify({ "node-id": id, "ietf-network-topology:termination-point": points });
}

/** The ports that links and hosts refer to, by device, so that every reference in the document resolves. */
function* portsInUse(graph: TopologyGraph, devices: DeviceIds): PausingSteps<Map<string, Set<string>>> {
  const ports = new Map<string, Set<string>>();
  const addPort = (device: string, port: string) => {
    const ofDevice = ports.get(device);
    if (ofDevice) ofDevice.add(port);
    else ports.set(device, new Set([port]));
  };
  for (const link of resolvedLinks(graph, devices)) {
    if (link === undefined) {
      yield;
      continue;
    }
    addPort(link.src.device, link.src.port);
    addPort(link.dst.device, link.dst.port);
  }
  for (const attachment of attachmentsOf(graph, devices)) {
    if (attachment === undefined) yield;
    else addPort(attachment.at.device, attachment.at.port);
  }
  return ports;
}

interface LinkEnd {
  readonly node: string;
  readonly tp: string;
}

function* renderLinks(graph: TopologyGraph, devices: DeviceIds): PacedText {
  const deviceEnd = (device: string, port: string): LinkEnd => ({
    node: encodeRfc8345Id("device", device),
    tp: deviceTp(device, port),
  });
  yield* mapPaced(resolvedLinks(graph, devices), ({ id, src, dst }) =>
    renderLink(encodeRfc8345Id("link", id), deviceEnd(src.device, src.port), deviceEnd(dst.device, dst.port)),
  );
  for (const attachment of attachmentsOf(graph, devices)) {
    if (attachment === undefined) {
      yield undefined;
      continue;
    }
    const { host, at } = attachment;
    const nic = { device: host.id, port: "nic" };
    const hostEnd = { node: encodeRfc8345Id("host", host.id), tp: hostTp(host.id) };
    yield renderLink(encodeRfc8345Id("attachment", linkId(nic, at)), hostEnd, deviceEnd(at.device, at.port));
    yield renderLink(encodeRfc8345Id("attachment", linkId(at, nic)), deviceEnd(at.device, at.port), hostEnd);
  }
}

function renderLink(id: string, source: LinkEnd, destination: LinkEnd): string {
  return JSON.stringify({
    "link-id": id,
    source: { "source-node": source.node, "source-tp": source.tp },
    destination: { "dest-node": destination.node, "dest-tp": destination.tp },
  });
}
