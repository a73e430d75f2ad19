import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MutableCollection } from "../../test/support/mutable-collection.ts";
import { runs } from "../../test/support/property.ts";
import { runToEnd } from "../lib/steps.ts";
import { Collection } from "./collection.ts";
import { EncodedPage, MAX_PAGE_BYTES, MAX_PAGE_SIZE, TARGET_PAGE_SIZE } from "./encoded-page.ts";

const HOSTILE = ['"\\u0000\\n\\t"', '"ünïcödé 漢字 👾 \u2028"', '{"a":",,","b":[1,2]}', '"\\ud800"', "{}"];
const sortedPairs = (model: ReadonlyMap<string, string>) => [...model].sort(([a], [b]) => (a < b ? -1 : 1));
const pairsOf = (pages: readonly EncodedPage[]) => pages.flatMap((page) => [...page.toMap()]);

/** The list as a response sends it: the inside of a JSON array. */
const joinPages = (pages: readonly EncodedPage[]) =>
  Buffer.concat(
    pages.flatMap((page, i) => (i > 0 ? [Buffer.from(","), page.bytes] : [page.bytes])),
  ).toString();

function numbered(count: number, from = 0): Map<string, string> {
  const id = (i: number) => `h${String(i + from).padStart(6, "0")}`;
  return new Map(Array.from({ length: count }, (_, i) => [id(i), `{"n":${i}}`]));
}
/** Returns the value before. */
function set(collection: MutableCollection, id: string, value: string | null): string | null {
  const before = collection.get(id) ?? null;
  if (before !== value) collection.put(id, before, value);
  return before;
}
function filled(model: ReadonlyMap<string, string>): MutableCollection {
  const collection = new MutableCollection();
  for (const [id, value] of model) set(collection, id, value);
  return collection;
}

describe("a collection", () => {
  const op = fc.record({
    id: fc.integer({ min: 0, max: 700 }).map((n) => `k${n}`),
    value: fc.option(fc.constantFrom(...HOSTILE), { freq: 3 }),
    read: fc.integer({ min: 0, max: 40 }).map((n) => n === 0),
  });

  test("equals a sorted map, and pages that were read never change", () => {
    fc.assert(
      fc.property(fc.array(op, { maxLength: 1500, size: "max" }), (ops) => {
        const collection = new MutableCollection();
        const model = new Map<string, string>();
        const earlier: { pages: readonly EncodedPage[]; text: string }[] = [];
        for (const { id, value, read } of ops) {
          expect(set(collection, id, value)).toBe(model.get(id) ?? null);
          if (value === null) model.delete(id);
          else model.set(id, value);
          expect(collection.get(id)).toBe(model.get(id));
          if (read) earlier.push({ pages: collection.pages(), text: joinPages(collection.pages()) });
        }
        expect(collection.size).toBe(model.size);
        expect(pairsOf(collection.pages())).toEqual(sortedPairs(model));
        expect(joinPages(collection.pages())).toBe(
          sortedPairs(model)
            .map(([, value]) => value)
            .join(","),
        );
        for (const page of collection.pages()) {
          expect(page.length).toBeGreaterThan(0);
          expect(page.length).toBeLessThanOrEqual(MAX_PAGE_SIZE);
        }
        for (const { pages, text } of earlier) expect(joinPages(pages)).toBe(text);
      }),
      { numRuns: runs(40) },
    );
  });

  test("of large values equals a sorted map on pages of at most 256 KiB, and a larger value has a page of its own", () => {
    const large = fc.record({
      id: fc.integer({ min: 0, max: 60 }).map((n) => `k${n}`),
      value: fc.option(
        fc
          .constantFrom(2, 1000, 20_000, 65_000, 130_000, 300_000)
          .map((length) => `"${"é".repeat(length / 2)}"`),
        { freq: 4 },
      ),
      read: fc.integer({ min: 0, max: 20 }).map((n) => n === 0),
    });
    fc.assert(
      fc.property(fc.array(large, { maxLength: 120, size: "max" }), (ops) => {
        const collection = new MutableCollection();
        const model = new Map<string, string>();
        for (const { id, value, read } of ops) {
          set(collection, id, value);
          if (value === null) model.delete(id);
          else model.set(id, value);
          if (read) collection.pages();
        }
        expect(pairsOf(collection.pages())).toEqual(sortedPairs(model));
        for (const page of collection.pages())
          if (page.length > 1) expect(page.bytes.length).toBeLessThanOrEqual(MAX_PAGE_BYTES);
      }),
      { numRuns: runs(20) },
    );
  });

  test("equals a sorted map when pages are rewritten one by one because no read happens", () => {
    const collection = new MutableCollection();
    const model = new Map<string, string>();
    const earlier = collection.pages();
    let seed = 1;
    for (let n = 0; n < 90_000; n++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      const id = `k${(seed >>> 8) % 40_000}`;
      const value = n > 50_000 && seed % 3 > 0 ? null : String(n);
      // Without expect(), which takes longer than what it checks.
      if (set(collection, id, value) !== (model.get(id) ?? null)) throw new Error(`another value of ${id}`);
      if (value === null) model.delete(id);
      else model.set(id, value);
    }
    for (const [id, value] of model) if (collection.get(id) !== value) throw new Error(`lost ${id}`);
    expect(collection.size).toBe(model.size);
    expect(pairsOf(collection.pages())).toEqual(sortedPairs(model));
    expect(earlier.length).toBe(0);
  });

  test("returns ranges by id", () => {
    const collection = filled(numbered(1000));
    expect([...collection.range("h000126", "h000130")]).toEqual(
      [126, 127, 128, 129, 130].map((n) => `{"n":${n}}`),
    );
    expect([...collection.range("", "\uffff")].length).toBe(1000);
    expect([...collection.range("x", "z")]).toEqual([]);
    set(collection, "h000127", null);
    expect([...collection.range("h000126", "h000128")]).toEqual(['{"n":126}', '{"n":128}']);
    expect([...new MutableCollection().range("", "\uffff")]).toEqual([]);
  });

  test("keeps every page that did not change", () => {
    const collection = filled(numbered(2000));
    const before = new Set(collection.pages());
    set(collection, "h000700", '{"n":"new"}');
    const rewritten = collection.pages().filter((page) => !before.has(page));
    expect(rewritten.map((page) => page.get("h000700"))).toEqual(['{"n":"new"}']);
    expect(collection.pages()).toBe(collection.pages());
  });

  test("an empty array of pages that was read stays empty", () => {
    const collection = new MutableCollection();
    const earlier = collection.pages();
    set(collection, "a", "{}");
    expect(earlier.length).toBe(0);
    expect(collection.pages().length).toBe(1);
    set(collection, "a", null);
    expect(collection.pages()).toEqual([]);
    expect(collection.get("a")).toBeUndefined();
  });

  test("joins pages that became small", () => {
    const collection = filled(numbered(TARGET_PAGE_SIZE * 40));
    const ids = [...numbered(TARGET_PAGE_SIZE * 40).keys()];
    for (const [i, id] of ids.entries()) if (i % 64 !== 0) set(collection, id, null);
    expect(collection.size).toBe(80);
    expect(collection.pages().length).toBeLessThanOrEqual(3);
    expect(pairsOf(collection.pages()).map(([id]) => id)).toEqual(ids.filter((_, i) => i % 64 === 0));
  });

  test("does not join a page with a neighbour that has pending writes", () => {
    const model = numbered(TARGET_PAGE_SIZE * 3);
    const collection = filled(model);
    const ids = [...model.keys()];
    expect(collection.pages().length).toBe(3);
    const [left = [], right = []] = collection.pages().map((page) => page.ids());
    for (const id of left.slice(2)) set(collection, id, null);
    collection.pages();
    for (const id of right.slice(2)) set(collection, id, null);
    set(collection, left[0] ?? "", '"changed"');
    const remaining = [...left.slice(0, 2), ...right.slice(0, 2), ...ids.slice(TARGET_PAGE_SIZE * 2)];
    expect(pairsOf(collection.pages()).map(([id]) => id)).toEqual(remaining);
    expect(collection.get(left[0] ?? "")).toBe('"changed"');
  });

  test("returns a removed value that was set again before a read", () => {
    const collection = filled(new Map([["a", "1"]]));
    collection.pages();
    expect(set(collection, "a", null)).toBe("1");
    expect(collection.get("a")).toBeUndefined();
    expect(set(collection, "a", "1")).toBe(null);
    expect(joinPages(collection.pages())).toBe("1");
  });
});

describe("a page", () => {
  test("is decoded from its encoded form, also with hostile values", () => {
    const pairs = HOSTILE.map((value, i) => [`id-${i}/ü`, value] as const);
    const [page] = EncodedPage.empty.withChanges(new Map(pairs));
    const again = EncodedPage.decode(page?.encode() ?? Buffer.alloc(0), 7);
    expect([...again.toMap()]).toEqual([...pairs] as [string, string][]);
    expect(again.bytes.equals(page?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect([...again.ends]).toEqual([...(page?.ends ?? [])]);
    expect(again.storedId).toBe(7);
    expect(EncodedPage.decode(EncodedPage.empty.encode()).length).toBe(0);
  });

  test("finds the value that contains a byte", () => {
    const [page] = EncodedPage.empty.withChanges(
      new Map([
        ["a", '"é"'],
        ["b", "22"],
        ["c", "3"],
      ]),
    );
    // "é" is four bytes, then a comma.
    expect([0, 3, 4, 5, 6, 7, 8].map((offset) => page?.indexAtByte(offset))).toEqual([0, 0, 1, 1, 1, 2, 2]);
  });

  test("has its own memory: a small page keeps no large buffer alive", () => {
    const large = filled(numbered(MAX_PAGE_SIZE + 1));
    for (const page of large.pages()) {
      expect(page.bytes.buffer.byteLength).toBe(page.bytes.length + 1);
      expect(page.bytesWithComma.toString()).toBe(`${page.bytes.toString()},`);
    }
  });
});

describe("a list of many pages", () => {
  const onePage = (n: number) => {
    const id = `h${String(n).padStart(6, "0")}`;
    return EncodedPage.empty.withChanges(new Map([[id, "{}"]]));
  };
  /** The pauses until the pages with these additional ids are known. */
  const pausesFor = (...ids: string[]): number => {
    const collection = Collection.of(Array.from({ length: 5000 }, (_, n) => onePage(n)).flat());
    const writes = ids.map((id) => ({ id, after: "{}" }));
    const steps = runToEnd(collection.withWrites(writes, ids.length)).pages();
    let pauses = 0;
    let next = steps.next();
    for (; !next.done; next = steps.next()) pauses++;
    expect(next.value.flatMap((page) => page.ids())).toHaveLength(5000 + ids.length);
    return pauses;
  };

  test("is rebuilt in steps", () => {
    // One for each rewritten page, ten for the list, two for the order of the pages.
    expect(pausesFor("h", "h999999")).toBeGreaterThanOrEqual(14);
  });

  test("is copied but for the part that changes", () => {
    expect(pausesFor("h004998x")).toBeLessThanOrEqual(2);
  });
});
