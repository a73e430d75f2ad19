/**
 * Reads `ietf-network:networks` (RFC 8345) and OpenDaylight's `network-topology:network-topology`, which is an early
 * draft of the same model with other names, into the same records. A malformed record is reported as a fault and left out.
 */

import { canonicalIp, canonicalMac, canonicalVlan } from "../../model/address.ts";
import { nonEmpty } from "../non-empty.ts";
import {
  type DeviceFacts,
  type HostRecord,
  type LinkFacts,
  labelPoint,
  type NodeRecord,
  type NodeRef,
  nameNode,
  type PointFacts,
  type PointRecord,
  type PointRef,
  type TopologyRecords,
} from "./topology-records.ts";
import {
  container,
  leafNumber,
  leafText,
  leafTexts,
  listEntries,
  member,
  type OnFault,
  type YangObject,
} from "./yang-json.ts";

/** The names of a model. `network` is the name of the list of networks; links have a module of their own in RFC 8345. */
const dialect = (module: string, root: string, network: string, linkModule = module) => ({
  root: `${module}:${root}`,
  network: `${module}:${network}`,
  networkId: `${module}:${network}-id`,
  networkRef: `${module}:${network}-ref`,
  node: `${module}:node`,
  point: `${linkModule}:termination-point`,
  link: `${linkModule}:link`,
});
type Dialect = Readonly<ReturnType<typeof dialect>>;

export const IETF_NETWORK = dialect("ietf-network", "networks", "network", "ietf-network-topology");
export const NETWORK_TOPOLOGY = dialect("network-topology", "network-topology", "topology");

/**
 * Maximum number of candidates for the missing part of a reference. References of the draft lack a part, and each candidate
 * for it makes one reference. Without the limit a document of a few megabytes could make many millions. A record that is
 * supported by several others of one network is not joined with them anyway (devices.ts).
 */
const MAX_CANDIDATES = 16;

/** Adds the records of one document to `records`. */
export function parseNetworks(
  document: YangObject,
  dialect: Dialect,
  records: TopologyRecords,
  onFault: OnFault,
): void {
  for (const network of listEntries(container(document, dialect.root), dialect.network, "devices", onFault)) {
    const id = leafText(network, dialect.networkId);
    if (id === undefined) onFault("devices", { field: `/${dialect.networkId}`, message: "is required" });
    else new NetworkParser(id, dialect, records, onFault).parse(network);
  }
}

class NetworkParser {
  readonly #network: string;
  readonly #dialect: Dialect;
  readonly #records: TopologyRecords;
  readonly #onFault: OnFault;
  /** The networks that references of the draft may lead to when they have no network. */
  #underlays: string[] = [];

  constructor(network: string, dialect: Dialect, records: TopologyRecords, onFault: OnFault) {
    this.#network = network;
    this.#dialect = dialect;
    this.#records = records;
    this.#onFault = onFault;
  }

  parse(network: YangObject): void {
    const underlays = listEntries(network, "underlay-topology", "links", this.#onFault);
    const names = underlays.flatMap((entry) => leafText(entry, this.#dialect.networkRef) ?? []);
    this.#underlays = [...new Set(names)].sort().slice(0, MAX_CANDIDATES);
    for (const node of listEntries(network, this.#dialect.node, "devices", this.#onFault)) this.#node(node);
    for (const link of listEntries(network, this.#dialect.link, "links", this.#onFault)) this.#link(link);
  }

  #node(object: YangObject): void {
    const node = leafText(object, "node-id");
    if (node === undefined) {
      this.#onFault("devices", { field: "/node-id", message: "is required" });
      return;
    }
    const ref = { network: this.#network, node };
    const isDraft = this.#dialect === NETWORK_TOPOLOGY;
    const tracked = isDraft ? parseHostNode(ref, object, this.#onFault) : undefined;
    const name = nameNode(this.#network, node);
    if (tracked) this.#records.hosts.push(...tracked);
    else if (!name) this.#onFault("devices", { field: "/node-id", message: "is not an id of this network" });
    else if (name.kind === "host") this.#records.hosts.push(hostOf(ref, name.id));
    else this.#records.nodes.push(this.#device(ref, object, name.id, name.alias));
  }

  #device(ref: NodeRef, object: YangObject, deviceId: string, alias: string | undefined): NodeRecord {
    const supporting = this.#references(object, "supporting-node", "node-ref").map(({ network, id }) => ({
      network,
      node: id,
    }));
    const points = new Map<string, PointRecord>();
    for (const entry of listEntries(object, this.#dialect.point, "ports", this.#onFault)) {
      const point = leafText(entry, "tp-id");
      if (point === undefined) this.#onFault("ports", { field: "/tp-id", message: "is required" });
      else points.set(point, this.#point(ref, point, entry, supporting));
    }
    return { ...ref, deviceId, alias, points, facts: readNodeFacts(object), supporting };
  }

  #point(ref: NodeRef, point: string, object: YangObject, nodesBelow: readonly NodeRef[]): PointRecord {
    // References of the draft are only ids of points. Their nodes are among those that support this node.
    const candidates = nodesBelow.slice(0, MAX_CANDIDATES);
    const supporting: PointRef[] = leafTexts(object, "tp-ref").flatMap((id) =>
      candidates.map((node) => ({ ...node, point: id })),
    );
    for (const entry of listEntries(object, "supporting-termination-point", "ports", this.#onFault)) {
      const network = leafText(entry, this.#dialect.networkRef);
      const [node, tp] = [leafText(entry, "node-ref"), leafText(entry, "tp-ref")];
      const isComplete = network !== undefined && node !== undefined && tp !== undefined;
      if (isComplete) supporting.push({ network, node, point: tp });
    }
    const label = labelPoint({ ...ref, point });
    return { ...ref, point, label, ...readPointNumber(object), facts: readPointFacts(object), supporting };
  }

  /** Returns the references to another layer. An incomplete reference is ignored, and the record is used without it. */
  #references(object: YangObject, list: string, leaf: string): { network: string; id: string }[] {
    return listEntries(object, list, "devices", this.#onFault).flatMap((entry) => {
      const network = leafText(entry, this.#dialect.networkRef);
      const id = leafText(entry, leaf);
      if (id === undefined) return [];
      return (network === undefined ? this.#underlays : [network]).map((below) => ({ network: below, id }));
    });
  }

  #link(object: YangObject): void {
    const [source, destination] = [container(object, "source"), container(object, "destination")];
    const required = {
      "/link-id": leafText(object, "link-id"),
      "/source/source-node": leafText(source, "source-node"),
      "/source/source-tp": leafText(source, "source-tp"),
      "/destination/dest-node": leafText(destination, "dest-node"),
      "/destination/dest-tp": leafText(destination, "dest-tp"),
    };
    const missing = Object.entries(required).find(([, value]) => value === undefined);
    if (missing) {
      this.#onFault("links", { field: missing[0], message: "is required" });
      return;
    }
    const network = this.#network;
    const [link = "", srcNode = "", srcPoint = "", dstNode = "", dstPoint = ""] = Object.values(required);
    const supporting = this.#references(object, "supporting-link", "link-ref");
    this.#records.links.push({
      network,
      link,
      src: { network, node: srcNode, point: srcPoint },
      dst: { network, node: dstNode, point: dstPoint },
      supporting: supporting.map((below) => ({ network: below.network, link: below.id })),
      facts: readLinkFacts(object),
    });
  }
}

/** Returns the host with the id `MAC/VLAN`. */
function hostOf(ref: NodeRef, id: string): HostRecord {
  const [mac = "", vlan = "None"] = id.split("/");
  return { ...ref, mac, vlan, ipAddresses: [], attachedTo: [] };
}

// The hosts of OpenDaylight's host tracker (in releases that still have it): nodes `host:MAC` with the addresses that were
// seen and the termination points where they were seen. There is one host per MAC and VLAN, so a node with addresses in two
// VLANs is two hosts.

const HOST_NODE = /^host:(.+)$/s;
const UNTAGGED = "0";

/** Returns undefined when the node is not a host. */
function parseHostNode(ref: NodeRef, node: YangObject, onFault: OnFault): HostRecord[] | undefined {
  const name = HOST_NODE.exec(ref.node)?.[1];
  if (name === undefined) return undefined;
  const addresses = listEntries(node, "host-tracker-service:addresses", "hosts", onFault);
  const mac =
    canonicalMac(name) ?? addresses.map((entry) => canonicalMac(leafText(entry, "mac") ?? "")).find(Boolean);
  if (mac === undefined) {
    onFault("hosts", { field: "/node-id", message: "has no MAC address" });
    return [];
  }
  const points = listEntries(node, "host-tracker-service:attachment-points", "hosts", onFault);
  const active = points.filter((entry) => entry.active !== false);
  const attachedTo = [...new Set(active.flatMap((entry) => leafText(entry, "tp-id") ?? []))];
  const ipsByVlan = new Map<string, Set<string>>();
  for (const entry of addresses) {
    const tag = leafText(entry, "vlan");
    const vlan = canonicalVlan(tag === UNTAGGED ? undefined : tag);
    if (vlan === undefined) {
      onFault("hosts", { field: "/addresses/vlan", message: "is not a VLAN" });
      continue;
    }
    const ips = ipsByVlan.get(vlan) ?? new Set();
    ipsByVlan.set(vlan, ips);
    const text = leafText(entry, "ip");
    const ip = text === undefined ? undefined : canonicalIp(text);
    if (ip !== undefined) ips.add(ip);
  }
  if (ipsByVlan.size === 0) ipsByVlan.set("None", new Set());
  return [...ipsByVlan].map(([vlan, ips]) => ({ ...ref, mac, vlan, ipAddresses: [...ips], attachedTo }));
}

// Reads the augmentations of nodes, termination points and links for Layer 2 (RFC 8944) and Layer 3 (RFC 8346) as fields of
// claims. If several layers have the same field, the upper layer is used (`devices.ts`).

const L2 = "ietf-l2-topology";
const L3 = "ietf-l3-unicast-topology";

/** Returns the annotations without the keys that have no value. */
export function annotationsOf<K extends string>(
  values: Readonly<Record<K, string | undefined>>,
): { annotations?: { [key in K]?: string } } {
  const annotations = nonEmpty(values);
  return Object.keys(annotations).length > 0 ? { annotations } : {};
}

/** Whether a record has an augmentation. Most records have none, so their attributes are not searched. */
const hasEither = (object: YangObject, attributes: string): boolean =>
  member(object, `${L2}:l2-${attributes}`) !== undefined ||
  member(object, `${L3}:l3-${attributes}`) !== undefined;

function readNodeFacts(node: YangObject): DeviceFacts {
  if (!hasEither(node, "node-attributes")) return {};
  const l2 = container(node, `${L2}:l2-node-attributes`);
  const l3 = container(node, `${L3}:l3-node-attributes`);
  const isRouter = member(node, `${L3}:l3-node-attributes`) !== undefined;
  const isBridge = member(node, `${L2}:l2-node-attributes`) !== undefined;
  return {
    ...(isRouter ? { type: "ROUTER" } : isBridge ? { type: "SWITCH" } : {}),
    ...annotationsOf({
      name: leafText(l3, "name") ?? leafText(l2, "name"),
      managementAddress: leafTexts(l2, "management-address")[0],
      managementMac: macText(l2, "management-mac"),
      routerId: leafTexts(l3, "router-id").join(" "),
    }),
  };
}

function readPointFacts(point: YangObject): PointFacts {
  if (!hasEither(point, "termination-point-attributes")) return {};
  const l2 = container(point, `${L2}:l2-termination-point-attributes`);
  const l3 = container(point, `${L3}:l3-termination-point-attributes`);
  return annotationsOf({
    portName: leafText(l2, "interface-name") ?? leafText(l3, "interface-name"),
    portMac: macText(l2, "mac-address"),
    ipAddresses: leafTexts(l3, "ip-address").join(" "),
    aggregateOf: leafTexts(l2, "member-link-tp").join(" "),
  });
}

/** A port has one number on its bridge, so a list of several numbers is ignored. */
function readPointNumber(point: YangObject): { number?: number } {
  const [number, ...others] = leafTexts(
    container(point, `${L2}:l2-termination-point-attributes`),
    "port-number",
  );
  return number !== undefined && others.length === 0 && /^\d{1,10}$/.test(number)
    ? { number: Number(number) }
    : {};
}

function readLinkFacts(link: YangObject): LinkFacts {
  if (!hasEither(link, "link-attributes")) return {};
  const l2 = container(link, `${L2}:l2-link-attributes`);
  const l3 = container(link, `${L3}:l3-link-attributes`);
  const kbps = leafNumber(l2, "rate");
  const delayMicroseconds = leafNumber(l2, "delay");
  return annotationsOf({
    name: leafText(l3, "name") ?? leafText(l2, "name"),
    bandwidthMbps: kbps === undefined ? undefined : String(kbps / 1000),
    latencyMs: delayMicroseconds === undefined ? undefined : String(delayMicroseconds / 1000),
    metric: leafText(l3, "metric1"),
  });
}

const macText = (object: YangObject, name: string): string | undefined =>
  canonicalMac(leafText(object, name) ?? "");
