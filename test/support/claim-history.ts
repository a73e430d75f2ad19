/** Random histories of claims, for comparisons of the view with a reference model. */
import fc from "fast-check";
import { type ClaimChange, type Claims, type ClaimTypes, canonicalClaim } from "../../src/model/claim.ts";
import { KINDS, type Kind } from "../../src/model/ids.ts";
import type { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { type ReferenceView, SOURCES } from "./reference-view.ts";

// Few values, so that claims meet and conflict.
const device = fc.constantFrom("of:a", "OF:A", "Leaf", "leaf", "LEAF", "c");
const portNumber = fc.constantFrom("1", "2", "local");
const annotations = fc.dictionary(
  fc.constantFrom("name", "conflict", "__proto__", "firstSeen"),
  fc.constantFrom("x", 'ünï,\n\t"}'),
  { maxKeys: 2 },
);
const end = fc.constantFrom(
  { port: "1", device: "of:a" },
  { port: "2", device: "of:A" },
  { port: "1", device: "Leaf" },
  { port: "1", device: "LEAF" },
  { port: "1", device: "c" },
);
const claimArbitraries = {
  devices: fc.record(
    { id: device, type: fc.constantFrom("SWITCH", "ROUTER"), available: fc.boolean(), role: fc.constant("NONE"), mfr: fc.constantFrom("m", "n"), lastUpdate: fc.constantFrom("1000", "2000"), annotations, aliases: fc.subarray(["openflow:1", "OpenFlow:1", "leaf", "b"]) },
    { requiredKeys: ["id"] },
  ),
  ports: fc.record({ element: device, port: portNumber, isEnabled: fc.boolean(), annotations }, { requiredKeys: ["element", "port"] }),
  links: fc
    .record(
      { src: end, dst: end, type: fc.constantFrom("DIRECT", "TUNNEL", "INDIRECT"), state: fc.constantFrom("ACTIVE", "INACTIVE"), verified: fc.boolean(), annotations },
      { requiredKeys: ["src", "dst"] },
    )
    .filter(({ src, dst }) => src.port !== dst.port || src.device.toLowerCase() !== dst.device.toLowerCase()),
  hosts: fc.record(
    {
      mac: fc.constantFrom("01", "02", "03", "04", "05", "06").map((n) => `00:00:00:00:00:${n}`),
      vlan: fc.constantFrom("None", "None", "None", "10"),
      configured: fc.boolean(),
      ipAddresses: fc.subarray(["10.0.0.1", "10.0.0.2", "2001:db8::1"]),
      locations: fc.uniqueArray(fc.record({ elementId: device, port: portNumber }), { minLength: 1, maxLength: 2, selector: (at) => `${at.elementId}/${at.port}`.toLowerCase() }),
      auxLocations: fc.array(fc.record({ elementId: device, port: fc.constant("1") }), { maxLength: 1 }),
      annotations,
    },
    { requiredKeys: ["mac", "vlan", "locations"] },
  ),
}; // biome-ignore format: tables
const setting = <K extends Kind>(kind: K) =>
  (claimArbitraries[kind] as fc.Arbitrary<ClaimTypes[K]>).map(
    (claim) => ({ op: "set", kind, claim }) as ClaimChange,
  );
/** A claim, or its withdrawal. */
const change = fc.oneof(...KINDS.map(setting)).chain((set) =>
  fc.integer({ min: 0, max: 2 }).map((n): ClaimChange => {
    if (n > 0 || set.op !== "set") return set;
    const result = canonicalClaim(set.kind, set.claim);
    return result.ok ? { op: "remove", kind: set.kind, id: result.id } : set;
  }),
);
export interface ClaimStep {
  readonly source: string;
  /** Whether the claims replace all claims of the source. */
  readonly replace: boolean;
  readonly changes: readonly ClaimChange[];
  readonly wait: number;
}

const step: fc.Arbitrary<ClaimStep> = fc.record({
  source: fc.constantFrom(...SOURCES),
  replace: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  changes: fc.array(change, { maxLength: 6 }),
  wait: fc.constantFrom(0, 1000),
});
/** Steps of three sources, and the step after which a snapshot is written. */
export const claimHistory = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 25 }),
  snapshotAfter: fc.integer({ min: 0, max: 25 }),
});

/** Without merging. */
export function applyToReference(reference: ReferenceView, { source, replace, changes }: ClaimStep): void {
  if (replace) reference.claims.delete(source);
  for (const change of changes) if (!replace || change.op === "set") reference.applyChange(source, change);
}

export const applyToSource = (source: ClaimIngest, { replace, changes }: ClaimStep): Promise<void> =>
  replace ? source.replace(claimsOf(changes)) : source.apply(changes);

function claimsOf(changes: readonly ClaimChange[]): Claims {
  const claims: Record<Kind, unknown[]> = { devices: [], ports: [], links: [], hosts: [] };
  for (const change of changes) if (change.op === "set") claims[change.kind].push(change.claim);
  return claims as Claims;
}
