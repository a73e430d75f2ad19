/**
 * Records of the nodes, termination points and links of RFC 8345, layer by layer, the same for all modules. The parsers
 * (`parse-networks.ts`, `parse-inventory.ts`) create these records. `devices.ts` and `map-topology.ts` map them to devices,
 * ports, links and hosts.
 */

import { canonicalHostId, canonicalPort } from "../../model/address.ts";
import type { DeviceClaim, LinkClaim, PortClaim } from "../../model/claim.ts";
import { datapathDeviceId } from "../../model/derived-ids.ts";
import { decodeRfc8345Id, RFC8345_NETWORK_ID } from "../../model/rfc8345-ids.ts";

export interface NodeRef {
  readonly network: string;
  readonly node: string;
}

export interface PointRef extends NodeRef {
  readonly point: string;
}

/** The fields that a layer has about an entity besides its id. */
export type DeviceFacts = Omit<DeviceClaim, "id" | "aliases">;
export type PointFacts = Omit<PortClaim, "element" | "port">;
export type LinkFacts = Omit<LinkClaim, "src" | "dst">;

export interface PointRecord extends PointRef {
  /** The canonical number or logical port, or the name that the port has on its node. */
  readonly label: string;
  /** The number of a port whose label is a name, if its layer has one. */
  readonly number?: number;
  readonly supporting: readonly PointRef[];
  readonly facts: PointFacts;
}

export interface NodeRecord extends NodeRef {
  readonly deviceId: string;
  /** The node's own name, if it differs from the device id. */
  readonly alias: string | undefined;
  readonly supporting: readonly NodeRef[];
  /** The termination points by id. */
  readonly points: Map<string, PointRecord>;
  readonly facts: DeviceFacts;
}

/** A node that is a host. */
export interface HostRecord extends NodeRef {
  readonly mac: string;
  readonly vlan: string;
  readonly ipAddresses: readonly string[];
  /** The termination points of the same network that the node itself lists. Links of the node may add others. */
  readonly attachedTo: readonly string[];
}

export interface LinkRecord {
  readonly network: string;
  readonly link: string;
  readonly src: PointRef;
  readonly dst: PointRef;
  readonly supporting: readonly { readonly network: string; readonly link: string }[];
  readonly facts: LinkFacts;
}

export interface TopologyRecords {
  readonly nodes: NodeRecord[];
  readonly hosts: HostRecord[];
  readonly links: LinkRecord[];
}

/** The key contains a length, so that different pairs have different keys. */
export const refKey = (network: string, id: string): string => `${network.length}:${network}${id}`;
export const nodeKey = ({ network, node }: NodeRef): string => refKey(network, node);
export const pointKey = ({ network, node, point }: PointRef): string =>
  `${network.length}:${node.length}:${network}${node}${point}`;

// Converts the names of nodes and termination points to ids of devices and labels of ports. In a document that this service
// has rendered, the original ids are restored. In other documents, an OpenFlow switch (`openflow:1`) gets the id that it has
// in every source, and any other node keeps its own name.

type NodeName =
  | { readonly kind: "device"; readonly id: string; readonly alias?: string }
  | { readonly kind: "host"; readonly id: string };

const OPENFLOW_NODE = /^openflow:(\d{1,20})$/;

/** Returns undefined when the node is neither a device nor a host. */
export function nameNode(network: string, node: string): NodeName | undefined {
  if (network === RFC8345_NETWORK_ID) {
    const decoded = decodeRfc8345Id(node);
    if (decoded?.kind === "device") return { kind: "device", id: decoded.id };
    const host = decoded?.kind === "host" ? canonicalHostId(decoded.id) : undefined;
    return host === undefined ? undefined : { kind: "host", id: host };
  }
  const datapath = OPENFLOW_NODE.exec(node)?.[1];
  const id = datapath === undefined ? undefined : datapathDeviceId(datapath);
  return id === undefined ? { kind: "device", id: node } : { kind: "device", id, alias: node };
}

/** The numbers that OpenFlow reserves for logical ports. */
const OPENFLOW_LOGICAL: Readonly<Record<string, string>> = {
  "4294967293": "controller",
  "4294967294": "local",
};

/** Returns the label: 2 for `openflow:1:2` of `openflow:1`, eth0 for `s1/eth0` of `s1`, and any other id unchanged. */
export function labelPoint({ network, node, point }: PointRef): string {
  const separator = point.at(node.length);
  const isQualified = point.startsWith(node) && (separator === ":" || separator === "/");
  const own = isQualified && point.length > node.length + 1 ? point.slice(node.length + 1) : point;
  const label = canonicalPort(own) ?? own;
  const isOpenflow = network !== RFC8345_NETWORK_ID && OPENFLOW_NODE.test(node);
  return (isOpenflow && OPENFLOW_LOGICAL[label]) || label;
}
