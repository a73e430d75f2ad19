import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  BYTES_PER_STEP,
  collectPaced,
  mapPaced,
  Pace,
  pausing,
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
    { numRuns: 30 },
  );
});

test("pauses are passed on and are no items", () => {
  const items = mapPaced(pausing([1, 2, 3, 4, 5], 2), (n) => n * 10);
  expect(countSteps(collectPaced(items))).toEqual({ result: [10, 20, 30, 40, 50], pauses: 2 });
});

test("a pause is due after so many items, or as soon as their texts are long", () => {
  const pace = new Pace(3);
  const third = BYTES_PER_STEP / 3;
  expect([1, 1, 1, 1].map((bytes) => pace.isDue(bytes))).toEqual([false, false, true, false]);
  expect([third, third, third, 1].map((bytes) => pace.isDue(bytes))).toEqual([false, true, false, false]);
  pace.count(BYTES_PER_STEP);
  expect([pace.isDue(), pace.isDue(0, BYTES_PER_STEP), pace.isDue()]).toEqual([true, true, false]);
  const texts = ["a", "b", "c"];
  expect([...pausing(texts, 2, () => BYTES_PER_STEP)]).toEqual([
    "a",
    undefined,
    "b",
    undefined,
    "c",
    undefined,
  ]);
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
