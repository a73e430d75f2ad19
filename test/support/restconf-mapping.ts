/** For the tests of the mapping: from documents to claims, and short forms of what documents have. */
import { type ClaimLists, canonicalClaim } from "../../src/model/claim.ts";
import { KINDS, type Kind } from "../../src/model/ids.ts";
import { mapTopology } from "../../src/sources/restconf/map-topology.ts";
import { parseInventory } from "../../src/sources/restconf/parse-inventory.ts";
import { IETF_NETWORK, NETWORK_TOPOLOGY, parseNetworks } from "../../src/sources/restconf/parse-networks.ts";
import type { TopologyRecords } from "../../src/sources/restconf/topology-records.ts";

export interface Mapped {
  readonly claims: ClaimLists;
  /** `kind field message`. */
  readonly faults: string[];
}

export interface Documents {
  readonly networks?: unknown[];
  readonly topologies?: unknown[];
  readonly inventory?: unknown[];
}

export function map({ networks = [], topologies = [], inventory = [] }: Documents): Mapped {
  const faults: string[] = [];
  const onFault = (kind: Kind, { field, message }: { field: string; message: string }) =>
    faults.push(`${kind} ${field} ${message}`);
  const records: TopologyRecords = { nodes: [], hosts: [], links: [] };
  parseNetworks({ "ietf-network:networks": { network: networks } }, IETF_NETWORK, records, onFault);
  const draft = { "network-topology:network-topology": { topology: topologies } };
  parseNetworks(draft, NETWORK_TOPOLOGY, records, onFault);
  const nodes = parseInventory({ "opendaylight-inventory:nodes": { node: inventory } }, onFault);
  return { claims: mapTopology(records, nodes, onFault), faults };
}

/** Ids of all claims, as the sink derives them. */
export function ids({ claims }: Mapped): Record<Kind, string[]> {
  const idsOf = (kind: Kind) =>
    claims[kind].map((claim) => {
      const result = canonicalClaim(kind, claim);
      return result.ok ? result.id : `${kind} ${result.fault.field} ${result.fault.message}`;
    });
  const all: Record<Kind, string[]> = { devices: [], ports: [], links: [], hosts: [] };
  for (const kind of KINDS) all[kind] = idsOf(kind).sort();
  return all;
}

export const TP = "ietf-network-topology:termination-point";
export const LINK = "ietf-network-topology:link";
export const points = (...tps: string[]) => tps.map((tp) => ({ "tp-id": tp }));
export const link = (
  id: string,
  [a, atp]: [string, string],
  [b, btp]: [string, string],
  more: object = {},
) => ({
  "link-id": id,
  source: { "source-node": a, "source-tp": atp },
  destination: { "dest-node": b, "dest-tp": btp },
  ...more,
});
export const on = (network: string, node: string) => ({ "network-ref": network, "node-ref": node });
