import { expect, test } from "bun:test";
import { runInSlices, SlicedWork } from "./pacing.ts";

test("short work ends within the call", () => {
  let steps = 0;
  void runInSlices(
    (function* () {
      for (; steps < 10; steps++) yield;
    })(),
  );
  expect(steps).toBe(10);
});

test("an exception is reported, and a request meanwhile runs the work again", async () => {
  const events: string[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let fails = true;
  const work = new SlicedWork(
    function* () {
      yield;
      if (fails) throw new Error("a step failed");
      events.push("done");
      end();
    },
    (error) => events.push(String(error)),
  );
  work.request();
  fails = false;
  work.request();
  await ended;
  expect(events).toEqual(["Error: a step failed", "done"]);
  await new Promise((resolve) => setImmediate(resolve));
  work.request();
  expect(events).toEqual(["Error: a step failed", "done", "done"]);
});
