import { expect, test } from "bun:test";
import { Doorkeeper } from "./doorkeeper.ts";

test("a text is new once, until enough other texts have cleared the set", () => {
  const doorkeeper = new Doorkeeper();
  expect([doorkeeper.isNew("a"), doorkeeper.isNew("a"), doorkeeper.isNew("b")]).toEqual([true, false, true]);
  for (let i = 0; i < 1000; i++) doorkeeper.isNew(`other ${i}`);
  expect(doorkeeper.isNew("a")).toBe(true);
});
