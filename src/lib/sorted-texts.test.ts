import { expect, test } from "bun:test";
import fc from "fast-check";
import { SortedTexts } from "./sorted-texts.ts";
import { runToEnd } from "./steps.ts";

/** Common prefixes, and characters below, at and above the base. */
const anyText = fc
  .array(fc.constantFrom("a", "b", "aaaaaaaa", "", "\u0000", "~", "\u007f", "\u0080", "é", "\uffff", "🌍"), {
    maxLength: 5,
  })
  .map((parts) => parts.join(""));
const texts = fc.uniqueArray(anyText, { maxLength: 40 });

function expected(all: readonly string[], wanted: string): number {
  return Math.max(
    0,
    all.findLastIndex((candidate) => candidate <= wanted),
  );
}

test("finds the same index as a linear search", () => {
  fc.assert(
    fc.property(texts, texts, fc.constantFrom("", "00:00:", "é"), (some, wanted, prefix) => {
      const all = some.map((suffix) => prefix + suffix).sort();
      const sorted = runToEnd(SortedTexts.create(all));
      for (const text of [...wanted, ...wanted.map((suffix) => prefix + suffix), ...all])
        expect(sorted.lastNotAfter(text)).toBe(expected(all, text));
    }),
  );
});
