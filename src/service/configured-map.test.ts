import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import type { MetricOutcome } from "../api/endpoints/map-source.ts";
import { silentLogger } from "../lib/logger.ts";
import { CachedMetric } from "./configured-map.ts";

const ABOUT = { name: "Load", unit: "%", max: 100, intervalSeconds: 30 };

function create() {
  const clock = new ManualClock();
  const running: ((outcome: MetricOutcome) => void)[] = [];
  const metric = new CachedMetric(
    ABOUT,
    clock,
    silentLogger,
    () => new Promise((resolve) => running.push(resolve)),
  );
  return { clock, running, metric };
}

const VALUES: MetricOutcome = { ok: true, json: Buffer.from("{}") };
const FAILURE: MetricOutcome = { ok: false, message: "nothing listens there" };

test("all readers within an interval share one query", async () => {
  const { clock, running, metric } = create();
  const reads = [metric.read(), metric.read(), metric.read()];
  expect(running).toHaveLength(1);
  running[0]?.(VALUES);
  expect(await Promise.all(reads)).toEqual([VALUES, VALUES, VALUES]);
  await clock.advance(29_999);
  expect(metric.read()).toBe(VALUES);
  expect(running).toHaveLength(1);
  await clock.advance(1);
  void metric.read();
  expect(running).toHaveLength(2);
});

test("a query that takes longer than the interval is waited for, not repeated", async () => {
  const { clock, running, metric } = create();
  const first = metric.read();
  await clock.advance(300_000);
  const second = metric.read();
  expect(running).toHaveLength(1);
  running[0]?.(VALUES);
  expect(await Promise.all([first, second])).toEqual([VALUES, VALUES]);
});

test("a failure replaces the values and is kept for an interval, too", async () => {
  const { clock, running, metric } = create();
  const first = metric.read();
  running[0]?.(VALUES);
  await first;
  await clock.advance(30_000);
  const second = metric.read();
  running[1]?.(FAILURE);
  expect(await second).toBe(FAILURE);
  expect(metric.read()).toBe(FAILURE);
  expect(running).toHaveLength(2);
  expect(metric.counts).toEqual({ ok: 1, failed: 1 });
  clock.setBy(86_400_000);
  expect(metric.read()).toBe(FAILURE);
});

test("an exception is a failure without its text", async () => {
  const metric = new CachedMetric(ABOUT, new ManualClock(), silentLogger, async () => {
    throw new Error("internal text");
  });
  expect(await metric.read()).toEqual({ ok: false, message: "the values cannot be read" });
});
