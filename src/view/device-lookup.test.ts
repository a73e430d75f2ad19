/** Devices by alias and by name, incremental and from scratch: in the view, in a loaded snapshot and in every state of the past. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { ClaimedNetwork, pagesOf, snapshotNow } from "../../test/support/claims.ts";
import { runs } from "../../test/support/property.ts";
import { runToEnd } from "../lib/steps.ts";
import type { ClaimChange } from "../model/claim.ts";
import { deviceKey, splitLinkId } from "../model/ids.ts";
import { DeviceLookup } from "./device-lookup.ts";
import { historicalStateAt } from "./historical-state.ts";
import type { RevisionState } from "./network-state.ts";
import { createReplicaLog, Replica } from "./replica.ts";
import { parseStored, View } from "./view.ts";

const IDS = ["a", "B", "c/1", "d"];
const id = fc.constantFrom(...IDS);
const ALIASES = [...IDS, "A", "b", "x", "X", "y-1"];
/** As devices are named, and as requests may name them. */
const NAMES = [...ALIASES, " x ", "Y-1", 'q"', "}", "\\", "", " "];
const TEXTS = [...NAMES, "\tX", 'Q"', "name"];

const change: fc.Arbitrary<ClaimChange> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({
        id,
        aliases: fc.array(fc.constantFrom(...ALIASES), { maxLength: 3 }),
        annotations: fc.dictionary(
          fc.constantFrom("name", "site", 'x"name', "a,", "zone"),
          fc.constantFrom(...NAMES, '{"name":"x"}'),
        ),
      })
      .map((claim): ClaimChange => ({ op: "set", kind: "devices", claim })),
  },
  {
    weight: 1,
    arbitrary: id.map((removed): ClaimChange => ({ op: "remove", kind: "devices", id: removed })),
  },
);
const steps = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 });

/** What each text means, from all devices of the view: with names, without them, and the devices between which it is ambiguous. */
function expectedOf(view: View): (readonly string[])[] {
  const devices = pagesOf(view, "devices").flatMap((page) =>
    page.ids().map((_, i) => parseStored("devices", page.value(i))),
  );
  return TEXTS.map((text) => {
    const id = deviceKey(text);
    const key = id.trim();
    const own = devices.find((device) => deviceKey(device.id) === id)?.id;
    const aliased = devices.filter(({ aliases }) => aliases?.some((alias) => deviceKey(alias) === key));
    const named = devices.filter(
      ({ id, annotations: { name = "" } }) =>
        key !== "" && deviceKey(name.trim()) === key && deviceKey(id) !== key,
    );
    const meant = (called: typeof devices) => own ?? (called.length === 1 ? called[0]?.id : undefined) ?? id;
    const called = aliased.length > 0 ? aliased : named;
    const candidates = own === undefined && called.length > 1 ? called.map((device) => device.id) : [];
    return [meant(aliased), meant(called), ...candidates.sort()];
  });
}

const shownBy = (state: RevisionState): (readonly string[])[] =>
  TEXTS.map((text) => [
    state.shownId("devices", text, false),
    state.shownId("devices", text, true),
    ...(state.findAmbiguousName("devices", text)?.candidates ?? []),
  ]);

test("every state resolves as one that is built from scratch", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const network = new ClaimedNetwork();
      const { view, log } = network;
      const states: [revision: number, shown: (readonly string[])[]][] = [];
      for (const [n, changes] of history.entries()) {
        await network.apply("first", ...changes);
        const expected = expectedOf(view);
        expect(shownBy(view.capture())).toEqual(expected);
        const loaded = new View();
        loaded.load(snapshotNow(view));
        expect(shownBy(loaded.capture())).toEqual(expected);
        states.push([view.revision, expected]);
        if (n === 2) await log.writeSnapshot(snapshotNow(view));
      }
      for (const [revision, expected] of states) {
        const { state } = runToEnd(historicalStateAt(view.capture(), log, revision));
        expect(shownBy(state)).toEqual(expected);
      }
      await log.close();
    }),
    { numRuns: runs(20) },
  );
}, 60_000);

test("a replica builds the states of its ring without the log", async () => {
  const replica = new Replica(createReplicaLog("id", new Uint8Array(32)), 1_000_000);
  const device = (aliases?: string[]) =>
    JSON.stringify({ id: "b", type: "SWITCH", available: true, sources: ["s"], ...(aliases && { aliases }) });
  await replica.completeSync({ revision: 5, time: 50, graphTime: 0, versions: replica.view.versions });
  for (const [n, aliases] of [["x"], undefined, ["y"]].entries()) {
    replica.addChange("devices", "b", device(aliases), []);
    await replica.commitUpTo(6 + n, 60 + n);
  }
  const stateAt = (revision: number) => runToEnd(replica.history.stateAt(revision));
  expect([5, 6, 7, 8].map((revision) => stateAt(revision).shownId("devices", "x", true))).toEqual([
    "x",
    "b",
    "x",
    "x",
  ]);
  expect([5, 6, 7, 8].map((revision) => stateAt(revision).time)).toEqual([50, 60, 61, 62]);
});

test("the view knows since when no alias and no name was lost", async () => {
  const network = new ClaimedNetwork();
  const { view } = network;
  const set = (id: string, called: { aliases?: string[]; annotations?: Record<string, string> }) =>
    network.set("first", "devices", { id, ...called });
  await set("a", {});
  await set("a", { aliases: ["x"], annotations: { name: "n" } });
  await set("b", { annotations: { name: "N" } });
  await set("a", { aliases: ["x"] });
  expect(view.namesKeptSince).toBe(0);
  await set("b", {});
  expect(view.namesKeptSince).toBe(view.revision);
  await set("b", { annotations: { name: "N" } });
  await set("a", {});
  expect(view.namesKeptSince).toBe(view.revision);
});

test("thousands of devices with one name cost as much as those that change", () => {
  const named = (n: number) => JSON.stringify({ id: `d${n}`, annotations: { name: "switch" } });
  const added = Array.from({ length: 5000 }, (_, n) => ({ id: `d${n}`, before: null, after: named(n) }));
  let lookup = runToEnd(DeviceLookup.empty.with(added));
  expect(lookup.find("switch", true)).toBeUndefined();
  expect(lookup.findAmbiguous("switch", "Switch")).toMatchObject({ name: "Switch", count: 5000 });
  expect(lookup.findAmbiguous("switch", "Switch")?.candidates).toHaveLength(10);
  const removed = added.slice(1).map(({ id, after }) => ({ id, before: after, after: null }));
  let steps = 0;
  for (const one of removed.slice(0, 2)) {
    const changing = lookup.with([one]);
    let next = changing.next();
    for (; !next.done; next = changing.next()) steps++;
    lookup = next.value;
  }
  expect(steps).toBe(0);
  lookup = runToEnd(lookup.with(removed.slice(2)));
  expect(lookup.find("switch", true)).toBe("d0");
  expect(lookup.find("switch", false)).toBeUndefined();
});

test.each([
  ["a/1-b/2", [["a", "1", "b", "2"]]],
  ["a-1/local-b/CONTROLLER", [["a-1", "local", "b", "controller"]]],
  [
    "a/1-b/2-c/3",
    [
      ["a", "1", "b/2-c", "3"],
      ["a/1-b", "2", "c", "3"],
    ],
  ],
  ["a/1-b", []],
  ["a/1", []],
  ["/1-/2", []],
])("splitLinkId %s", (link, expected) => {
  const found = splitLinkId(link).map(([src, dst]) => [src.device, src.port, dst.device, dst.port]);
  expect(found).toEqual(expected);
});

test("splitLinkId gives up on an id with many ways", () => {
  expect(splitLinkId(`${"a/1-".repeat(2000)}a/1`).length).toBe(16);
});
