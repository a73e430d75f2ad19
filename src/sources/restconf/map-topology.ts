/**
 * Makes claims of the records of all layers and modules. Pure, and independent of the order of the records, because a
 * server may return its lists in any order.
 *
 * A link that others support is the same link when it has the same ends, or when one link of the same two devices
 * supports it. Any other is a path through the layer below and is VIRTUAL.
 */
import type { ClaimTypes, HostClaim, LinkClaim } from "../../model/claim.ts";
import { hostId, type Kind, linkId } from "../../model/ids.ts";
import { DeviceTable, type MappedPort } from "./devices.ts";
import { mergeFacts } from "./merge-facts.ts";
import { labelPoint } from "./naming.ts";
import {
  appendTo,
  type HostRecord,
  type LinkFacts,
  type LinkRecord,
  type NodeRecord,
  nodeKey,
  type PointRecord,
  type PointRef,
  pointKey,
  refKey,
  type TopologyRecords,
} from "./topology-records.ts";
import type { OnFault } from "./yang-json.ts";

export type MappedClaims = { readonly [K in Kind]: ClaimTypes[K][] };

export function mapTopology(
  records: TopologyRecords,
  inventory: readonly NodeRecord[],
  onFault: OnFault,
): MappedClaims {
  const table = new DeviceTable(withReferencedPoints(records), inventory);
  const hostNodes = new Set(records.hosts.map(nodeKey));
  const isHost = (point: PointRef) => hostNodes.has(nodeKey(point));
  const { devices, ports } = table;
  const links = mapLinks(
    records.links.filter(({ src, dst }) => !isHost(src) && !isHost(dst)),
    table,
    onFault,
  );
  const attachments = records.links.filter(({ src, dst }) => isHost(src) !== isHost(dst));
  return { devices, ports, links, hosts: mapHosts(records, attachments, table, onFault) };
}

/** A termination point that only a link refers to is a port too. */
function withReferencedPoints({ nodes, links }: TopologyRecords): NodeRecord[] {
  const known = new Set(nodes.flatMap(({ points }) => points.map(pointKey)));
  const added = new Map<string, PointRecord[]>();
  for (const { src, dst } of links) {
    for (const end of [src, dst]) {
      if (known.has(pointKey(end))) continue;
      known.add(pointKey(end));
      const point = { ...end, label: labelPoint(end), supporting: [], facts: {} };
      appendTo(added, nodeKey(end), point);
    }
  }
  return nodes.map((node) => ({ ...node, points: [...node.points, ...(added.get(nodeKey(node)) ?? [])] }));
}

interface MappedLink {
  readonly record: LinkRecord;
  readonly src: MappedPort;
  readonly dst: MappedPort;
}

function mapLinks(records: readonly LinkRecord[], table: DeviceTable, onFault: OnFault): LinkClaim[] {
  const mapped = new Map<string, MappedLink>();
  for (const record of records) {
    const [src, dst] = [table.portOf(record.src), table.portOf(record.dst)];
    if (src && dst) mapped.set(refKey(record.network, record.link), { record, src, dst });
    else {
      const field = src ? "/destination/dest-node" : "/source/source-node";
      onFault("links", { field, message: "is not a node of its network" });
    }
  }
  const facts = new Map<string, { at: MappedLink; layers: LinkFacts[] }>();
  for (const key of [...mapped.keys()].sort()) {
    const link = mapped.get(key);
    if (!link || isInside(link)) continue;
    const at = underlayOf(link, mapped);
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

/** Between two layers of one device. */
const isInside = ({ src, dst }: MappedLink): boolean => src.device === dst.device && src.port === dst.port;

const supportedBy = ({ record }: MappedLink, links: ReadonlyMap<string, MappedLink>): MappedLink[] =>
  record.supporting.flatMap(({ network, link }) => links.get(refKey(network, link)) ?? []);

/** The link itself, or the one of the lowest layer that is the same link. */
function underlayOf(link: MappedLink, links: ReadonlyMap<string, MappedLink>): MappedLink {
  const visited = new Set<MappedLink>();
  let at = link;
  for (;;) {
    visited.add(at);
    const [below, ...others] = supportedBy(at, links);
    if (!below || others.length > 0 || visited.has(below)) return at;
    if (below.src.device !== at.src.device || below.dst.device !== at.dst.device) return at;
    at = below;
  }
}

/** Claimed only where the state of the ports is known: the modules have no states of links. */
function stateOf({ src, dst }: MappedLink): Pick<LinkClaim, "state"> {
  if (src.isEnabled === false || dst.isEnabled === false) return { state: "INACTIVE" };
  return src.isEnabled && dst.isEnabled ? { state: "ACTIVE" } : {};
}

function mapHosts(
  { hosts, nodes }: TopologyRecords,
  attachments: readonly LinkRecord[],
  table: DeviceTable,
  onFault: OnFault,
): HostClaim[] {
  const attached = new Map<string, PointRef[]>();
  const hostNodes = new Set(hosts.map(nodeKey));
  for (const { src, dst } of attachments) {
    const [host, device] = hostNodes.has(nodeKey(src)) ? [src, dst] : [dst, src];
    appendTo(attached, nodeKey(host), device);
  }
  const pointsById = new Map<string, PointRef>();
  for (const { network, points } of hosts.length > 0 ? nodes : []) {
    for (const point of points) pointsById.set(refKey(network, point.point), point);
  }
  const locationsOf = (host: HostRecord): MappedPort[] => {
    const named = host.attachedTo.flatMap((point) => pointsById.get(refKey(host.network, point)) ?? []);
    return [...named, ...(attached.get(nodeKey(host)) ?? [])].flatMap((point) => table.portOf(point) ?? []);
  };
  const claims = new Map<string, HostClaim & { ipAddresses: string[] }>();
  for (const host of hosts) {
    const locations = locationsOf(host);
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

function addTo(
  claim: HostClaim & { ipAddresses: string[] },
  { ipAddresses }: HostRecord,
  locations: readonly MappedPort[],
): void {
  for (const ip of ipAddresses) if (!claim.ipAddresses.includes(ip)) claim.ipAddresses.push(ip);
  for (const { device, port } of locations) {
    const known = claim.locations.some((at) => at.elementId === device && at.port === port);
    if (!known) claim.locations.push({ elementId: device, port });
  }
  claim.locations.sort((a, b) => compare(a.elementId, b.elementId) || Number(a.port) - Number(b.port));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
