/**
 * Nodes, termination points and links as RFC 8345 has them, layer by layer, whichever module they were read from. The
 * parsers (`parse-networks.ts`, `parse-inventory.ts`) make these records; `join-layers.ts` and `map-topology.ts` make
 * devices, ports, links and hosts of them.
 */
import type { DeviceClaim, LinkClaim, PortClaim } from "../../model/claim.ts";

export interface NodeRef {
  readonly network: string;
  readonly node: string;
}

export interface PointRef extends NodeRef {
  readonly point: string;
}

/** What a layer knows about an entity besides its id. */
export type DeviceFacts = Omit<DeviceClaim, "id" | "aliases">;
export type PortFacts = Omit<PortClaim, "element" | "port">;
export type LinkFacts = Omit<LinkClaim, "src" | "dst">;

export interface PointRecord extends PointRef {
  /** The port as a canonical number or logical port, or the name that it has on its node. */
  readonly label: string;
  /** The number of a port whose label is a name, where its layer knows one. */
  readonly number?: number;
  readonly supporting: readonly PointRef[];
  readonly facts: PortFacts;
}

export interface NodeRecord extends NodeRef {
  readonly deviceId: string;
  /** The node's own name, where the device id is another. */
  readonly alias: string | undefined;
  readonly supporting: readonly NodeRef[];
  /** By id. */
  readonly points: Map<string, PointRecord>;
  readonly facts: DeviceFacts;
}

/** A node that is a host. */
export interface HostRecord extends NodeRef {
  readonly mac: string;
  readonly vlan: string;
  readonly ipAddresses: readonly string[];
  /** Termination points of the same network, besides the links of the node. */
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

/** Appends to the list of a key. */
export function appendTo<K, T>(lists: Map<K, T[]>, key: K, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** The lengths keep the keys of different pairs different. */
export const refKey = (network: string, id: string): string => `${network.length}:${network}${id}`;
export const nodeKey = ({ network, node }: NodeRef): string => refKey(network, node);
export const pointKey = ({ network, node, point }: PointRef): string =>
  `${network.length}:${node.length}:${network}${node}${point}`;
