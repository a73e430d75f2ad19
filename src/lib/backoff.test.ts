import { expect, test } from "bun:test";
import { createBackoff } from "./backoff.ts";

const pauses = (random: () => number, tries: number): number[] => {
  const backoff = createBackoff(100, 1000, random);
  return Array.from({ length: tries }, () => backoff.nextMs());
};

test("pauses double up to the most, drawn from their upper half", () => {
  expect(pauses(() => 1, 6)).toEqual([100, 200, 400, 800, 1000, 1000]);
  expect(pauses(() => 0, 6)).toEqual([50, 100, 200, 400, 500, 500]);
  expect(pauses(() => 0.5, 2)).toEqual([75, 150]);
});

test("a reset begins again", () => {
  const backoff = createBackoff(100, 1000, () => 1);
  backoff.nextMs();
  backoff.nextMs();
  backoff.reset();
  expect(backoff.nextMs()).toBe(100);
});
