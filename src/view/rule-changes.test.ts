import { describe, expect, test } from "bun:test";
import { ClaimedNetwork, describeBatch, openMemoryLog } from "../../test/support/claims.ts";
import { runToEnd } from "../lib/steps.ts";
import { type MergeSettings, observedSources } from "../model/merge-settings.ts";
import { Committer } from "./committer.ts";
import { historicalStateAt } from "./historical-state.ts";
import { MergeRules } from "./merge-rules.ts";
import { restoreView } from "./restore.ts";
import { parseStored, type View } from "./view.ts";

const A = "of:000000000000000a";
const B = "of:000000000000000b";
const mfrOf = (view: View, id = A) => parseStored("devices", view.get("devices", id) ?? "{}").mfr;

/** Device A of both sources, B of the second one only. */
async function twoSources(): Promise<ClaimedNetwork> {
  const net = new ClaimedNetwork();
  await net.set("first", "devices", { id: A.toUpperCase().replace("OF", "of"), mfr: "one" });
  await net.set("second", "devices", { id: A, mfr: "two", hw: "h2" }, { id: B, mfr: "two" });
  return net;
}
const live = { hasSynced: true };

describe("a source that becomes stale", () => {
  test("gives its fields to live ones, and gets them back; id and order of sources stay", async () => {
    const net = await twoSources();
    const [shown] = net.all("devices").filter(({ sources }) => sources.length === 2);
    const id = shown?.id ?? "";
    // As at a start, where nothing has changed.
    await net.committer.mergeAgain();
    expect(shown).toMatchObject({ mfr: "one", hw: "h2", sources: ["first", "second"] });
    await net.committer.setSourceFacts("first", { ...live, staleSince: net.clock.now() });
    expect(describeBatch(net.batches.at(-1))).toEqual([`updated devices ${id} (mfr)`]);
    expect(net.shown("devices", id)).toMatchObject({ mfr: "two", sources: ["first", "second"] });
    const staleAt = net.view.revision;
    await net.committer.setSourceFacts("first", live);
    expect(net.shown("devices", id)).toMatchObject({ mfr: "one" });
    expect(net.view.revision).toBe(staleAt + 1);
    // The past has the rules of its time.
    for (const [revision, mfr, isStale] of [
      [staleAt - 1, "one", false],
      [staleAt, "two", true],
      [staleAt + 1, "one", false],
    ] as const) {
      const { state } = runToEnd(historicalStateAt(net.view.capture(), net.log, revision));
      expect(parseStored("devices", state.get("devices", id) ?? "{}").mfr).toBe(mfr);
      expect(MergeRules.read(state).isStale("first")).toBe(isStale);
    }
  });

  test("and shares nothing is one revision without a public change", async () => {
    const net = await twoSources();
    await net.committer.setSourceFacts("third", { ...live, staleSince: 5 });
    const batch = net.batches.at(-1);
    expect(batch?.entries.map(({ kind, id, after }) => [kind, id, after])).toEqual([
      ["settings", "source:third", '{"hasSynced":true,"staleSince":5}'],
    ]);
    const { revision } = net.view;
    await net.committer.setSourceFacts("third", { ...live, staleSince: 5 });
    await net.committer.setSourceFacts("nobody", { ...live, staleSince: 5 });
    expect(net.view.revision).toBe(revision);
  });

  test("that it has synced is stored with the next change", async () => {
    const net = await twoSources();
    const { revision } = net.view;
    await net.committer.setSourceFacts("second", live);
    expect(net.view.revision).toBe(revision);
    await net.set("second", "devices", { id: B, mfr: "three" });
    expect(net.view.get("settings", "source:second")).toBe('{"hasSynced":true}');
  });

  test("claims that arrive while it is stale are merged by the new rules", async () => {
    const net = await twoSources();
    const changing = net.committer.setSourceFacts("first", { ...live, staleSince: 1 });
    await Promise.all([changing, net.set("first", "devices", { id: B, mfr: "one" })]);
    expect(mfrOf(net.view, B)).toBe("two");
  });
});

describe("settings", () => {
  const swapped = observedSources(["second", "first", "third"]);

  test("of another order are stored, and merge again what several sources claim", async () => {
    const net = await twoSources();
    await net.committer.setSettings(swapped);
    expect(net.view.get("settings", "merge")).toBe(JSON.stringify(swapped));
    expect(mfrOf(net.view)).toBe("two");
  });

  test("are compared with those of the log at a start", async () => {
    const net = await twoSources();
    const restored = restoreView(net.log).view;
    const committer = new Committer(restored, net.log, net.clock, swapped);
    await committer.mergeAgain();
    expect(mfrOf(restored)).toBe("two");
    const { revision } = restored;
    const again = new Committer(restoreView(net.log).view, net.log, net.clock, swapped);
    await again.mergeAgain();
    expect(again.view.revision).toBe(revision);
  });

  test("of a source that is no longer configured stay, and its place, until it is forgotten", async () => {
    const net = await twoSources();
    await net.committer.setSourceFacts("first", { ...live, staleSince: 1 });
    const others: MergeSettings = observedSources(["second", "third"]);
    await net.committer.setSettings(others);
    expect(net.committer.rules.isStale("first")).toBe(true);
    expect(net.committer.rules.settings.sources.map(({ name }) => name)).toEqual([
      "first",
      "second",
      "third",
    ]);
    await net.source("first").replace({});
    await net.committer.forgetSource("first");
    expect(net.view.get("settings", "source:first")).toBeUndefined();
    expect(net.view.get("settings", "merge")).toBe(JSON.stringify(others));
  });

  test("that were not applied to all values before a crash are applied at the next start", async () => {
    const log = openMemoryLog();
    const net = new ClaimedNetwork(undefined, log);
    const devices = Array.from({ length: 1200 }, (_, i) => ({ id: `of:${i}` }));
    await net.source("first").replace({ devices: devices.map((device) => ({ ...device, mfr: "one" })) });
    await net.source("second").replace({ devices: devices.map((device) => ({ ...device, mfr: "two" })) });
    const before = net.batches.length;
    await net.committer.setSettings(swapped);
    const batches = net.batches.slice(before);
    expect(batches.map(({ entries }) => entries.filter(({ kind }) => kind === "devices").length)).toEqual([
      500, 500, 200,
    ]);
    // The log up to the first of these batches.
    const first = batches[0]?.revision ?? 0;
    const half = openMemoryLog();
    for (const batch of net.batches) if (batch.revision <= first) await half.append(batch);
    const { view } = restoreView(half);
    const count = () => devices.filter(({ id }) => mfrOf(view, id) === "two").length;
    expect(count()).toBe(500);
    await new Committer(view, half, net.clock, swapped).mergeAgain();
    expect(count()).toBe(1200);
    expect([view.get("settings", "unmerged"), net.view.get("settings", "unmerged")]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

test("what could not be stored is merged with the next claims of a source", async () => {
  const log = openMemoryLog();
  let fails = false;
  const append = log.append.bind(log);
  log.append = (batch) => (fails ? Promise.reject(new Error("disk full")) : append(batch));
  const net = new ClaimedNetwork(observedSources(["first", "second"]), log);
  await net.set("first", "devices", { id: A, mfr: "one" });
  await net.set("second", "devices", { id: A, mfr: "two" });
  fails = true;
  const reordered = net.committer.setSettings(observedSources(["second", "first"]));
  await expect(reordered).rejects.toThrow("disk full");
  expect(mfrOf(net.view)).toBe("one");
  fails = false;
  await net.set("second", "devices", { id: B });
  expect(mfrOf(net.view)).toBe("two");
});
