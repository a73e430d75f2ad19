import { expect, test } from "bun:test";
import fc from "fast-check";
import { HOSTILE_TEXTS } from "../../test/support/sample-network.ts";
import { fitLabel, textWidth } from "./label.ts";

test.each([
  ["core-1", "core-1"],
  ["  two\n lines\t", "two lines"],
  ["\u202Eevil\u202C", "evil"],
  ["nul\0", "nul\uFFFD"],
  ["", ""],
])("the label of %j is %j", (text, label) => {
  expect(fitLabel(text, 20)).toBe(label);
});

test("a long text ends in an ellipsis and no surrogate pair is split", () => {
  expect(fitLabel("x".repeat(10_000), 10)).toMatch(/^x+…$/);
  expect(fitLabel("🛰".repeat(5_000), 10)).toMatch(/^(?:🛰)+…$/u);
  expect(fitLabel(`${" ".repeat(500)}x`, 10)).toBe("…");
});

test("any text: one line within the width, without characters that hide or reorder others", () => {
  const anyText = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: "binary", maxLength: 300 }));
  fc.assert(
    fc.property(anyText, fc.integer({ min: 3, max: 60 }), (text, ems) => {
      const label = fitLabel(text, ems);
      expect(textWidth(label)).toBeLessThanOrEqual(ems);
      expect(label).not.toMatch(/\p{Cc}|\p{Cs}|[\u2028-\u202e\u2066-\u2069]/u);
      expect(label.length).toBeLessThan(ems * 12 + 2);
    }),
  );
});
