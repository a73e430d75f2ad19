import { expect, test } from "bun:test";
import { Histogram } from "./histogram.ts";

test("a value counts in the first bucket whose bound it does not exceed", () => {
  const histogram = new Histogram([1, 2]);
  for (const value of [0, 1, 1.5, 2, 3, 100]) histogram.observe(value);
  expect(histogram.snapshot()).toEqual({ counts: [2, 2, 2], sum: 107.5 });
});
