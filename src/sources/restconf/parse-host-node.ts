/**
 * The hosts of OpenDaylight's host tracker (releases that still have it): a node `host:MAC` with the addresses that were
 * seen and the termination points where. A host is one per MAC and VLAN, so that a node with addresses in two VLANs is
 * two hosts.
 */
import { canonicalIp, canonicalMac, canonicalVlan } from "../../model/address.ts";
import type { HostRecord, NodeRef } from "./topology-records.ts";
import { leafText, listEntries, type OnFault, type YangObject } from "./yang-json.ts";

const HOST_NODE = /^host:(.+)$/s;
const UNTAGGED = "0";

/** Undefined when the node is not a host. */
export function parseHostNode(ref: NodeRef, node: YangObject, onFault: OnFault): HostRecord[] | undefined {
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
