import { expect, test } from "bun:test";
import { Doorkeeper } from "./doorkeeper.ts";

test("a text is new once for each version", () => {
  const doorkeeper = new Doorkeeper();
  expect([doorkeeper.isNew("a", 1), doorkeeper.isNew("a", 1), doorkeeper.isNew("b", 1)]).toEqual([
    true,
    false,
    true,
  ]);
  expect([doorkeeper.isNew("a", 2), doorkeeper.isNew("a", 2)]).toEqual([true, false]);
});

test("of 5,000 texts that are read in turn nearly all are known", () => {
  const doorkeeper = new Doorkeeper();
  const texts = Array.from({ length: 5000 }, (_, i) => `/hosts/${i}`);
  const countNew = () => texts.filter((text) => doorkeeper.isNew(text, 7)).length;
  expect(countNew()).toBeGreaterThan(4990);
  expect(countNew()).toBeLessThan(800);
});
