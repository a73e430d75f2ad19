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
      for (const sorted of [new SortedTexts(all), runToEnd(SortedTexts.inSteps(all))]) {
        for (const text of [...wanted, ...wanted.map((suffix) => prefix + suffix), ...all]) {
          expect(sorted.lastNotAfter(text)).toBe(expected(all, text));
        }
      }
    }),
  );
});

test("finds the same index after any splices", () => {
  fc.assert(
    fc.property(texts, fc.array(fc.tuple(fc.nat(), fc.nat(2), texts)), (some, steps) => {
      const all = some.sort();
      const sorted = new SortedTexts(all);
      for (const [at, maxCount, others] of steps) {
        const from = at % (all.length + 1);
        const count = Math.min(maxCount, all.length - from);
        const low = all[from - 1];
        const high = all[from + count];
        const fitting = others
          .filter((text) => (low === undefined || text > low) && (high === undefined || text < high))
          .sort();
        all.splice(from, count, ...fitting);
        sorted.splice(from, count, fitting);
        for (const text of [...others, ...all]) expect(sorted.lastNotAfter(text)).toBe(expected(all, text));
      }
    }),
  );
});
