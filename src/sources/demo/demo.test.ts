import { expect, test } from "bun:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import type { ClaimChange } from "../../model/claim.ts";
import { createDemoSource } from "./demo.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function start(churn: number) {
  const clock = new ManualClock();
  const abort = new AbortController();
  const batches: (readonly ClaimChange[])[] = [];
  let devices = 0;
  const source = createDemoSource({ name: "lab", churn, devices: 20, hosts: 50, seed: 1 }, { clock });
  const ended = source.run(
    {
      replace: async (all) => {
        devices = [...(all.devices ?? [])].length;
      },
      apply: async (changes) => void batches.push(changes),
      reject: () => {},
      markStale: () => {},
    },
    abort.signal,
  );
  const stop = () => {
    abort.abort();
    return ended;
  };
  return { clock, source, batches, devices: () => devices, stop };
}

test("claims the full set first, then one event at a time at the configured rate", async () => {
  const demo = start(1 / 3);
  await nextTurn();
  expect(demo.devices()).toBe(20);
  expect(demo.batches).toEqual([]);
  for (let event = 1; event <= 5; event++) {
    await demo.clock.advance(3000);
    expect(demo.source.metrics?.()).toEqual({ events_total: event });
  }
  await demo.stop();
  expect(demo.clock.sleeping).toBe(0);
});

test("events at a high rate come in batches, and none is lost", async () => {
  const demo = start(1000);
  await nextTurn();
  await demo.clock.advance(1000);
  expect(demo.source.metrics?.()).toEqual({ events_total: 1000 });
  expect(demo.batches.length).toBe(20);
  await demo.stop();
});

test("without churn there are no events until it is stopped", async () => {
  const demo = start(0);
  await nextTurn();
  await demo.clock.advance(600_000);
  expect(demo.batches).toEqual([]);
  await demo.stop();
});
