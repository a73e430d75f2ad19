import { expect, test } from "bun:test";
import { Doorkeeper } from "./doorkeeper.ts";

test("a text is new once, until so many others came that all is forgotten", () => {
  const recent = new Doorkeeper();
  expect([recent.isNew("a"), recent.isNew("a"), recent.isNew("b")]).toEqual([true, false, true]);
  for (let i = 0; i < 1000; i++) recent.isNew(`other ${i}`);
  expect(recent.isNew("a")).toBe(true);
});
