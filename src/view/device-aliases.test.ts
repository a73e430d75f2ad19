/** The map of aliases, incremental and from scratch: in the view, in a loaded snapshot and in every state of the past. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { ClaimedNetwork, pagesOf, snapshotNow } from "../../test/support/claims.ts";
import { runToEnd } from "../lib/steps.ts";
import type { ClaimChange } from "../model/claim.ts";
import { deviceKey, splitLinkId } from "../model/ids.ts";
import { historicalStateAt } from "./historical-state.ts";
import type { RevisionState } from "./network-state.ts";
import { createReplicaLog, Replica } from "./replica.ts";
import { parseStored, View } from "./view.ts";

const IDS = ["a", "B", "c/1", "d"];
const id = fc.constantFrom(...IDS);
const NAMES = [...IDS, "A", "b", "x", "X", "y-1"];

const change: fc.Arbitrary<ClaimChange> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({ id, aliases: fc.array(fc.constantFrom(...NAMES), { maxLength: 3 }) })
      .map((claim): ClaimChange => ({ op: "set", kind: "devices", claim })),
  },
  {
    weight: 1,
    arbitrary: id.map((removed): ClaimChange => ({ op: "remove", kind: "devices", id: removed })),
  },
);
const steps = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 });

/** What each name means, from all devices of the view. */
function expectedOf(view: View): string[] {
  const devices = pagesOf(view, "devices").flatMap((page) =>
    page.ids.map((_, i) => parseStored("devices", page.value(i))),
  );
  return NAMES.map((name) => {
    const key = deviceKey(name);
    const own = devices.find((device) => deviceKey(device.id) === key);
    const [only, ...others] = devices.filter(({ aliases }) =>
      aliases?.some((alias) => deviceKey(alias) === key),
    );
    return own?.id ?? (only && others.length === 0 ? only.id : key);
  });
}

const shownBy = (state: Pick<RevisionState, "shownId">): string[] =>
  NAMES.map((name) => state.shownId("devices", name));

const sorted = (state: RevisionState) =>
  NAMES.map((name) => [name, state.aliases.get(deviceKey(name))] as const);

test("every state resolves as one that is built from scratch", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const network = new ClaimedNetwork();
      const { view, log } = network;
      const states: [revision: number, shown: string[]][] = [];
      for (const [n, changes] of history.entries()) {
        await network.apply("first", ...changes);
        const expected = expectedOf(view);
        expect(shownBy(view.capture())).toEqual(expected);
        const loaded = new View();
        loaded.load(snapshotNow(view));
        expect(sorted(loaded.capture())).toEqual(sorted(view.capture()));
        expect(loaded.capture().aliases.size).toBe(view.capture().aliases.size);
        states.push([view.revision, expected]);
        if (n === 2) await log.writeSnapshot(snapshotNow(view));
      }
      for (const [revision, expected] of states) {
        const { state } = runToEnd(historicalStateAt(view.capture(), log, revision));
        expect(shownBy(state)).toEqual(expected);
      }
      await log.close();
    }),
    { numRuns: 40 },
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
  expect([5, 6, 7, 8].map((revision) => stateAt(revision).shownId("devices", "x"))).toEqual([
    "x",
    "b",
    "x",
    "x",
  ]);
  expect([5, 6, 7, 8].map((revision) => stateAt(revision).time)).toEqual([50, 60, 61, 62]);
});

test("the view knows since when no device has an alias", async () => {
  const network = new ClaimedNetwork();
  const { view } = network;
  await network.set("first", "devices", { id: "a" });
  expect(view.withoutAliasesSince).toBe(0);
  await network.set("first", "devices", { id: "a", aliases: ["x"] });
  expect(view.withoutAliasesSince).toBe(Number.POSITIVE_INFINITY);
  await network.set("first", "devices", { id: "a" });
  expect(view.withoutAliasesSince).toBe(view.revision);
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
