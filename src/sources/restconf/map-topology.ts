/**
 * Maps the records of all layers and modules to claims. The mapping is pure and does not depend on the order of the
 * records, because a server may return its lists in any order.
 *
 * Two links are the same link when they have the same ends, or when one supports the other alone and both connect the same
 * two devices. Any other supported link is a path through the layer below and is VIRTUAL.
 */
import { compareTexts } from "../../lib/sorted.ts";
import { CLAIM_LIMITS, type ClaimLists, type HostClaim, type LinkClaim } from "../../model/claim.ts";
import { hostId, linkId } from "../../model/ids.ts";
import { DeviceTable, type MappedPort, mergeFacts } from "./devices.ts";
import {
  type HostRecord,
  type LinkFacts,
  type LinkRecord,
  labelPoint,
  type NodeRecord,
  type NodeRef,
  type PointRecord,
  type PointRef,
  refKey,
  type TopologyRecords,
} from "./topology-records.ts";
import type { OnFault } from "./yang-json.ts";

interface ResolvedLink {
  readonly record: LinkRecord;
  readonly src: PointRecord;
  readonly dst: PointRecord;
}

export function mapTopology(
  records: TopologyRecords,
  inventory: readonly NodeRecord[],
  onFault: OnFault,
): ClaimLists {
  const index = new TopologyIndex(records);
  // Links are resolved before the ports get their numbers, because links may refer to further ports.
  const resolved = resolveLinks(records.links, index, onFault);
  const table = new DeviceTable(records.nodes, inventory);
  const { devices, ports } = table;
  const hosts = mapHosts(records.hosts, index, table, onFault);
  return { devices, ports, links: mapLinks(resolved, table), hosts };
}

/** Returns the links between devices. The links of hosts are added to the index. */
function resolveLinks(links: readonly LinkRecord[], index: TopologyIndex, onFault: OnFault): ResolvedLink[] {
  const resolved: ResolvedLink[] = [];
  for (const record of links) {
    const [src, dst] = [index.endOf(record.src), index.endOf(record.dst)];
    if (!src || !dst) {
      const field = src ? "/destination/dest-node" : "/source/source-node";
      onFault("links", { field, message: "is not a node of its network" });
    } else if (src.kind === "port" && dst.kind === "port") {
      resolved.push({ record, src: src.point, dst: dst.point });
    } else if (src.kind === "host" && dst.kind === "port") src.attachedTo.add(dst.point);
    else if (src.kind === "port" && dst.kind === "host") dst.attachedTo.add(src.point);
  }
  return resolved;
}

interface MappedLink {
  readonly record: LinkRecord;
  readonly src: MappedPort;
  readonly dst: MappedPort;
}

function mapLinks(links: readonly ResolvedLink[], table: DeviceTable): LinkClaim[] {
  const mapped = new Map<string, MappedLink>();
  for (const { record, src, dst } of links) {
    const [from, to] = [table.portOf(src), table.portOf(dst)];
    if (from && to) mapped.set(refKey(record.network, record.link), { record, src: from, dst: to });
  }
  const facts = new Map<string, { at: MappedLink; layers: LinkFacts[] }>();
  const underlays = new Map<MappedLink, MappedLink>();
  for (const key of [...mapped.keys()].sort()) {
    const link = mapped.get(key);
    if (!link || isInside(link)) continue;
    const at = underlayOf(link, mapped, underlays);
    const id = linkId(at.src, at.dst);
    const isVirtual = at === link && supportedBy(link, mapped).length > 0;
    const own: LinkFacts = isVirtual ? { type: "VIRTUAL", ...link.record.facts } : link.record.facts;
    const known = facts.get(id);
    if (!known) facts.set(id, { at, layers: [own] });
    else if (at === link) known.layers.push(own);
    else known.layers.unshift(own);
  }
  return [...facts.values()].map(({ at, layers }) => ({
    src: { device: at.src.device, port: at.src.port },
    dst: { device: at.dst.device, port: at.dst.port },
    ...mergeFacts(layers),
    ...stateOf(at),
  }));
}

/** Whether both ends of the link are the same port, seen in two layers. */
const isInside = ({ src, dst }: MappedLink): boolean => src.device === dst.device && src.port === dst.port;

const supportedBy = ({ record }: MappedLink, links: ReadonlyMap<string, MappedLink>): MappedLink[] =>
  record.supporting.flatMap(({ network, link }) => links.get(refKey(network, link)) ?? []);

/**
 * Returns the link itself, or the link of the lowest layer that is the same link. `found` stores the result for every link
 * on the way, so that a chain of any length is walked once.
 */
function underlayOf(
  link: MappedLink,
  links: ReadonlyMap<string, MappedLink>,
  found: Map<MappedLink, MappedLink>,
): MappedLink {
  const visited = new Set<MappedLink>();
  let at = link;
  for (;;) {
    visited.add(at);
    const [below, ...others] = supportedBy(at, links);
    if (!below || others.length > 0 || visited.has(below)) break;
    if (below.src.device !== at.src.device || below.dst.device !== at.dst.device) break;
    at = found.get(below) ?? below;
    if (at !== below) break;
  }
  for (const other of visited) found.set(other, at);
  return at;
}

/** Derives the state of a link from its ports, because the modules have no states of links. Unknown when theirs is. */
function stateOf({ src, dst }: MappedLink): Pick<LinkClaim, "state"> {
  if (src.isEnabled === false || dst.isEnabled === false) return { state: "INACTIVE" };
  return src.isEnabled && dst.isEnabled ? { state: "ACTIVE" } : {};
}

function mapHosts(
  hosts: readonly HostRecord[],
  index: TopologyIndex,
  table: DeviceTable,
  onFault: OnFault,
): HostClaim[] {
  const claims = new Map<string, HostClaim & { ipAddresses: string[] }>();
  for (const host of hosts) {
    const locations = locationsOf(host, index, table);
    if (locations.length === 0) {
      onFault("hosts", { field: "/locations", message: "is attached to no known port" });
      continue;
    }
    const id = hostId(host.mac, host.vlan);
    const claim = claims.get(id) ?? { mac: host.mac, vlan: host.vlan, ipAddresses: [], locations: [] };
    claims.set(id, claim);
    addTo(claim, host, locations);
  }
  return [...claims.values()];
}

/** Returns the ports of the host. If there are too many, one more than allowed is returned, so that the sink refuses it. */
function locationsOf(host: HostRecord, index: TopologyIndex, table: DeviceTable): MappedPort[] {
  const named = host.attachedTo.values().map((point) => index.pointOf(host.network, point));
  const linked = index.hostNodeOf(host)?.attachedTo ?? [];
  const ports = new Set<MappedPort>();
  for (const points of [named, linked]) {
    for (const point of points) {
      const port = point && table.portOf(point);
      if (port) ports.add(port);
      if (ports.size > CLAIM_LIMITS.locations) return [...ports];
    }
  }
  return [...ports];
}

function addTo(
  claim: HostClaim & { ipAddresses: string[] },
  { ipAddresses }: HostRecord,
  locations: readonly MappedPort[],
): void {
  for (const ip of ipAddresses) {
    if (claim.ipAddresses.length > CLAIM_LIMITS.addresses) break;
    if (!claim.ipAddresses.includes(ip)) claim.ipAddresses.push(ip);
  }
  for (const { device, port } of locations) {
    if (claim.locations.length > CLAIM_LIMITS.locations) break;
    const known = claim.locations.some((at) => at.elementId === device && at.port === port);
    if (!known) claim.locations.push({ elementId: device, port });
  }
  // Ports are compared as text too, because `local` is not a number.
  claim.locations.sort(
    (a, b) =>
      compareTexts(a.elementId, b.elementId) ||
      Number(a.port) - Number(b.port) ||
      compareTexts(`${a.port}`, `${b.port}`),
  );
}

// Finds the node and the termination point at an end of a link. A network may have hundreds of thousands of links, so the
// ends are looked up by the ids themselves, without building keys of several ids.

/** The node of one or more hosts, and the ports that links connect it to. */
interface HostNode {
  readonly kind: "host";
  readonly attachedTo: Set<PointRecord>;
}

type IndexedNode = HostNode | { readonly kind: "device"; readonly record: NodeRecord };
type LinkEnd = HostNode | { readonly kind: "port"; readonly point: PointRecord };

class TopologyIndex {
  readonly #networks = new Map<string, Map<string, IndexedNode>>();

  constructor({ nodes, hosts }: TopologyRecords) {
    for (const record of nodes) this.#add(record, { kind: "device", record });
    for (const host of hosts)
      if (!this.hostNodeOf(host)) this.#add(host, { kind: "host", attachedTo: new Set() });
  }

  hostNodeOf(host: HostRecord): HostNode | undefined {
    const node = this.#find(host);
    return node?.kind === "host" ? node : undefined;
  }

  /** Finds a termination point of a network by its id, which begins with the id of its node and a colon. */
  pointOf(network: string, point: string): PointRecord | undefined {
    const separator = point.lastIndexOf(":");
    const node = this.#find({ network, node: point.slice(0, separator) });
    return node?.kind === "device" ? node.record.points.get(point) : undefined;
  }

  /** Returns undefined when the network has no such node. A termination point that only links refer to is added to its node. */
  endOf(end: PointRef): LinkEnd | undefined {
    const node = this.#find(end);
    if (node?.kind !== "device") return node;
    const known = node.record.points.get(end.point);
    if (known) return { kind: "port", point: known };
    const point = { ...end, label: labelPoint(end), supporting: [], facts: {} };
    node.record.points.set(end.point, point);
    return { kind: "port", point };
  }

  #find({ network, node }: NodeRef): IndexedNode | undefined {
    return this.#networks.get(network)?.get(node);
  }

  #add({ network, node }: NodeRef, indexed: IndexedNode): void {
    const nodes = this.#networks.get(network);
    if (nodes) nodes.set(node, indexed);
    else this.#networks.set(network, new Map([[node, indexed]]));
  }
}
