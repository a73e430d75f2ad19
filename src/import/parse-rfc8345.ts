/**
 * Reads `ietf-network:networks` (RFC 8345) and OpenDaylight's `network-topology` as JSON. It uses the mapping of the source
 * `restconf`, so a saved response and the server itself give the same devices, links and hosts.
 */
import { isRecord } from "../lib/is-record.ts";
import { type Claim, canonicalClaim } from "../model/claim.ts";
import { idKey, KINDS, type Kind } from "../model/ids.ts";
import { mapTopology } from "../sources/restconf/map-topology.ts";
import { IETF_NETWORK, NETWORK_TOPOLOGY, parseNetworks } from "../sources/restconf/parse-networks.ts";
import type { TopologyRecords } from "../sources/restconf/topology-records.ts";
import { member } from "../sources/restconf/yang-json.ts";
import type { ClaimsResult, ImportedClaims } from "./graph-claims.ts";
import type { JsonObject, Note } from "./import-graph.ts";

const DIALECTS = [IETF_NETWORK, NETWORK_TOPOLOGY];

export const isRfc8345 = (document: JsonObject): boolean =>
  DIALECTS.some(({ root }) => isRecord(member(document, root)));

export function parseRfc8345(document: unknown): ClaimsResult {
  if (!isRecord(document) || !isRfc8345(document)) {
    const roots = DIALECTS.map(({ root }) => root).join(" nor ");
    return { ok: false, fault: { message: `has neither ${roots}` } };
  }
  const notes: Note[] = [];
  const leaveOut = (kind: Kind, { field, message }: { field: string; message: string }) =>
    notes.push({ message: `left out one of the ${kind}: ${field.slice(1)} ${message}` });
  const records: TopologyRecords = { nodes: [], hosts: [], links: [] };
  for (const dialect of DIALECTS) parseNetworks(document, dialect, records, leaveOut);
  const mapped = mapTopology(records, [], leaveOut);
  const claims: ImportedClaims = { devices: [], ports: [], links: [], hosts: [] };
  for (const kind of KINDS) acceptClaims(kind, mapped[kind], claims, leaveOut);
  return { ok: true, claims, notes };
}

/** Validates the mapped records and drops invalid ones, as the sink of a source does. */
function acceptClaims<K extends Kind>(
  kind: K,
  mapped: readonly Claim[],
  claims: ImportedClaims,
  leaveOut: (kind: Kind, fault: { field: string; message: string }) => void,
): void {
  const seen = new Set<string>();
  for (const record of mapped) {
    const result = canonicalClaim(kind, record);
    if (!result.ok) leaveOut(kind, result.fault);
    else if (seen.has(idKey(kind, result.id)))
      leaveOut(kind, { field: "/id", message: `${result.id} is given twice, perhaps in another case` });
    else {
      seen.add(idKey(kind, result.id));
      claims[kind].push(result.claim);
    }
  }
}
