/**
 * Records as large as they may be. A record over the limit is refused, counted and logged. With records at the limit, what
 * a step parses and encodes is bounded in bytes, on the way in and for every heavy read, and pages are small.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Scheduler } from "../../src/lib/scheduler.ts";
import { CLAIM_LIMITS, type DeviceClaim } from "../../src/model/claim.ts";
import { MAX_PAGE_BYTES } from "../../src/view/encoded-page.ts";
import { restoreView } from "../../src/view/restore.ts";
import { type Harness, openHarness } from "../api/harness.ts";
import { deviceId } from "../api/network.ts";
import { LARGEST_TEXTS, OVERSIZE_TEXTS } from "../support/attacks/sources.ts";
import { ClaimedNetwork, openMemoryLog, pagesOf } from "../support/claims.ts";
import { CountingScheduler } from "./counting-scheduler.ts";

const DEVICES = 120;
/** Of a record, the texts before and after its change, and those of the pages that it is read from. */
const MAX_BYTES_PER_STEP = 6 * CLAIM_LIMITS.bytes;
const TIMEOUT_MS = 120_000;

const device = (n: number, annotations: Readonly<Record<string, string>>): DeviceClaim => ({
  id: deviceId(n),
  annotations: { ...annotations, name: `switch ${n}` },
});
const largest = (texts = LARGEST_TEXTS): DeviceClaim[] =>
  Array.from({ length: DEVICES }, (_, n) => device(n, texts));

describe("on the way in", () => {
  test("a record over the limit is refused, counted and logged, and the others are committed", async () => {
    const net = new ClaimedNetwork(["first"]);
    await net.source("first").replace({ devices: [device(1, OVERSIZE_TEXTS), device(2, LARGEST_TEXTS)] });
    expect(net.all("devices").map(({ id }) => id)).toEqual([deviceId(2)]);
    expect(net.source("first").rejectedCount).toBe(1);
    expect(net.logLines).toHaveLength(1);
    expect(net.logLines[0]).toMatch(
      new RegExp(`record refused .*record=${deviceId(1)}.*must not have more than 65536 bytes as JSON`),
    );
  });

  test("one that the log of an earlier version has stays, until its source reports it again", async () => {
    const log = openMemoryLog();
    const claim = device(1, OVERSIZE_TEXTS);
    const before = new ClaimedNetwork(["first"], log);
    await before.committer.commit("first", [{ kind: "devices", id: claim.id, claim }]);
    const { view } = restoreView(log);
    const net = new ClaimedNetwork(["first"], log, new Scheduler(), undefined, view);
    await net.set("first", "devices", device(2, LARGEST_TEXTS));
    expect(net.shown("devices", claim.id)?.annotations).toMatchObject({ ...claim.annotations });
    expect((await net.source("first").lastClaims()).devices).toContainEqual(claim);
    await net.source("first").replace({ devices: [claim, device(2, LARGEST_TEXTS)] });
    expect(net.all("devices").map(({ id }) => id)).toEqual([deviceId(2)]);
    expect(net.source("first").rejectedCount).toBe(1);
  });

  test("records at the limit are added, changed and removed in steps and batches of bounded bytes", async () => {
    const scheduler = CountingScheduler.create();
    const net = new ClaimedNetwork(["first"], openMemoryLog(), scheduler);
    const unwatch = scheduler.watchJson();
    try {
      await net.source("first").replace({ devices: largest() });
      await net.source("first").replace({ devices: largest({ ...LARGEST_TEXTS, changed: "yes" }) });
      expect(net.view.size("devices")).toBe(DEVICES);
      await net.source("first").replace({});
    } finally {
      unwatch();
    }
    expect(net.view.size("devices")).toBe(0);
    expect(scheduler.counts.mostBytes).toBeLessThan(MAX_BYTES_PER_STEP);
    for (const { entries } of net.batches)
      expect(entries.reduce((sum, { after }) => sum + (after?.length ?? 0), 0)).toBeLessThan(10_000_000);
  });
});

describe("reads of records at the limit", () => {
  const scheduler = CountingScheduler.create();
  let service: Harness;
  beforeAll(async () => {
    service = await openHarness({ scheduler });
    await service.replace({ devices: largest() });
    await service.replace({ devices: largest({ ...LARGEST_TEXTS, changed: "yes" }) });
  }, TIMEOUT_MS);
  afterAll(() => service.stop());

  test("are from pages of at most 256 KiB", () => {
    const pages = pagesOf(service.view, "devices");
    expect(pages.length).toBeGreaterThan((DEVICES * CLAIM_LIMITS.bytes * 0.9) / MAX_PAGE_BYTES);
    for (const { bytes } of pages) expect(bytes.length).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  });

  test.each([
    "devices?q=switch",
    "devices?annotations.name=switch%207",
    "devices?id=0-59&annotations.name=switch%207",
    "devices?sort=-annotations.name",
    "devices?sort=annotations.text0&limit=10",
    "devices?fields=id",
    "devices?format=csv",
    "topology?format=graphml",
    "topology?format=rfc8345",
    "topology?diff=1..",
    "topology?since=1",
    "topology?since=1&fold=true",
    "topology/search?q=switch",
    "topology/problems",
    "devices?at=2",
  ])("%s: no step handles more than a few records", async (given) => {
    const ids = Array.from({ length: 60 }, (_, n) => deviceId(n)).join(",");
    const path = given.replace("0-59", ids);
    scheduler.counts.mostBytes = 0;
    const unwatch = scheduler.watchJson();
    try {
      const response = await service.fetch(path, { headers: { "accept-encoding": "identity" } });
      await response.arrayBuffer();
      expect(response.status).toBe(200);
    } finally {
      unwatch();
    }
    expect(scheduler.counts.mostBytes).toBeLessThan(MAX_BYTES_PER_STEP);
  });
});
