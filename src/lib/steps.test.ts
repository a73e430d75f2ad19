import { expect, test } from "bun:test";
import fc from "fast-check";
import { collectPaced, mapPaced, pausing, runToEnd, SharedSteps, type Steps, sortInSteps } from "./steps.ts";

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
