/**
 * The joined view depends on what the sources claim in the end, not on the order in which they report it. Three sources
 * with overlaps, conflicts and copied values report in random order and random pieces, with withdrawals and restarts.
 */
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { ClaimedNetwork, pagesOf } from "../../../test/support/claims.ts";
import { withoutPauses } from "../../lib/steps.ts";
import { STORE_KINDS } from "../../log/log.ts";
import { type ClaimChange, canonicalClaim } from "../../model/claim.ts";
import { deviceKey, KINDS, type Kind } from "../../model/ids.ts";
import type { MergeSettings } from "../../model/merge-settings.ts";
import { restoreView } from "../restore.ts";
import { View } from "../view.ts";

const SETTINGS: MergeSettings = {
  identity: ["chassisId", "serial", "systemName"],
  sources: [
    { name: "first", role: "observed", merge: true },
    { name: "second", role: "observed", merge: true },
    { name: "third", role: "observed", merge: true },
    { name: "open", role: "observed", merge: false },
  ],
};
const NAMES = SETTINGS.sources.map(({ name }) => name);

const IDS = ["of:1", "of:2", "Leaf", "lldp:a", "LLDP:A", "snmp:x", "k"];
/** The ids that a source mostly uses: with those of the others alone, few devices would be joined. */
const OWN_IDS: Readonly<Record<string, readonly string[]>> = {
  first: ["of:1", "of:2"],
  second: ["Leaf", "lldp:a"],
  third: ["snmp:x", "k"],
};
const optional = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const port = fc.constantFrom("1", "2", "3", "local");

/** Few values, so that devices are joined, copied and separated. */
function claimsOf(source: string): readonly fc.Arbitrary<ClaimChange>[] {
  const own = OWN_IDS[source] ?? IDS;
  const device = fc.constantFrom(...own, ...own, ...own, ...own, ...IDS);
  const point = fc.record({ device, port });
  const records: Readonly<Record<Kind, fc.Arbitrary<object>>> = {
    devices: fc
      .record({ id: device, chassisId: optional("aa:bb:cc:dd:ee:01", "AABBCCDDEE01", "2", "0"), serial: optional("S1", "s1", "S2", "unknown"), name: optional("core", "edge"), mfr: optional("m", "n"), aliases: optional(["other"], ["other", "another"], ["lldp:a", "other"], ["of:1", "k"]) })
      .map(({ name, ...rest }) => ({ ...rest, ...(name && { annotations: { name } }) })),
    ports: fc
      .record({ element: device, port, mac: optional("00:00:00:00:00:01", "00:00:00:00:00:02"), portName: optional("eth1", "Eth1", "eth2", "eth3"), isEnabled: optional(true, false) })
      .map(({ mac, portName, ...rest }) => ({ ...rest, annotations: { ...(mac && { mac }), ...(portName && { portName }) } })),
    links: fc
      .record({ src: point, dst: point, type: optional("DIRECT", "TUNNEL") })
      .filter(({ src, dst }) => deviceKey(src.device) !== deviceKey(dst.device) || src.port !== dst.port),
    hosts: fc.record({
      mac: fc.constantFrom("00:00:00:00:01:01", "00:00:00:00:01:02"),
      ipAddresses: fc.subarray(["10.0.0.1", "10.0.0.2"]),
      locations: fc.array(point.map(({ device: elementId, port }) => ({ elementId, port })), { minLength: 1, maxLength: 2 }),
    }),
  }; // biome-ignore format: a table
  return ["devices", "ports", "ports", "ports", "links", "hosts"].map((kind) =>
    // Without the fields that are undefined.
    (records[kind as Kind] as fc.Arbitrary<object>).map(
      (claim) => ({ op: "set", kind, claim: JSON.parse(JSON.stringify(claim)) }) as ClaimChange,
    ),
  );
}

const sourced: fc.Arbitrary<Sourced> = fc
  .constantFrom(...NAMES, "first", "second", "third")
  .chain((source) => fc.oneof(...claimsOf(source)).map((change) => ({ source, change })));
type Sourced = { readonly source: string; readonly change: ClaimChange };

const keyOf = ({ source, change }: Sourced): string => {
  const id = idOf(change);
  return `${source} ${change.kind} ${change.kind === "hosts" ? id : id.toLowerCase()}`;
};
function idOf(change: ClaimChange): string {
  if (change.op === "remove") return change.id;
  const result = canonicalClaim(change.kind, change.claim);
  if (!result.ok) throw new Error(`the test generates invalid claims: ${JSON.stringify(result.fault)}`);
  return result.id;
}

/** Three ids of one device, so that most runs have ports to match. */
const JOINED: readonly Sourced[] = [["first", "of:1"], ["second", "lldp:a"], ["third", "snmp:x"]].map(
  ([source = "", id = ""]) => ({ source, change: { op: "set", kind: "devices", claim: { id, serial: "S3" } } }),
); // biome-ignore format: a table

const scenario = fc.record({
  isJoined: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
  /** What is claimed in the end: one claim for each source and id. */
  final: fc.uniqueArray(sourced, { selector: keyOf, minLength: 8, maxLength: 45 }),
  /** Claims that come first, in the way of the others, and are replaced or withdrawn. */
  earlier: fc.array(sourced, { maxLength: 12 }),
  order: fc.infiniteStream(fc.nat(1000)),
  restartAfter: fc.nat(20),
});

/** Changes in the order of the stream, in pieces of one source. */
function shuffled(changes: readonly Sourced[], order: Iterator<number>): Sourced[][] {
  const next = () => order.next().value ?? 0;
  const sorted = changes.map((change) => ({ change, at: next() })).sort((a, b) => a.at - b.at);
  const pieces: Sourced[][] = [];
  for (const { change } of sorted) {
    const last = pieces.at(-1);
    if (last?.[0]?.source === change.source && next() % 2 === 0) last.push(change);
    else pieces.push([change]);
  }
  return pieces;
}

const VOLATILE = ["firstSeen", "lastChanged", "lastUpdate", "humanReadableLastUpdate", "revision"];

/** The public view. Former ids depend on what was shown before: only aliases that are claimed are compared. */
function shownBy(view: View, claimed: ReadonlySet<string>): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const kind of KINDS) {
    for (const page of pagesOf(view, kind)) {
      for (const [i, id] of page.ids.entries()) {
        const value = JSON.parse(page.value(i));
        for (const field of VOLATILE) delete value[field];
        value.aliases = (value.aliases ?? []).filter((alias: string) => claimed.has(deviceKey(alias)));
        shown[`${kind} ${id}`] = value;
      }
    }
  }
  return shown;
}

function storedBy(view: View): Map<string, string> {
  const stored = new Map<string, string>();
  for (const kind of STORE_KINDS)
    for (const page of pagesOf(view, kind))
      for (const [id, text] of page.toMap()) stored.set(`${kind} ${id}`, text);
  return stored;
}

async function applyAll(net: ClaimedNetwork, pieces: readonly Sourced[][]): Promise<void> {
  for (const piece of pieces) {
    await net.source(piece[0]?.source ?? "").apply(piece.map(({ change }) => change));
    await net.clock.advance(1000);
  }
}

const counts = { joined: 0, flagged: 0, renumbered: 0 };
afterAll(() => {
  // Without these the comparison would prove little.
  expect(counts.joined).toBeGreaterThan(20);
  expect(counts.flagged).toBeGreaterThan(5);
  expect(counts.renumbered).toBeGreaterThan(1);
});

const RUNS = Number(process.env.GAZETTEER_TEST_RUNS ?? 150);

test("three sources give the same view in whatever order they report", async () => {
  const property = fc.asyncProperty(
    scenario,
    async ({ isJoined, final: generated, earlier, order, restartAfter }) => {
      const joined = isJoined ? JOINED : [];
      const joinedKeys = new Set(joined.map(keyOf));
      const final = [...joined, ...generated.filter((each) => !joinedKeys.has(keyOf(each)))];
      const claimed = new Set(
        final.flatMap(({ change }) =>
          change.op === "set" && change.kind === "devices"
            ? [change.claim.id, ...(change.claim.aliases ?? [])].map(deviceKey)
            : [],
        ),
      );
      const plain = new ClaimedNetwork(SETTINGS);
      for (const name of NAMES) {
        const own = final.filter(({ source }) => source === name).map(({ change }) => change);
        await plain.source(name).apply(own);
      }
      const expected = shownBy(plain.view, claimed);
      plain.log.close();

      // The same with a detour and a restart.
      const finalKeys = new Set(final.map(keyOf));
      const withdrawn = new Map(
        earlier.filter((each) => !finalKeys.has(keyOf(each))).map((each) => [keyOf(each), each]),
      );
      const removals = [...withdrawn.values()].map(({ source, change }): Sourced => {
        return { source, change: { op: "remove", kind: change.kind, id: idOf(change) } };
      });
      let net = new ClaimedNetwork(SETTINGS);
      const numbers = order[Symbol.iterator]();
      const early = shuffled(earlier, numbers);
      const late = shuffled([...final, ...removals], numbers);
      const pieces = [...early, ...late];
      await applyAll(net, pieces.slice(0, restartAfter));
      const { batches } = net;
      net = new ClaimedNetwork(SETTINGS, net.log, undefined, undefined, restoreView(net.log).view);
      await applyAll(net, pieces.slice(restartAfter));
      const shown = shownBy(net.view, claimed);
      expect(shown).toEqual(expected);

      counts.joined += net.view.indexes("claims").named("joined").size;
      for (const [key, value] of Object.entries(shown)) {
        const { annotations } = value as { annotations?: Record<string, string> };
        if (key.startsWith("devices ") && annotations?.conflict) counts.flagged++;
        if (/^ports .*\/1\d{9}$/.test(key)) counts.renumbered++;
      }

      const replayed = new View();
      for (const batch of withoutPauses(net.log.read(0))) replayed.apply(batch);
      expect(storedBy(replayed)).toEqual(storedBy(net.view));

      const undone = storedBy(net.view);
      for (const { entries } of [...batches, ...net.batches].reverse()) {
        for (const { kind, id, before, after } of [...entries].reverse()) {
          expect(undone.get(`${kind} ${id}`) ?? null).toBe(after);
          if (before === null) undone.delete(`${kind} ${id}`);
          else undone.set(`${kind} ${id}`, before);
        }
      }
      expect(undone.size).toBe(0);

      // Every claim is found again by the source that made it, and nothing is left when all are withdrawn.
      for (const name of NAMES) {
        const keys = await net.committer.claimedKeys(name);
        const own = KINDS.flatMap((kind) => [...keys[kind]].map((key) => `${name} ${kind} ${key}`));
        expect(own.sort()).toEqual([...finalKeys].filter((key) => key.startsWith(`${name} `)).sort());
        await net.source(name).replace({});
      }
      for (const kind of [...KINDS, "claims"] as const) expect(net.view.size(kind)).toBe(0);
      for (const kind of [...KINDS, "claims"] as const)
        expect(net.view.indexes(kind).named("source" as never).size).toBe(0);
      net.log.close();
    },
  );
  await fc.assert(property, { numRuns: RUNS });
}, 600_000);
