/**
 * From the lists of ONOS to claims: a pure function. Records have the fields of the interface, with the habits of ONOS:
 * - `[eth1](1)` is port 1 with a name, `LOCAL` and `local` are one port, the VLAN -1 is None (`canonicalClaim` reads these);
 * - keys may be missing, `humanReadableLastUpdate` is derived, later versions may have more fields: only known ones count;
 * - locations are in the order of a hash table, so they are sorted: the order says nothing, and must cause no change;
 * - releases before 1.14 have one `location` of a host and not `locations`;
 * - `lastUpdate` is a number below 1 where ONOS does not know it.
 */
import { isRecord } from "../../lib/is-record.ts";
import { type ClaimFault, type ClaimTypes, canonicalClaim } from "../../model/claim.ts";
import type { Kind } from "../../model/ids.ts";
import { claimAnnotations, claimFields, type RawRecord } from "./claim-fields.ts";

/** The records of each list, as parsed from JSON. */
export type OnosLists = Readonly<Record<Kind, readonly unknown[]>>;

export interface MappedRecords {
  readonly claims: { readonly [K in Kind]: ClaimTypes[K][] };
  /** Records that are not claimed, and why. */
  readonly faults: readonly { readonly kind: Kind; readonly fault: ClaimFault }[];
}

export function mapOnosLists(lists: OnosLists): MappedRecords {
  const faults: { kind: Kind; fault: ClaimFault }[] = [];
  const map = <K extends Kind>(kind: K): ClaimTypes[K][] => {
    const claims: ClaimTypes[K][] = [];
    for (const record of lists[kind]) {
      const result = isRecord(record)
        ? canonicalClaim(kind, CONVERT[kind](record))
        : ({ ok: false, fault: { field: "", message: "is not an object" } } as const);
      if (result.ok) claims.push(result.claim);
      else faults.push({ kind, fault: result.fault });
    }
    return claims;
  };
  return {
    claims: { devices: map("devices"), ports: map("ports"), links: map("links"), hosts: map("hosts") },
    faults,
  };
}

const CONVERT: Readonly<Record<Kind, (record: RawRecord) => RawRecord>> = {
  devices(record) {
    const { lastUpdate, ...fields } = withAnnotations("devices", record);
    const time = String(lastUpdate ?? "");
    return /^[1-9]\d{0,14}$/.test(time) ? { ...fields, lastUpdate: time } : fields;
  },
  ports: (record) => withAnnotations("ports", record),
  links(record) {
    const { src, dst, ...fields } = withAnnotations("links", record);
    return { ...fields, src: pick(src, ["device", "port"]), dst: pick(dst, ["device", "port"]) };
  },
  hosts(record) {
    const { locations, auxLocations, ...fields } = withAnnotations("hosts", record);
    const { location } = record;
    return {
      ...fields,
      locations: toLocations(locations ?? (location === undefined ? undefined : [location])),
      ...(auxLocations !== undefined && { auxLocations: toLocations(auxLocations) }),
    };
  },
};

function withAnnotations(kind: Kind, record: RawRecord): Record<string, unknown> {
  const { annotations, ...fields } = claimFields(kind, record);
  const claimed = claimAnnotations(annotations);
  return claimed === undefined ? fields : { ...fields, annotations: claimed };
}

/** Other values stay as they are: the validation of the claim finds the fault. */
const pick = (value: unknown, names: readonly string[]): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)))
    : value;

function toLocations(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const keyOf = (location: unknown) => (isRecord(location) ? `${location.elementId}/${location.port}` : "");
  return value
    .map((location: unknown) => pick(location, ["elementId", "port"]))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

export const emptyLists = (): { [K in Kind]: readonly unknown[] } => ({
  devices: [],
  ports: [],
  links: [],
  hosts: [],
});
