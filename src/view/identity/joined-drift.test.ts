/**
 * Joined devices that are compared with two plans. What is shown and what is missing depends on what the sources claim and
 * on the settings, not on the order in which they came: sources report in random order, withdraw, sync, become stale, and
 * are configured in other ways meanwhile. The service starts again, and every batch can be undone.
 */
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { ClaimedNetwork } from "../../../test/support/claims.ts";
import {
  applyPiece,
  claimedAfter,
  claimOfAny,
  deviceOf,
  isCompared,
  keyOf,
  reportAll,
  type Sourced,
  shuffled,
  withdrawals,
  withOthers,
} from "../../../test/support/joined-claims.ts";
import { assertProperty, COUNTS_CASES, PROPERTY_TIMEOUT_MS } from "../../../test/support/property.ts";
import { expectReplayed, expectUndone } from "../../../test/support/replay.ts";
import { shownBy } from "../../../test/support/view-contents.ts";
import type { Batch, LogEntry } from "../../log/log.ts";
import { KINDS } from "../../model/ids.ts";
import type { IdentityRule, MergeSettings, SourceSettings } from "../../model/merge-settings.ts";
import type { SourceFacts } from "../merge-rules.ts";
import { restoreView } from "../restore.ts";
import type { View } from "../view.ts";

const NAMES = ["first", "plan", "second", "third", "draft"];
const JOINED = [
  deviceOf("first", "of:1", "S3"),
  deviceOf("second", "lldp:a", "S3"),
  deviceOf("third", "snmp:x", "S3"),
  deviceOf("plan", "plan:a", "S3"),
];

const sourceSettings = (name: string): fc.Arbitrary<SourceSettings> =>
  fc
    .record({ isUsual: fc.integer({ max: 4, min: 0 }), merge: fc.integer({ max: 4, min: 0 }) })
    .map(({ isUsual, merge }) => {
      const isPlan = name === "plan" || name === "draft";
      return { name, role: isPlan === isUsual > 0 ? "intended" : "observed", merge: merge > 0 };
    });
const settings: fc.Arbitrary<MergeSettings> = fc.record({
  identity: fc.subarray<IdentityRule>(["chassisId", "serial", "systemName"], { minLength: 1 }),
  sources: fc
    .tuple(...NAMES.map(sourceSettings))
    .chain((sources) => fc.shuffledSubarray(sources, { minLength: sources.length })),
});

const scenario = fc.record({
  isJoined: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
  final: fc.uniqueArray(claimOfAny(...NAMES), { selector: keyOf, minLength: 8, maxLength: 45 }),
  earlier: fc.array(claimOfAny(...NAMES), { maxLength: 12 }),
  order: fc.infiniteStream(fc.nat(1000)),
  restartAfter: fc.nat(30),
  configured: fc.array(fc.record({ settings, at: fc.nat(30) }), { minLength: 1, maxLength: 4 }),
  stale: fc.subarray(NAMES, { maxLength: 2 }),
  /** The piece before which each source has synced. */
  synced: fc.tuple(...NAMES.map(() => fc.nat(20))),
});

const INDEXES = [
  ["missing", "key"],
  ["missing", "drift"],
  ["devices", "drift"],
  ["devices", "alias"],
  ["claims", "claimedAs"],
  ["claims", "joined"],
  ["claims", "identity"],
  ["claims", "plannedKind"],
  ["claims", "plannedPorts"],
] as const;

function expectSameIndexes(view: View, other: View): void {
  for (const [kind, name] of INDEXES) {
    const [ours, theirs] = [view, other].map((each) => each.indexes(kind).find(name));
    const entries = (index: typeof ours) =>
      (index?.keys() ?? []).map((key) => [key, [...(index?.current(key) ?? [])].sort()]).sort();
    expect(entries(ours)).toEqual(entries(theirs));
  }
  expect(view.heldBack).toEqual(other.heldBack);
}

/** `since` changes only with the state. */
function expectSameSince({ before, after }: LogEntry): void {
  if (!before?.includes('"drift"') || !after?.includes('"drift"')) return;
  const [from, to] = [before, after].map((text) => JSON.parse(text).drift);
  if (from && from.state === to?.state) expect(to.since).toBe(from.since);
}

const counts = { joined: 0, missing: 0, unplanned: 0, differs: 0 };
afterAll(() => {
  if (!COUNTS_CASES) return;
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(5);
});

/** What is shown when each source has synced or not, as `facts` say, and reports its claims at once. */
async function reported(
  settings: MergeSettings,
  facts: ReadonlyMap<string, SourceFacts>,
  claims: readonly Sourced[],
): Promise<Record<string, unknown>> {
  const net = new ClaimedNetwork(settings);
  for (const [name, known] of facts) await net.committer.setSourceFacts(name, known);
  await reportAll(net, claims);
  await net.log.close();
  return shownBy(net.view);
}

function count(net: ClaimedNetwork, shown: Record<string, unknown>): void {
  counts.joined += net.view.indexes("claims").named("joined").size;
  for (const value of Object.values(shown)) {
    const { drift } = value as { drift?: { state: "missing" | "unplanned" | "differs" } };
    if (drift) counts[drift.state]++;
  }
}

test(
  "joined devices and two plans give the same view in whatever order they come",
  async () => {
    const property = fc.asyncProperty(scenario, async (given) => {
      const { isJoined, earlier, order, restartAfter, configured, stale, synced } = given;
      const final = withOthers(isJoined ? JOINED : [], given.final);
      const numbers = order[Symbol.iterator]();
      const early = shuffled(earlier, numbers);
      const pieces = [...early, ...shuffled([...final, ...withdrawals(earlier, final)], numbers)];
      let [current] = configured.map(({ settings }) => settings);
      if (!current) throw new Error("the test generates no settings");
      let net = new ClaimedNetwork(current);
      const facts = new Map<string, SourceFacts>();
      const batches: Batch[] = [];
      for (const [i, piece] of pieces.entries()) {
        const isLast = i === pieces.length - 1;
        if (i === restartAfter) {
          batches.push(...net.batches);
          const { view } = restoreView(net.log);
          expectSameIndexes(view, net.view);
          net = new ClaimedNetwork(current, net.log, undefined, undefined, view);
          await net.committer.mergeAgain();
        }
        for (const { settings, at } of configured) {
          if (at !== i) continue;
          current = settings;
          await net.committer.setSettings(settings);
        }
        for (const [n, name] of NAMES.entries()) {
          if (synced[n] !== i && !isLast) continue;
          facts.set(name, { hasSynced: true, ...(stale.includes(name) && { staleSince: 5 }) });
          await net.committer.setSourceFacts(name, facts.get(name) ?? { hasSynced: true });
        }
        await applyPiece(net, piece);
        if (!isCompared(i, pieces.length)) continue;
        const shown = shownBy(net.view);
        expect(shown).toEqual(await reported(current, facts, claimedAfter(pieces.slice(0, i + 1).flat())));
        count(net, shown);
      }
      expectSameIndexes(expectReplayed(net.view, net.log), net.view);
      expectUndone(net.view, [...batches, ...net.batches], expectSameSince);

      for (const name of NAMES) await net.source(name).replace({});
      for (const kind of [...KINDS, "claims", "missing"] as const) expect(net.view.size(kind)).toBe(0);
      await net.log.close();
    });
    await assertProperty(property, 20);
  },
  PROPERTY_TIMEOUT_MS,
);
