import { expect, test } from "bun:test";
import { link } from "../../test/support/sample-network.ts";
import { cableId, cableOf } from "./cable.ts";

const a = { device: "a", port: "1" };
const b = { device: "b", port: "1" };
const forward = link(a, b);
const backward = link(b, a);

test("both directions have the same cable id", () => {
  expect(cableId(forward)).toBe("a/1-b/1");
  expect(cableId(backward)).toBe("a/1-b/1");
});

test("the order in which the two links come makes no difference", () => {
  expect(cableOf(backward, forward)).toEqual(cableOf(forward, backward));
});

test("a cable goes from the end that works, where only one direction does", () => {
  const down = { ...forward, state: "INACTIVE" as const };
  expect(cableOf(down, backward)).toMatchObject({ from: b, to: a, active: true, oneWay: true });
  expect(cableOf(down, undefined)).toMatchObject({ from: a, to: b, active: false, oneWay: true });
});
