/**
 * RFC 8345: one network of `ietf-network` and `ietf-network-topology`, encoded as RFC 7951 says, and nothing that
 * is not in those two modules. They know nodes, termination points and links and have no place for a state, so
 * what is down is listed like the rest.
 *
 * Devices are nodes, each port that a link or a host uses is a termination point, each link record is a (directed)
 * link. A host is a node with one termination point, joined by a link each way, as OpenDaylight does it.
 *
 * All ids are `inet:uri`: ASCII, normalised. An id that is such a URI stays as it is; any other becomes
 * `gazetteer:<kind>/<percent-encoded>`. No two ids become one: that scheme itself is always encoded anew.
 */
import { linkId, portId } from "../model/ids.ts";
import { inChunks, jsonItems } from "./chunks.ts";
import { attachments, resolvedLinks, type TopologyGraph } from "./graph.ts";

export const RFC8345_NETWORK_ID = "gazetteer:network";

/** RFC 3986 without authority and percent-encoding, where normalisation would have more to say than the characters. */
const PLAIN_URI =
  /^[a-z][a-z0-9+.-]*:(?!\/\/)[\w\-.~!$&'()*+,;=:@/]+(?:\?[\w\-.~!$&'()*+,;=:@/?]*)?(?:#[\w\-.~!$&'()*+,;=:@/?]*)?$/;

/** The kinds whose ids the network chose, and may have chosen well. */
const OWN_IDS: readonly string[] = ["device", "link"];

function uri(kind: "device" | "link" | "host" | "attachment", id: string): string {
  if (OWN_IDS.includes(kind) && PLAIN_URI.test(id) && !id.startsWith("gazetteer:")) return id;
  const encoded = encodeURIComponent(id.toWellFormed()).replaceAll("%3A", ":").replaceAll("%2F", "/");
  return `gazetteer:${kind}/${encoded}`;
}

const deviceTp = (device: string, port: string): string => portId(uri("device", device), port);
const hostTp = (host: string): string => `${uri("host", host)}/nic`;

export function renderRfc8345(graph: TopologyGraph): Iterable<string> {
  return inChunks(document(graph));
}

function* document(graph: TopologyGraph): Generator<string> {
  yield `{"ietf-network:networks":{"network":[{"network-id":"${RFC8345_NETWORK_ID}","network-types":{}`;
  yield* jsonItems(',\n"node":[', nodes(graph), "\n]");
  yield* jsonItems(',\n"ietf-network-topology:link":[', links(graph), "\n]}]}}\n");
}

function* nodes(graph: TopologyGraph): Generator<string> {
  const ports = portsInUse(graph);
  const attached = new Set(attachments(graph).map(({ host }) => host.id));
  for (const { id } of graph.devices) {
    yield node(
      uri("device", id),
      [...(ports.get(id) ?? [])].map((port) => deviceTp(id, port)),
    );
  }
  for (const { id } of graph.hosts) yield node(uri("host", id), attached.has(id) ? [hostTp(id)] : []);
}

function node(id: string, terminationPoints: string[]): string {
  const points = terminationPoints.map((tp) => ({ "tp-id": tp }));
  return JSON.stringify({ "node-id": id, "ietf-network-topology:termination-point": points });
}

/** What the links and hosts refer to: every reference in the document resolves. */
function portsInUse(graph: TopologyGraph): Map<string, Set<string>> {
  const ports = new Map<string, Set<string>>();
  const use = (device: string, port: string) => {
    const known = ports.get(device);
    if (known) known.add(port);
    else ports.set(device, new Set([port]));
  };
  for (const { src, dst } of resolvedLinks(graph)) {
    use(src.device, src.port);
    use(dst.device, dst.port);
  }
  for (const { at } of attachments(graph)) use(at.device, at.port);
  return ports;
}

interface End {
  readonly node: string;
  readonly tp: string;
}

function* links(graph: TopologyGraph): Generator<string> {
  const deviceEnd = (device: string, port: string): End => ({
    node: uri("device", device),
    tp: deviceTp(device, port),
  });
  for (const { id, src, dst } of resolvedLinks(graph)) {
    yield link(uri("link", id), deviceEnd(src.device, src.port), deviceEnd(dst.device, dst.port));
  }
  for (const { host, at } of attachments(graph)) {
    const nic = { device: host.id, port: "nic" };
    const hostEnd = { node: uri("host", host.id), tp: hostTp(host.id) };
    yield link(uri("attachment", linkId(nic, at)), hostEnd, deviceEnd(at.device, at.port));
    yield link(uri("attachment", linkId(at, nic)), deviceEnd(at.device, at.port), hostEnd);
  }
}

function link(id: string, source: End, destination: End): string {
  return JSON.stringify({
    "link-id": id,
    source: { "source-node": source.node, "source-tp": source.tp },
    destination: { "dest-node": destination.node, "dest-tp": destination.tp },
  });
}
