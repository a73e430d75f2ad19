/** Many versions of the network at the same time: each keeps its content, whichever of them is read first. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { applyToSource, claimHistory } from "../../test/support/claim-history.ts";
import { ClaimedNetwork, snapshotNow } from "../../test/support/claims.ts";
import { runs } from "../../test/support/property.ts";
import { SOURCES } from "../../test/support/reference-view.ts";
import { runToEnd } from "../lib/steps.ts";
import { KINDS } from "../model/ids.ts";
import { Collection } from "./collection.ts";
import { History } from "./history.ts";
import type { NetworkState } from "./view.ts";

/** Advances each of the computations by one step, in turn, until all are over. */
function interleave<Result>(all: readonly Generator<unknown, Result, void>[]): Result[] {
  const results = new Map<number, Result>();
  while (results.size < all.length) {
    for (const [i, steps] of all.entries()) {
      if (results.has(i)) continue;
      const { value, done } = steps.next();
      if (done) results.set(i, value);
    }
  }
  return all.map((_, i) => results.get(i) as Result);
}

test("versions of a collection that are read at the same time in any order keep their values", () => {
  const write = fc.record({
    id: fc.integer({ min: 0, max: 900 }).map((n) => `k${String(n).padStart(3, "0")}`),
    after: fc.option(fc.nat({ max: 99 }).map(String), { freq: 3 }),
  });
  const batch = fc.record({
    writes: fc.uniqueArray(write, { maxLength: 700, selector: ({ id }) => id, size: "max" }),
    isRead: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 8 }), (batches) => {
      let collection = Collection.of([]);
      const model = new Map<string, string>();
      const versions: { collection: Collection; values: Map<string, string> }[] = [];
      for (const { writes, isRead } of batches) {
        let sizeChange = 0;
        for (const { id, after } of writes) {
          sizeChange += Number(after !== null) - Number(model.has(id));
          if (after === null) model.delete(id);
          else model.set(id, after);
        }
        collection = runToEnd(collection.withWrites(writes, sizeChange));
        collection.publish();
        if (isRead) runToEnd(collection.pages());
        versions.push({ collection, values: new Map(model) });
      }
      const read = versions
        .toReversed()
        .flatMap(({ collection: version }) => [version.pages(), version.pages()]);
      const pages = interleave(read);
      for (const [i, { collection: version, values }] of versions.toReversed().entries()) {
        const sorted = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
        expect(pages[2 * i]?.flatMap((page) => [...page.toMap()])).toEqual(sorted);
        expect(pages[2 * i + 1]).toBe(pages[2 * i] as never);
        expect(version.size).toBe(values.size);
        expect([...version.range("", "\uffff")].map(({ id, text }) => [id, text])).toEqual(sorted);
      }
    }),
    { numRuns: runs(20) },
  );
});

test("what readers of an older version rewrote is used by the newest one", () => {
  const values = Array.from({ length: 2000 }, (_, n) => ({
    id: `h${String(n).padStart(4, "0")}`,
    after: "1",
  }));
  const first = Collection.of(runToEnd(runToEnd(Collection.of([]).withWrites(values, 2000)).pages()));
  const changed = runToEnd(first.withWrites([{ id: "h0100", after: "2" }], 0));
  changed.publish();
  const newest = runToEnd(changed.withWrites([{ id: "h1900", after: "3" }], 0));
  newest.publish();
  expect([changed.pendingPages, newest.pendingPages]).toEqual([1, 2]);
  runToEnd(changed.pages());
  expect([changed.pendingPages, newest.pendingPages]).toEqual([0, 1]);
  expect([newest.get("h0100"), newest.get("h1900")]).toEqual(["2", "3"]);
});

function* contentsOf(state: NetworkState): Generator<undefined, unknown, void> {
  const values: string[] = [];
  for (const kind of KINDS) {
    for (const page of yield* withoutPromises(state.pages(kind))) {
      for (const [i, id] of page.ids().entries()) {
        expect(state.get(kind, id)).toBe(page.value(i));
        expect(state.shownId(kind, kind === "hosts" ? id : id.toUpperCase(), true)).toBe(id);
        values.push(`${kind} ${page.value(i)}`);
      }
    }
    values.push(`${kind} ${state.size(kind)}`);
  }
  const graph = yield* withoutPromises(state.linkGraph());
  const clusters = yield* withoutPromises(graph.clusters());
  return { values, clusters, graphTime: yield* withoutPromises(state.graphTime()) };
}

/** These computations wait for nothing but their turn. */
function* withoutPromises<Result>(
  steps: Generator<unknown, Result, void>,
): Generator<undefined, Result, void> {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    expect(value).toBeUndefined();
    yield undefined;
  }
}

test("earlier states that are built in steps, while commits go on, are the states of then", async () => {
  const property = fc.asyncProperty(claimHistory, async ({ steps, snapshotAfter }) => {
    const net = new ClaimedNetwork(SOURCES);
    const history = new History(net.committer, 1000);
    const expected = new Map<number, unknown>([[0, runToEnd(contentsOf(net.view.capture()))]]);
    const building: { revision: number; steps: Generator<unknown, NetworkState, void> }[] = [];
    const captured: { state: NetworkState; contents: unknown }[] = [];
    for (const [i, step] of steps.entries()) {
      // One step of each between two commits.
      for (const { steps: one } of building) one.next();
      await net.clock.advance(1000);
      await applyToSource(net.source(step.source), step);
      const state = net.view.capture();
      const contents = runToEnd(contentsOf(state));
      expected.set(state.revision, contents);
      captured.push({ state, contents });
      if (i === snapshotAfter) await net.log.writeSnapshot(snapshotNow(net.view));
      if (i % 3 === 0) {
        const revision = Math.floor(state.revision / 2);
        building.push({ revision, steps: history.stateAt(revision) });
      }
    }
    for (const { state, contents } of captured) expect(runToEnd(contentsOf(state))).toEqual(contents);
    for (const revision of expected.keys()) {
      const states = interleave([history.stateAt(revision), history.stateAt(revision)]);
      expect(states[0]).toBe(states[1] as NetworkState);
      for (const state of states) expect(runToEnd(contentsOf(state))).toEqual(expected.get(revision));
    }
    await net.log.close();
  });
  await fc.assert(property, { numRuns: runs(30) });
}, 180_000);
