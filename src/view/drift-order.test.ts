/** What is missing does not depend on the order in which two plans report and sync, case by case. */
import { expect, test } from "bun:test";
import { ClaimedNetwork, pagesOf } from "../../test/support/claims.ts";
import type { MergeSettings, SourceSettings } from "../model/merge-settings.ts";

const settings = (...intended: string[]): MergeSettings => ({
  identity: ["serial"],
  sources: ["plan", "draft", "seen"].map((name): SourceSettings => {
    return { name, role: intended.includes(name) ? "intended" : "observed", merge: true };
  }),
});
const HOST = { mac: "00:00:00:00:00:01", locations: [{ elementId: "a", port: 1 }] };
const missingIn = (net: ClaimedNetwork): string[] =>
  pagesOf(net.view, "missing").flatMap((page) => [...page.ids()]);

test("a kind is not judged before a plan that contains it has synced, whatever another plan contains", async () => {
  const early = new ClaimedNetwork(settings("plan", "draft"));
  await early.set("draft", "hosts", HOST);
  await early.set("plan", "devices", { id: "a" });
  await early.sync("seen", "plan");
  const late = new ClaimedNetwork(settings("plan", "draft"));
  await late.set("plan", "devices", { id: "a" });
  await late.sync("seen", "plan");
  await late.set("draft", "hosts", HOST);
  for (const net of [early, late]) {
    expect(missingIn(net)).toEqual(["devices a"]);
    await net.sync("draft");
    expect(missingIn(net)).toEqual(["devices a", "hosts 00:00:00:00:00:01/None"]);
  }
});

test("nor is what differs", async () => {
  const net = new ClaimedNetwork(settings("plan", "draft"));
  await net.set("plan", "hosts", { ...HOST, mac: "00:00:00:00:00:02" });
  await net.set("seen", "devices", { id: "a" });
  await net.sync("seen", "plan");
  await net.set("draft", "devices", { id: "a", mfr: "m" });
  expect(net.shown("devices", "a")?.drift).toBeUndefined();
  await net.sync("draft");
  expect(net.shown("devices", "a")?.drift?.state).toBe("differs");
});

test("a missing link at a joined device has the id of the device before and after the device itself is judged", async () => {
  const net = new ClaimedNetwork(settings("plan", "draft"));
  await net.sync("seen", "draft");
  const link = { src: { device: "d", port: 1 }, dst: { device: "x", port: 1 } };
  await net.set("draft", "links", link);
  expect(missingIn(net)).toEqual(["links d/1-x/1"]);
  await net.set("plan", "devices", { id: "p", serial: "S1" });
  await net.set("draft", "devices", { id: "d", serial: "S1" });
  expect(missingIn(net)).toEqual(["devices p", "links p/1-x/1"]);
  await net.remove("draft", "links", "d/1-x/1");
  expect(missingIn(net)).toEqual(["devices p"]);
});

test("a source that becomes a plan leaves no missing link under the id that its device had", async () => {
  const net = new ClaimedNetwork(settings("draft"));
  await net.sync("seen", "plan", "draft");
  await net.set("seen", "devices", { id: "s", serial: "S1" });
  await net.set("plan", "devices", { id: "p", serial: "S1" });
  await net.set("seen", "links", { src: { device: "x", port: 1 }, dst: { device: "s", port: 1 } });
  await net.set("draft", "links", { src: { device: "x", port: 2 }, dst: { device: "y", port: 1 } });
  expect(missingIn(net)).toEqual(["links x/2-y/1"]);
  await net.committer.setSettings(settings("plan", "draft", "seen"));
  expect(missingIn(net)).toEqual(["devices p", "links x/1-p/1", "links x/2-y/1"]);
});
