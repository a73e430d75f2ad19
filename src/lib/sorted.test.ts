import { expect, test } from "bun:test";
import { lowerBound } from "./sorted.ts";

test("the lower bound is the first index that is not before, at both ends and between equal items", () => {
  const sorted = [1, 3, 3, 5];
  const boundOf = (wanted: number) => lowerBound(sorted.length, (i) => (sorted[i] ?? 0) < wanted);
  expect([0, 1, 2, 3, 4, 5, 6].map(boundOf)).toEqual([0, 0, 1, 1, 3, 3, 4]);
  expect(lowerBound(0, () => true)).toBe(0);
});
