import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/property.ts";
import {
  BYTES_PER_STEP,
  COST,
  collectPaced,
  mapInSteps,
  mapPaced,
  Pause,
  runToEnd,
  SharedSteps,
  type Steps,
  sortInSteps,
} from "./steps.ts";

const countSteps = <Result>(steps: Steps<Result>): { result: Result; pauses: number } => {
  for (let pauses = 0; ; pauses++) {
    const { value, done } = steps.next();
    if (done) return { result: value, pauses };
  }
};

test("sorts like the built-in sort, stable, with a pause for every few hundred items", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 3000, size: "max" }), (numbers) => {
      const items = numbers.map((key, place) => ({ key, place }));
      const expected = items.toSorted((a, b) => a.key - b.key);
      const { result, pauses } = countSteps(sortInSteps([...items], (a, b) => a.key - b.key));
      expect(result).toEqual(expected);
      expect(pauses).toBeGreaterThanOrEqual(Math.floor(items.length / 1024));
    }),
    { numRuns: runs(30) },
  );
});

test("pauses are passed on and are no items", () => {
  const numbers = Array.from({ length: 1250 }, (_, n) => n);
  const items = mapPaced(
    mapInSteps(numbers, COST.key, (n) => (n % 2 === 0 ? n : undefined)),
    (n) => n * 10,
  );
  const even = numbers.filter((n) => n % 2 === 0);
  expect(countSteps(collectPaced(items))).toEqual({ result: even.map((n) => n * 10), pauses: 2 });
});

test("a pause is due after so many rounds of a loop, or as soon as their texts are long", () => {
  const pause = new Pause(3 * COST.key);
  const due = (...bytes: number[]) => pause.due(COST.key, ...bytes);
  expect([due(1), due(1), due(1), due(1)]).toEqual([false, false, true, false]);
  const long = new Pause();
  const third = BYTES_PER_STEP / 3;
  expect([third, third, third, 1].map((bytes) => long.due(COST.item, bytes))).toEqual([
    false,
    false,
    true,
    false,
  ]);
  long.count(BYTES_PER_STEP);
  expect([long.due(0), long.due(0, 0, BYTES_PER_STEP), long.due(0)]).toEqual([true, true, false]);
});

test("long texts are sorted in more steps, which compare fewer of them", () => {
  const items = Array.from({ length: 200 }, (_, n) => `${"x".repeat(16_000)}${(n * 7) % 200}`);
  let compared = 0;
  let most = 0;
  const steps = sortInSteps(
    [...items],
    (a, b) => {
      compared++;
      return a < b ? -1 : 1;
    },
    16_003,
  );
  for (let next = steps.next(); ; next = steps.next()) {
    most = Math.max(most, compared);
    compared = 0;
    if (!next.done) continue;
    expect(next.value).toEqual(items.toSorted());
    break;
  }
  expect(most).toBeLessThan(32);
});

test("a shared computation runs once, and every caller that waits for it advances it", () => {
  let steps = 0;
  function* compute(): Steps<string> {
    for (; steps < 6; steps++) yield;
    return "done";
  }
  const shared = new SharedSteps(compute());
  const [first, second] = [shared.result(), shared.result()];
  for (let i = 0; i < 3; i++) {
    expect(first.next().done).toBe(false);
    expect(second.next().done).toBe(false);
  }
  expect(first.next()).toEqual({ done: true, value: "done" });
  expect(runToEnd(second)).toBe("done");
  expect(runToEnd(shared.result())).toBe("done");
  expect(steps).toBe(6);
});
