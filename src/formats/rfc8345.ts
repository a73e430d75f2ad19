/**
 * RFC 8345: one network of the modules `ietf-network` and `ietf-network-topology`, encoded as in RFC 7951, without
 * additions. The modules have nodes, termination points and links, but no state, so unavailable devices and inactive
 * links are listed like the others.
 *
 * Devices are nodes, each port that a link or a host uses is a termination point, and each link is a directed link. A host
 * is a node with one termination point and a link in each direction, as in OpenDaylight.
 * Ids are URIs (`../model/rfc8345-ids.ts`).
 */
import { forEachPaced, mapPaced, type PausingSteps } from "../lib/steps.ts";
import { type ConnectPoint, linkId, portId } from "../model/ids.ts";
import { encodeRfc8345Id, percentEncode, prefixed, RFC8345_NETWORK_ID } from "../model/rfc8345-ids.ts";
import { type PacedText, renderJsonItems } from "./chunks.ts";
import { attachmentsOf, resolvedLinks, type TopologyGraph } from "./graph.ts";

/** A device as an end of links. It is created once, because it is an end of the links of all its hosts. */
interface DeviceNode {
  readonly uri: string;
  readonly percentEncoded: string;
  /** The ports that links and hosts refer to, so that every reference in the document resolves. */
  readonly ports: Set<string>;
}
type DeviceNodes = Map<string, DeviceNode>;

interface LinkEnd {
  readonly node: string;
  readonly tp: string;
}

const endOf = ({ uri }: DeviceNode, port: string): LinkEnd => ({ node: uri, tp: portId(uri, port) });

export function* renderRfc8345(graph: TopologyGraph): PacedText {
  const devices = yield* findNodes(graph);
  yield `{"ietf-network:networks":{"network":[{"network-id":"${RFC8345_NETWORK_ID}","network-types":{}`;
  yield* renderJsonItems(',\n"node":[', renderNodes(graph, devices), "\n]");
  yield* renderJsonItems(',\n"ietf-network-topology:link":[', renderLinks(graph, devices), "\n]}]}}\n");
}

function* findNodes(graph: TopologyGraph): PausingSteps<DeviceNodes> {
  const devices: DeviceNodes = new Map();
  yield* forEachPaced(graph.devices, ({ id }) => {
    const uri = encodeRfc8345Id("device", id);
    devices.set(id, { uri, percentEncoded: percentEncode(id), ports: new Set() });
  });
  const addPort = ({ device, port }: ConnectPoint) => devices.get(device)?.ports.add(port);
  yield* forEachPaced(resolvedLinks(graph, devices), ({ src, dst }) => {
    addPort(src);
    addPort(dst);
  });
  yield* forEachPaced(attachmentsOf(graph, devices), ({ at }) => addPort(at));
  return devices;
}

function* renderNodes(graph: TopologyGraph, devices: DeviceNodes): PacedText {
  for (const device of graph.devices) {
    const node = device && devices.get(device.id);
    yield node &&
      renderNode(
        node.uri,
        [...node.ports].map((port) => portId(node.uri, port)),
      );
  }
  yield* mapPaced(graph.hosts, ({ id, locations }) => {
    const isAttached = locations.some(({ elementId }) => devices.has(elementId));
    const uri = encodeRfc8345Id("host", id);
    return renderNode(uri, isAttached ? [nicOf(uri)] : []);
  });
}

const nicOf = (host: string): string => `${host}/nic`;

/** Renders text, because a million objects for hosts would have to be garbage-collected. Encoded ids need no escaping. */
function renderNode(id: string, terminationPoints: readonly string[]): string {
  const points = terminationPoints.map((tp) => `{"tp-id":"${tp}"}`).join(",");
  return `{"node-id":"${id}","ietf-network-topology:termination-point":[${points}]}`;
}

function* renderLinks(graph: TopologyGraph, devices: DeviceNodes): PacedText {
  yield* mapPaced(resolvedLinks(graph, devices), ({ id, src, dst }) => {
    const [from, to] = [devices.get(src.device), devices.get(dst.device)];
    return from && to && renderLink(encodeRfc8345Id("link", id), endOf(from, src.port), endOf(to, dst.port));
  });
  for (const attachment of attachmentsOf(graph, devices)) {
    const device = attachment && devices.get(attachment.at.device);
    if (!device) {
      yield undefined;
      continue;
    }
    const { host, at } = attachment;
    const encoded = percentEncode(host.id);
    const uri = prefixed("host", encoded);
    const [hostEnd, deviceEnd] = [{ node: uri, tp: nicOf(uri) }, endOf(device, at.port)];
    const nic = { device: encoded, port: "nic" };
    const port = { device: device.percentEncoded, port: at.port };
    yield renderLink(prefixed("attachment", linkId(nic, port)), hostEnd, deviceEnd);
    yield renderLink(prefixed("attachment", linkId(port, nic)), deviceEnd, hostEnd);
  }
}

const renderLink = (id: string, source: LinkEnd, destination: LinkEnd): string =>
  `{"link-id":"${id}","source":{"source-node":"${source.node}","source-tp":"${source.tp}"},` +
  `"destination":{"dest-node":"${destination.node}","dest-tp":"${destination.tp}"}}`;
