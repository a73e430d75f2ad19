/**
 * The names of nodes and termination points of one network, as ids of devices and labels of ports. A document that this
 * service has rendered has its ids back. Of the others, an OpenFlow switch (`openflow:1`) is named as every source names
 * it; any other node keeps its own name.
 */
import { canonicalHostId, canonicalPort } from "../../model/address.ts";
import { datapathDeviceId } from "../../model/derived-ids.ts";
import { decodeRfc8345Id, RFC8345_NETWORK_ID } from "../../model/rfc8345-ids.ts";
import type { PointRef } from "./topology-records.ts";

export type NodeName =
  | { readonly kind: "device"; readonly id: string; readonly alias?: string }
  | { readonly kind: "host"; readonly id: string };

const OPENFLOW_NODE = /^openflow:(\d{1,20})$/;

/** Undefined when it names neither a device nor a host. */
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

/** The numbers that OpenFlow reserves for ports that are not sockets. */
const OPENFLOW_LOGICAL: Readonly<Record<string, string>> = {
  "4294967293": "controller",
  "4294967294": "local",
};

/** `openflow:1:2` is port 2 of `openflow:1`, `s1/eth0` is port eth0 of `s1`. Any other id is the label itself. */
export function labelPoint({ network, node, point }: PointRef): string {
  const separator = point.at(node.length);
  const isQualified = point.startsWith(node) && (separator === ":" || separator === "/");
  const own = isQualified && point.length > node.length + 1 ? point.slice(node.length + 1) : point;
  const label = canonicalPort(own) ?? own;
  const isOpenflow = network !== RFC8345_NETWORK_ID && OPENFLOW_NODE.test(node);
  return (isOpenflow && OPENFLOW_LOGICAL[label]) || label;
}
