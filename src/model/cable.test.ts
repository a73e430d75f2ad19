import { expect, test } from "bun:test";
import { link } from "../../test/support/sample-network.ts";
import { cableId, cableOf, foldLinks } from "./cable.ts";

const a = { device: "a", port: "1" };
const b = { device: "b", port: "1" };
const there = link(a, b);
const back = link(b, a);

test("both directions have the same cable id", () => {
  expect(cableId(there)).toBe("a/1-b/1");
  expect(cableId(back)).toBe("a/1-b/1");
});

test("the order in which the two links come makes no difference", () => {
  expect(cableOf(back, there)).toEqual(cableOf(there, back));
  expect(foldLinks([back, there])).toEqual(foldLinks([there, back]));
});

test("a cable goes from the end that works, where only one direction does", () => {
  const down = { ...there, state: "INACTIVE" as const };
  expect(cableOf(down, back)).toMatchObject({ from: b, to: a, active: true, oneWay: true });
  expect(cableOf(down, undefined)).toMatchObject({ from: a, to: b, active: false, oneWay: true });
});
