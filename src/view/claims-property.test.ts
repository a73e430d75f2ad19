/**
 * Compares the view with a reference model. After every step of a random history of three sources the model merges all
 * claims from scratch; the result must equal what the committer computed incrementally.
 */
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { ClaimedNetwork } from "../../test/support/claims.ts";
import { type Json, ReferenceView, SOURCES } from "../../test/support/reference-view.ts";
import { withoutPauses } from "../lib/steps.ts";
import { type LogEntry, STORE_KINDS, type StoreKind } from "../log/log.ts";
import { type ClaimChange, type Claims, type ClaimTypes, canonicalClaim } from "../model/claim.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { restoreView } from "./restore.ts";
import { View } from "./view.ts";

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
    { id: device, type: fc.constantFrom("SWITCH", "ROUTER"), available: fc.boolean(), role: fc.constant("NONE"), mfr: fc.constantFrom("m", "n"), lastUpdate: fc.constantFrom("1000", "2000"), annotations },
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
const step = fc.record({
  source: fc.constantFrom(...SOURCES),
  replace: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  changes: fc.array(change, { maxLength: 6 }),
  wait: fc.constantFrom(0, 1000),
});
const history = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 25 }),
  snapshotAfter: fc.integer({ min: 0, max: 25 }),
});

const INDEXES: { readonly [K in StoreKind]: readonly string[] } = {
  devices: ["type", "available", "source"],
  ports: ["source"],
  links: ["src", "dst", "state", "source", "occupiedPort"],
  hosts: ["ip", "location", "source"],
  claims: ["device", "source"],
};

/** Everything in a view, as plain values. */
function contentsOf(view: View): unknown {
  const { revision, time, graphTime, versions } = view;
  const bytes = STORE_KINDS.map((kind) =>
    view
      .pages(kind)
      .map((page) => page.bytes.toString())
      .join(","),
  );
  const indexes = STORE_KINDS.flatMap((kind) =>
    INDEXES[kind].map((name) => {
      const index = view.indexes(kind).named(name as never);
      return [kind, name, index.size, index.keys().map((key) => [key, ...[...index.get(key)].sort()])];
    }),
  );
  return { revision, time, graphTime, versions, bytes, indexes, clusters: view.graph.clusters() };
}

/** Whether a device is removed under one spelling of its id and added under another. */
function respells(entries: readonly LogEntry[]): boolean {
  const keys = entries.filter(({ kind }) => kind === "devices").map(({ id }) => id.toLowerCase());
  return new Set(keys).size < keys.length;
}

function shownBy(view: View): Map<string, Json> {
  const shown = new Map<string, Json>();
  for (const kind of KINDS) {
    for (const page of view.pages(kind)) {
      for (const [i, id] of page.ids.entries()) shown.set(`${kind} ${id}`, JSON.parse(page.value(i)));
    }
  }
  return shown;
}

const counts = { batches: 0, conflicts: 0, respelled: 0 };
afterAll(() => {
  // Without conflicts the comparison would prove little.
  expect(counts.batches).toBeGreaterThan(100);
  expect(counts.conflicts).toBeGreaterThan(10);
  // So that the ids of links and ports follow the device.
  expect(counts.respelled).toBeGreaterThan(10);
});

test("any history of claims gives the same view as merging all claims from scratch", async () => {
  const property = fc.asyncProperty(history, async ({ steps, snapshotAfter }) => {
    const net = new ClaimedNetwork(SOURCES);
    const reference = new ReferenceView();
    for (const [i, { source, replace, changes, wait }] of steps.entries()) {
      await net.clock.advance(wait);
      const time = net.clock.now();
      if (replace) {
        const sets = changes.filter((candidate) => candidate.op === "set");
        reference.claims.delete(source);
        for (const set of sets) reference.applyChange(source, set);
        await net.source(source).replace(claimsOf(sets));
      } else {
        for (const change of changes) reference.applyChange(source, change);
        await net.source(source).apply(changes);
      }
      reference.mergeAll(time);
      reference.revision = net.view.revision;
      expect(shownBy(net.view)).toEqual(reference.shown);
      if (i === snapshotAfter) await net.log.writeSnapshot(net.view.snapshot());
    }
    const expected = contentsOf(net.view);
    counts.batches += net.batches.length;
    counts.respelled += net.batches.filter(({ entries }) => respells(entries)).length;
    counts.conflicts += [...reference.shown.values()].filter((entity) =>
      JSON.stringify(entity).includes("also claimed"),
    ).length;

    const replayed = new View();
    for (const batch of withoutPauses(net.log.read(0))) replayed.apply(batch);
    expect(contentsOf(replayed)).toEqual(expected);

    expect(contentsOf(restoreView(net.log))).toEqual(expected);

    const undone = new Map<string, string>();
    for (const kind of STORE_KINDS) {
      for (const page of net.view.pages(kind))
        for (const [id, text] of page.toMap()) undone.set(`${kind} ${id}`, text);
    }
    for (const { entries } of [...net.batches].reverse()) {
      for (const { kind, id, before, after } of entries) {
        expect(undone.get(`${kind} ${id}`) ?? null).toBe(after);
        if (before === null) undone.delete(`${kind} ${id}`);
        else undone.set(`${kind} ${id}`, before);
      }
    }
    expect(undone.size).toBe(0);
    net.log.close();
  });
  await fc.assert(property, { numRuns: 300 });
}, 300_000);

function claimsOf(changes: readonly ClaimChange[]): Claims {
  const claims: Record<Kind, unknown[]> = { devices: [], ports: [], links: [], hosts: [] };
  for (const change of changes) if (change.op === "set") claims[change.kind].push(change.claim);
  return claims as Claims;
}
