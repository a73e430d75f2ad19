import { expect, test } from "bun:test";
import { createBackoff } from "./backoff.ts";

const delays = (random: () => number, tries: number): number[] => {
  const backoff = createBackoff(100, 1000, random);
  return Array.from({ length: tries }, () => backoff.nextMs());
};

test("delays double up to the maximum and lie in the upper half of their interval", () => {
  expect(delays(() => 1, 6)).toEqual([100, 200, 400, 800, 1000, 1000]);
  expect(delays(() => 0, 6)).toEqual([50, 100, 200, 400, 500, 500]);
  expect(delays(() => 0.5, 2)).toEqual([75, 150]);
});

test("a reset starts with the first delay again", () => {
  const backoff = createBackoff(100, 1000, () => 1);
  backoff.nextMs();
  backoff.nextMs();
  backoff.reset();
  expect(backoff.nextMs()).toBe(100);
});
