/**
 * Reads between the steps of commits. At every pause a reader must see one complete revision, equal to what the reference
 * model gives, and must find all of it through the indexes.
 */

import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { applyToReference, applyToSource, claimHistory } from "../../test/support/claim-history.ts";
import { ClaimedNetwork, openMemoryLog } from "../../test/support/claims.ts";
import { COUNTS_CASES, runs } from "../../test/support/property.ts";
import { type Json, ReferenceView, SOURCES } from "../../test/support/reference-view.ts";
import { createSteppingScheduler } from "../../test/support/stepping-scheduler.ts";
import { runToEnd } from "../lib/steps.ts";
import { type Log, LogError } from "../log/log.ts";
import { ipKey } from "../model/address.ts";
import type { Host, Link } from "../model/entity.ts";
import { deviceKey, KINDS } from "../model/ids.ts";
import type { NetworkState, View } from "./view.ts";

/** Everything a state shows: what its pages have, and the same by look-up. */
function shownBy(state: NetworkState): Map<string, Json> {
  const shown = new Map<string, Json>();
  for (const kind of KINDS) {
    for (const page of runToEnd(state.pages(kind))) {
      for (const [i, id] of page.ids().entries()) {
        expect(state.get(kind, id)).toBe(page.value(i));
        expect(state.shownId(kind, id.toUpperCase(), true)).toBe(kind === "hosts" ? id.toUpperCase() : id);
        shown.set(`${kind} ${id}`, JSON.parse(page.value(i)));
      }
    }
    expect(state.size(kind)).toBe([...shown.keys()].filter((key) => key.startsWith(`${kind} `)).length);
  }
  return shown;
}

/** The ids of hosts and links that must be found under each key. */
function expectedKeys(shown: ReadonlyMap<string, Json>): Map<string, Set<string>> {
  const expected = new Map<string, Set<string>>();
  const add = (kind: string, name: string, key: string, id: string) => {
    const full = JSON.stringify([kind, name, key]);
    expected.set(full, (expected.get(full) ?? new Set()).add(id));
  };
  for (const [key, json] of shown) {
    const [kind = "", ...rest] = key.split(" ");
    const id = rest.join(" ");
    for (const source of json.sources as string[]) add(kind, "source", source, id);
    if (kind === "links") add(kind, "src", deviceKey((json as Link).src.device), id);
    if (kind !== "hosts") continue;
    for (const ip of (json as Host).ipAddresses) add(kind, "ip", ipKey(ip), id);
    for (const { elementId } of (json as Host).locations) add(kind, "location", deviceKey(elementId), id);
  }
  return expected;
}

function expectIndexed(state: NetworkState, shown: ReadonlyMap<string, Json>): void {
  for (const [full, ids] of expectedKeys(shown)) {
    const [kind, name, key] = JSON.parse(full);
    const found = [...(state.findIndex(kind, name)?.get(key) ?? [])];
    expect(new Set(found).size).toBe(found.length);
    if (state.indexesAreExact) expect(new Set(found)).toEqual(ids);
    else expect([...ids].filter((id) => !found.includes(id))).toEqual([]);
  }
}

const counts = { pauses: 0, inexact: 0, failed: 0 };
afterAll(() => {
  if (!COUNTS_CASES) return;
  expect(counts.pauses).toBeGreaterThan(1000);
  expect(counts.inexact).toBeGreaterThan(500);
  expect(counts.failed).toBeGreaterThan(20);
});

/** A log whose appends fail on demand. */
function unreliable(log: Log, state: { isFull: boolean }): Log {
  return new Proxy(log, {
    get(target, property) {
      if (property === "append" && state.isFull)
        return () => Promise.reject(new LogError("write-failed", "the disk is full"));
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("at every pause of a commit, readers see one complete revision", async () => {
  const property = fc.asyncProperty(
    claimHistory,
    fc.array(fc.integer({ min: 0, max: 5 }).map((n) => n === 0)),
    async ({ steps }, failures) => {
      const reference = new ReferenceView();
      const disk = { isFull: false };
      let view: View | undefined;
      let revisionBefore = 0;
      let shownBefore = reference.shown;
      const check = () => {
        if (!view) return;
        const state = view.capture();
        counts.pauses++;
        if (!state.indexesAreExact) counts.inexact++;
        const expected = state.revision === revisionBefore ? shownBefore : reference.shown;
        expect(shownBy(state)).toEqual(expected);
        expectIndexed(state, expected);
      };
      const log = unreliable(openMemoryLog(), disk);
      const net = new ClaimedNetwork(SOURCES, log, createSteppingScheduler(check), 1);
      view = net.view;
      for (const [i, step] of steps.entries()) {
        await net.clock.advance(step.wait);
        revisionBefore = net.view.revision;
        shownBefore = reference.shown;
        const claims = structuredClone(reference.claims);
        applyToReference(reference, step);
        reference.mergeAll(net.clock.now());
        disk.isFull = failures[i] === true;
        const committed = await applyToSource(net.source(step.source), step).then(
          () => true,
          () => false,
        );
        if (!committed) {
          counts.failed++;
          reference.shown = shownBefore;
          reference.claims.clear();
          for (const [source, sourceClaims] of claims) reference.claims.set(source, sourceClaims);
        }
        reference.revision = net.view.revision;
        check();
        expect(net.view.indexesAreExact).toBe(true);
      }
      await log.close();
    },
  );
  await fc.assert(property, { numRuns: runs(120) });
}, 300_000);
