import { expect, test } from "bun:test";
import fc from "fast-check";
import { MutableCollection } from "../../test/support/mutable-collection.ts";
import { runs } from "../../test/support/property.ts";
import { withoutPauses } from "../lib/steps.ts";
import { diffPages, type ValueDiff } from "./missing.ts";

type Changes = readonly (readonly [id: string, value: string | null])[];
const anyId = fc.integer({ min: 0, max: 999 }).map((n) => `id${String(n).padStart(4, "0")}`);
const changeList = (maxLength: number): fc.Arbitrary<Changes> =>
  fc.array(fc.tuple(anyId, fc.constantFrom('"a"', '"b"', '"ü"', null)), { maxLength, size: "max" });

function set(collection: MutableCollection, id: string, value: string | null): void {
  collection.put(id, collection.get(id) ?? null, value);
}

/** The expected result, from all values of both. */
function expectedDiff(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): ValueDiff[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .map((id) => ({ id, before: before.get(id), after: after.get(id) }))
    .filter((pair) => pair.before !== pair.after);
}

const valuesOf = (collection: MutableCollection) =>
  new Map(collection.pages().flatMap((page) => page.ids().map((id, i) => [id, page.value(i)] as const)));

test("returns exactly the values that differ, in order of id, whether pages are shared or not", () => {
  fc.assert(
    fc.property(changeList(900), changeList(40), fc.boolean(), (first, changes, shared) => {
      const collection = new MutableCollection();
      for (const [id, value] of first) set(collection, id, value);
      const [pages, before] = [collection.pages(), valuesOf(collection)];
      const later = shared ? collection : new MutableCollection();
      if (!shared) for (const [id, value] of before) set(later, id, value);
      for (const [id, value] of changes) set(later, id, value);
      const after = valuesOf(later);
      expect([...withoutPauses(diffPages(pages, later.pages()))]).toEqual(expectedDiff(before, after));
      expect([...withoutPauses(diffPages(later.pages(), pages))]).toEqual(expectedDiff(after, before));
    }),
    { numRuns: runs(50) },
  );
});

test("skips pages that both lists share", () => {
  const collection = new MutableCollection();
  for (let n = 0; n < 1000; n++) set(collection, `id${String(n).padStart(4, "0")}`, '"a"');
  const before = collection.pages();
  set(collection, "id0500", '"b"');
  const after = collection.pages();
  expect(after.filter((page) => before.includes(page)).length).toBe(after.length - 1);
  expect([...withoutPauses(diffPages(before, after))]).toEqual([
    { id: "id0500", before: '"a"', after: '"b"' },
  ]);
});
