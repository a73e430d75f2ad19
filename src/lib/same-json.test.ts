import { expect, test } from "bun:test";
import fc from "fast-check";
import { sameJson } from "./same-json.ts";

test("fields can be in any order, and an undefined field counts as absent", () => {
  expect(sameJson({ a: 1, b: [{ c: "x" }] }, { b: [{ c: "x" }], a: 1 })).toBe(true);
  expect(sameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(sameJson({ a: 1 }, { a: 1, b: undefined })).toBe(true);
});

test.each([
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ a: 1 }, { b: 1 }],
  [
    ["x", "y"],
    ["y", "x"],
  ],
  [["x"], ["x", "y"]],
  [[], {}],
  [{}, []],
  [{ 0: "x" }, ["x"]],
  [null, {}],
  [0, "0"],
  [JSON.parse('{"__proto__":"x"}'), {}],
  [{}, JSON.parse('{"__proto__":"x"}')],
  [{ constructor: "x" }, {}],
])("%j is not %j", (a, b) => {
  expect(sameJson(a, b)).toBe(false);
});

test("the result agrees with a deep comparison of any JSON values", () => {
  const values = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
  fc.assert(
    fc.property(values, values, (a, b) => {
      expect(sameJson(a, JSON.parse(JSON.stringify(a)))).toBe(true);
      expect(sameJson(a, b)).toBe(Bun.deepEquals(a, b));
    }),
  );
});
