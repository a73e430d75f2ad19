/**
 * Compares the view with a reference model. After every step of a random history of three sources the model merges all
 * claims from scratch; the result must equal what the committer computed incrementally.
 */
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { applyToReference, applyToSource, claimHistory } from "../../test/support/claim-history.ts";
import { ClaimedNetwork, clustersOf, pagesOf, snapshotNow } from "../../test/support/claims.ts";
import { assertProperty, COUNTS_CASES, PROPERTY_TIMEOUT_MS } from "../../test/support/property.ts";
import { type Json, ReferenceView, SOURCES } from "../../test/support/reference-view.ts";
import { expectUndone } from "../../test/support/replay.ts";
import { runToEnd, withoutPauses } from "../lib/steps.ts";
import { type LogEntry, STORE_KINDS, type StoreKind } from "../log/log.ts";
import { KINDS } from "../model/ids.ts";
import { restoreView } from "./restore.ts";
import { View } from "./view.ts";

const INDEXES: { readonly [K in StoreKind]: readonly string[] } = {
  devices: ["type", "available", "source", "alias", "identity"],
  ports: ["source"],
  links: ["src", "dst", "state", "source", "occupiedPort"],
  hosts: ["ip", "location", "source"],
  claims: ["device", "source", "portsOf", "identity", "claimedAs", "joined", "movedFrom"],
  missing: [],
  settings: [],
};

/** Everything in a view, as plain values. */
function contentsOf(view: View): unknown {
  const { revision, time, graphTime, versions } = view;
  const bytes = STORE_KINDS.map((kind) =>
    pagesOf(view, kind)
      .map((page) => page.bytes.toString())
      .join(","),
  );
  runToEnd(view.buildIndex("devices", "identity"));
  const indexes = STORE_KINDS.flatMap((kind) =>
    INDEXES[kind].map((name) => {
      const index = view.indexes(kind).named(name as never);
      return [kind, name, index.size, index.keys().map((key) => [key, ...[...index.get(key)].sort()])];
    }),
  );
  return {
    revision,
    time,
    graphTime,
    versions,
    bytes,
    indexes,
    clusters: clustersOf(view),
    heldBack: view.heldBack,
    storedClaims: view.storedClaims,
  };
}

/** Whether a device is removed under one spelling of its id and added under another. */
function respells(entries: readonly LogEntry[]): boolean {
  const keys = entries.filter(({ kind }) => kind === "devices").map(({ id }) => id.toLowerCase());
  return new Set(keys).size < keys.length;
}

function shownBy(view: View): Map<string, Json> {
  const shown = new Map<string, Json>();
  for (const kind of KINDS) {
    for (const page of pagesOf(view, kind)) {
      for (const [i, id] of page.ids().entries()) shown.set(`${kind} ${id}`, JSON.parse(page.value(i)));
    }
  }
  return shown;
}

const counts = { batches: 0, conflicts: 0, respelled: 0 };
afterAll(() => {
  if (!COUNTS_CASES) return;
  // Without conflicts the comparison would prove little.
  expect(counts.batches).toBeGreaterThan(100);
  expect(counts.conflicts).toBeGreaterThan(10);
  // So that the ids of links and ports follow the device.
  expect(counts.respelled).toBeGreaterThan(10);
});

test(
  "any history of claims gives the same view as merging all claims from scratch",
  async () => {
    const property = fc.asyncProperty(claimHistory, async ({ steps, snapshotAfter }) => {
      const net = new ClaimedNetwork(SOURCES);
      const reference = new ReferenceView();
      for (const [i, step] of steps.entries()) {
        await net.clock.advance(step.wait);
        const time = net.clock.now();
        applyToReference(reference, step);
        await applyToSource(net.source(step.source), step);
        reference.mergeAll(time);
        reference.revision = net.view.revision;
        expect(shownBy(net.view)).toEqual(reference.shown);
        if (i === snapshotAfter) await net.log.writeSnapshot(snapshotNow(net.view));
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

      expect(contentsOf(restoreView(net.log).view)).toEqual(expected);

      expectUndone(net.view, net.batches);
      await net.log.close();
    });
    await assertProperty(property, 150);
  },
  PROPERTY_TIMEOUT_MS,
);
