import { expect, test } from "bun:test";
import { ClaimedNetwork } from "../../test/support/claims.ts";
import { createLogger } from "../lib/logger.ts";
import { runToEnd } from "../lib/steps.ts";
import { History } from "./history.ts";
import { findUnknownDevices, logUnknownDevices } from "./unknown-devices.ts";

const link = (a: string, b: string) => ({ src: { device: a, port: "1" }, dst: { device: b, port: "1" } });
const MAC = "00:00:00:00:00:01";

/** `leaf` is known as `a`, `typo` is nobody, and `planned` is in the plan only. */
async function network(): Promise<ClaimedNetwork> {
  const net = new ClaimedNetwork({
    identity: [],
    sources: [
      { name: "first", role: "observed", merge: true },
      { name: "plan", role: "intended", merge: true },
    ],
  });
  await net.set("first", "devices", { id: "a", aliases: ["leaf"] });
  await net.set(
    "first",
    "links",
    link("A", "LEAF"),
    link("a", "Typo"),
    link("typo", "a"),
    link("a", "planned"),
  );
  await net.set("first", "hosts", { mac: MAC, locations: [{ elementId: "typo", port: "2" }] });
  await net.set("plan", "devices", { id: "planned" });
  await net.set("plan", "links", link("planned", "mistyped"));
  return net;
}

test("devices that are referred to and that nobody reports, once every source has reported", async () => {
  const net = await network();
  const now = () => runToEnd(findUnknownDevices(net.view.capture()));
  expect(now()).toEqual([]);
  await net.sync("first");
  expect(now()).toEqual([]);
  await net.sync("plan");
  const expected = [
    { key: "mistyped", id: "mistyped", references: 1, sources: ["plan"] },
    {
      key: "typo",
      id: "typo",
      references: 3,
      sources: ["first"],
      example: { kind: "hosts", id: `${MAC}/None` },
    },
  ];
  const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
  expect(now().toSorted(byKey)).toMatchObject(expected);
  // A state of the past has no index.
  const revision = net.view.revision;
  await net.set("first", "devices", { id: "typo" });
  expect(now()).toMatchObject([{ key: "mistyped" }]);
  const past = runToEnd(new History(net.committer, 1_000_000).stateAt(revision));
  expect(runToEnd(findUnknownDevices(past)).toSorted(byKey)).toMatchObject(expected);
});

test("one line in the log for each device that is new among them", async () => {
  const net = await network();
  await net.sync("first", "plan");
  const lines: string[] = [];
  const stop = new AbortController();
  const logger = createLogger((line) => lines.push(line));
  const ended = logUnknownDevices(net.committer, net.clock, logger, stop.signal);
  const nextCheck = async () => {
    await net.clock.advance(5000);
    // The computation is a task of the scheduler.
    await net.committer.scheduler.run("test", (function* () {})());
  };
  await nextCheck();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("devices=2 records=4 examples=");
  expect(lines[0]).toContain("mistyped (links planned/1-mistyped/1)");
  await net.set("first", "hosts", { mac: MAC, locations: [{ elementId: "typo", port: "3" }] });
  await nextCheck();
  expect(lines).toHaveLength(1);
  await net.set("first", "links", link("a", "other"));
  await nextCheck();
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("devices=3 records=5");
  stop.abort();
  await ended;
});
