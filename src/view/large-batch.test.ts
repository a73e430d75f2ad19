/** Batches that grow with the network: what one step does is bounded, and what the visible turn does is constant. */
import { expect, spyOn, test } from "bun:test";
import { ClaimedNetwork, describeBatch, openMemoryLog, pagesOf } from "../../test/support/claims.ts";
import { createSteppingScheduler } from "../../test/support/stepping-scheduler.ts";
import type { HostClaim } from "../model/claim.ts";
import { observedSources } from "../model/merge-settings.ts";
import { History } from "./history.ts";

const DEVICE = "of:000000000000000a";
const HOSTS = 5000;
/** Texts parsed or written in one step. */
const MAX_TEXTS_PER_STEP = 256;
/** Entries of tables that are read or written when a batch becomes visible. */
const MAX_OPERATIONS_WHEN_VISIBLE = 100;

const hostsOn = (device: string, count = HOSTS): HostClaim[] =>
  Array.from({ length: count }, (_, n) => ({
    mac: `00:00:00:${(n >> 16).toString(16).padStart(2, "0")}:${((n >> 8) & 255).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`.toUpperCase(),
    vlan: "None",
    ipAddresses: [`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`],
    locations: [{ elementId: device, port: String(n % 48) }],
  }));

/** Counts calls of methods that handle one entry. */
function countCalls(...methods: [object: object, name: string][]) {
  const spies = methods.map(([object, name]) => spyOn(object as Record<string, () => void>, name));
  return {
    get calls() {
      return spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
    },
    reset() {
      for (const spy of spies) spy.mockClear();
    },
    [Symbol.dispose]() {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

/** Runs `commit` and returns the operations of the turn in which each of its batches became visible. */
async function operationsWhenVisible(net: ClaimedNetwork, commit: () => Promise<unknown>): Promise<number[]> {
  const operations: number[] = [];
  const publish = net.view.publish.bind(net.view);
  let counter: ReturnType<typeof countCalls> | undefined;
  net.view.publish = (prepared) => {
    counter = countCalls(
      [Map.prototype, "set"],
      [Map.prototype, "get"],
      [Map.prototype, "delete"],
      [Set.prototype, "add"],
      [Set.prototype, "delete"],
      [JSON, "parse"],
      [JSON, "stringify"],
    );
    publish(prepared);
  };
  // Registered last, so that the other listeners are counted.
  const unsubscribe = net.committer.onBatch(() => {
    operations.push(counter?.calls ?? Number.POSITIVE_INFINITY);
    counter?.[Symbol.dispose]();
  });
  await commit();
  unsubscribe();
  return operations;
}

test("a device that comes or goes with many hosts is one revision, prepared in bounded steps", async () => {
  let largest = 0;
  let steps = 0;
  using texts = countCalls([JSON, "parse"], [JSON, "stringify"]);
  const scheduler = createSteppingScheduler(() => {
    steps++;
    largest = Math.max(largest, texts.calls);
    texts.reset();
  });
  const net = new ClaimedNetwork(["first", "second"], openMemoryLog(), scheduler);
  const history = new History(net.committer, 1e9);
  await net.source("first").replace({ hosts: hostsOn(DEVICE) });
  expect(net.view.heldBack.hosts).toBe(HOSTS);
  expect(net.view.size("hosts")).toBe(0);

  const revision = net.view.revision;
  const onArrival = await operationsWhenVisible(net, () => net.set("second", "devices", { id: DEVICE }));
  expect(net.view.revision).toBe(revision + 1);
  expect(net.view.size("hosts")).toBe(HOSTS);
  expect(net.view.heldBack.hosts).toBe(0);
  expect(pagesOf(net.view, "hosts").reduce((sum, page) => sum + page.length, 0)).toBe(HOSTS);

  const onDeparture = await operationsWhenVisible(net, () => net.remove("second", "devices", DEVICE));
  expect(net.view.revision).toBe(revision + 2);
  expect(net.view.size("hosts")).toBe(0);
  expect(net.view.heldBack.hosts).toBe(HOSTS);
  expect([...net.view.indexes("hosts").named("location").keys()]).toEqual([]);
  const recent = history.recentBatches(revision) ?? [];
  expect(recent.map((batch) => describeBatch(batch).length)).toEqual([HOSTS + 1, HOSTS + 1]);

  for (const operations of [...onArrival, ...onDeparture])
    expect(operations).toBeLessThan(MAX_OPERATIONS_WHEN_VISIBLE);
  expect(steps).toBeGreaterThan(HOSTS / 32);
  expect(largest).toBeLessThan(MAX_TEXTS_PER_STEP);
}, 180_000);

test("the withdrawal of a source and its set again are split into revisions", async () => {
  const net = new ClaimedNetwork();
  await net.source("first").replace({ devices: [{ id: DEVICE }], hosts: hostsOn(DEVICE, 3000) });
  expect(net.batches.map((batch) => describeBatch(batch).length)).toEqual([1000, 1000, 1000, 1]);
  await net.source("first").replace({});
  expect(net.batches.slice(4).map((batch) => describeBatch(batch).length)).toEqual([1000, 1000, 1000, 1]);
  expect(describeBatch(net.batches.at(-1))).toEqual([`removed devices ${DEVICE}`]);
});

test("the small commit of a source gets through while another replaces a large set", async () => {
  const net = new ClaimedNetwork();
  const large = net.source("first").replace({ devices: [{ id: DEVICE }], hosts: hostsOn(DEVICE, 10_000) });
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const unsubscribe = net.committer.onBatch(() => resolve());
  await started;
  unsubscribe();
  const before = net.view.revision;
  const small = await net.source("second").apply([{ op: "set", kind: "devices", claim: { id: "of:b" } }]);
  expect(small).toBeUndefined();
  const own = net.batches.findIndex(({ entries }) => entries.some(({ id }) => id === "of:b"));
  // Behind the one that was being prepared, and before the next one.
  expect(own).toBeLessThanOrEqual(before + 1);
  await large;
  expect(net.batches.length).toBe(12);
}, 60_000);

test("a change of the precedence is merged in several revisions, between which others commit", async () => {
  const net = new ClaimedNetwork();
  const devices = Array.from({ length: 2000 }, (_, n) => `of:${n}`);
  await net.source("first").replace({ devices: devices.map((id) => ({ id, mfr: "one" })) });
  await net.source("second").replace({ devices: devices.map((id) => ({ id, mfr: "two" })) });
  const before = net.batches.length;
  const changing = net.committer.setSettings(observedSources(["second", "first", "third"]));
  const small = net.set("third", "devices", { id: "of:other" });
  await Promise.all([changing, small]);
  const own = net.batches.findIndex(({ entries }) => entries.some(({ id }) => id === "of:other"));
  expect(own).toBeLessThanOrEqual(before + 1);
  expect(net.batches.length).toBeGreaterThan(before + 3);
  expect(new Set(net.all("devices").map(({ mfr }) => mfr))).toEqual(new Set(["two", "unknown"]));
}, 60_000);
