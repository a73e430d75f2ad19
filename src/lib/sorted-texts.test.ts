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

test("finds the same index after a part is replaced as in a list that is made anew", () => {
  fc.assert(
    fc.property(
      texts,
      texts,
      fc.nat(40),
      fc.nat(40),
      fc.constantFrom("", "00:00:"),
      (some, wanted, a, b, prefix) => {
        const all = some.map((suffix) => prefix + suffix).sort();
        const [start, end] = [Math.min(a, b, all.length), Math.min(Math.max(a, b), all.length)];
        // What replaces a part is between its neighbours.
        const [low, high] = [all[start - 1] ?? "", all[end]];
        const by = wanted
          .map((suffix) => prefix + suffix)
          .filter((text) => text > low && (high === undefined || text < high))
          .sort();
        const after = [...all.slice(0, start), ...by, ...all.slice(end)];
        const replaced = runToEnd(runToEnd(SortedTexts.create(all)).withReplaced(start, end, by));
        for (const text of [...wanted, ...all, ...after])
          expect(replaced.lastNotAfter(text)).toBe(expected(after, text));
      },
    ),
  );
});
