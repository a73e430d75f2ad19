/**
 * The joined view depends on what the sources claim, not on the order in which they report it. Three sources with overlaps,
 * conflicts and copied values report in random order and random pieces, with withdrawals and restarts.
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
import type { Batch } from "../../log/log.ts";
import { KINDS } from "../../model/ids.ts";
import type { MergeSettings } from "../../model/merge-settings.ts";
import { claimedKeysOf } from "../claim-ingest.ts";
import { restoreView } from "../restore.ts";

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

/** Three ids of one device, so that most runs have ports to match. */
const JOINED = [
  deviceOf("first", "of:1", "S3"),
  deviceOf("second", "lldp:a", "S3"),
  deviceOf("third", "snmp:x", "S3"),
];
const sourced = claimOfAny(...NAMES, "first", "second", "third");

const scenario = fc.record({
  isJoined: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
  /** What is claimed in the end: one claim for each source and id. */
  final: fc.uniqueArray(sourced, { selector: keyOf, minLength: 8, maxLength: 45 }),
  /** Claims that come first, in the way of the others, and are replaced or withdrawn. */
  earlier: fc.array(sourced, { maxLength: 12 }),
  order: fc.infiniteStream(fc.nat(1000)),
  restartAfter: fc.nat(20),
});

const counts = { joined: 0, flagged: 0, renumbered: 0 };
afterAll(() => {
  if (!COUNTS_CASES) return;
  // Without these the comparison would prove little.
  expect(counts.joined).toBeGreaterThan(20);
  expect(counts.flagged).toBeGreaterThan(5);
  expect(counts.renumbered).toBeGreaterThan(1);
});

/** What is shown when each source reports its claims at once. */
async function reported(claims: readonly Sourced[]): Promise<Record<string, unknown>> {
  const net = new ClaimedNetwork(SETTINGS);
  await reportAll(net, claims);
  await net.log.close();
  return shownBy(net.view);
}

function count(net: ClaimedNetwork, shown: Record<string, unknown>): void {
  counts.joined += net.view.indexes("claims").named("joined").size;
  for (const [key, value] of Object.entries(shown)) {
    const { annotations } = value as { annotations?: Record<string, string> };
    if (key.startsWith("devices ") && annotations?.conflict) counts.flagged++;
    if (/^ports .*\/1\d{9}$/.test(key)) counts.renumbered++;
  }
}

test(
  "three sources give the same view in whatever order they report",
  async () => {
    const property = fc.asyncProperty(
      scenario,
      async ({ isJoined, final: generated, earlier, order, restartAfter }) => {
        const final = withOthers(isJoined ? JOINED : [], generated);
        const numbers = order[Symbol.iterator]();
        const early = shuffled(earlier, numbers);
        const pieces = [...early, ...shuffled([...final, ...withdrawals(earlier, final)], numbers)];
        let net = new ClaimedNetwork(SETTINGS);
        const batches: Batch[] = [];
        for (const [i, piece] of pieces.entries()) {
          if (i === restartAfter) {
            batches.push(...net.batches);
            net = new ClaimedNetwork(SETTINGS, net.log, undefined, undefined, restoreView(net.log).view);
          }
          await applyPiece(net, piece);
          if (!isCompared(i, pieces.length)) continue;
          const shown = shownBy(net.view);
          expect(shown).toEqual(await reported(claimedAfter(pieces.slice(0, i + 1).flat())));
          count(net, shown);
        }
        expectReplayed(net.view, net.log);
        expectUndone(net.view, [...batches, ...net.batches]);

        // Every claim is found again by the source that made it, and nothing is left when all are withdrawn.
        for (const name of NAMES) {
          const keys = await net.committer.runBetweenCommits(name, claimedKeysOf(net.view, name));
          const own = KINDS.flatMap((kind) => [...keys[kind]].map((key) => `${name} ${kind} ${key}`));
          expect(own.sort()).toEqual(
            final
              .map(keyOf)
              .filter((key) => key.startsWith(`${name} `))
              .sort(),
          );
          await net.source(name).replace({});
        }
        for (const kind of [...KINDS, "claims"] as const) {
          expect(net.view.size(kind)).toBe(0);
          expect(net.view.indexes(kind).named("source" as never).size).toBe(0);
        }
        await net.log.close();
      },
    );
    await assertProperty(property, 50);
  },
  PROPERTY_TIMEOUT_MS,
);
