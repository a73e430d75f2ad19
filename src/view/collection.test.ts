import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Collection } from "./collection.ts";
import { EncodedPage, MAX_PAGE_SIZE, TARGET_PAGE_SIZE } from "./encoded-page.ts";

const HOSTILE = ['"\\u0000\\n\\t"', '"ünïcödé 漢字 👾 \u2028"', '{"a":",,","b":[1,2]}', '"\\ud800"', "{}"];
const sortedPairs = (model: ReadonlyMap<string, string>) => [...model].sort(([a], [b]) => (a < b ? -1 : 1));
const pairsOf = (pages: readonly EncodedPage[]) => pages.flatMap((page) => [...page.toMap()]);

/** The list as it goes out: the inside of a JSON array. */
const wire = (pages: readonly EncodedPage[]) =>
  Buffer.concat(
    pages.flatMap((page, i) => (i > 0 ? [Buffer.from(","), page.bytes] : [page.bytes])),
  ).toString();

function numbered(count: number, from = 0): Map<string, string> {
  const id = (i: number) => `h${String(i + from).padStart(6, "0")}`;
  return new Map(Array.from({ length: count }, (_, i) => [id(i), `{"n":${i}}`]));
}
/** Puts a value and answers the one before. */
function set(collection: Collection, id: string, value: string | null): string | null {
  const before = collection.get(id) ?? null;
  if (before !== value) collection.put(id, before, value);
  return before;
}
function filled(model: ReadonlyMap<string, string>): Collection {
  const collection = new Collection();
  for (const [id, value] of model) set(collection, id, value);
  return collection;
}

describe("a collection", () => {
  const op = fc.record({
    id: fc.integer({ min: 0, max: 700 }).map((n) => `k${n}`),
    value: fc.option(fc.constantFrom(...HOSTILE), { freq: 3 }),
    read: fc.integer({ min: 0, max: 40 }).map((dice) => dice === 0),
  });

  test("is a sorted map, and old pages never change", () => {
    fc.assert(
      fc.property(fc.array(op, { maxLength: 1500, size: "max" }), (ops) => {
        const collection = new Collection();
        const model = new Map<string, string>();
        const held: { pages: readonly EncodedPage[]; was: string }[] = [];
        for (const { id, value, read } of ops) {
          expect(set(collection, id, value)).toBe(model.get(id) ?? null);
          if (value === null) model.delete(id);
          else model.set(id, value);
          expect(collection.get(id)).toBe(model.get(id));
          if (read) held.push({ pages: collection.pages(), was: wire(collection.pages()) });
        }
        expect(collection.size).toBe(model.size);
        expect(pairsOf(collection.pages())).toEqual(sortedPairs(model));
        expect(wire(collection.pages())).toBe(
          sortedPairs(model)
            .map(([, value]) => value)
            .join(","),
        );
        for (const page of collection.pages()) {
          expect(page.length).toBeGreaterThan(0);
          expect(page.length).toBeLessThanOrEqual(MAX_PAGE_SIZE);
        }
        for (const { pages, was } of held) expect(wire(pages)).toBe(was);
      }),
      { numRuns: 40 },
    );
  });

  test("is the same when pages are made anew one by one because nobody reads", () => {
    const collection = new Collection();
    const model = new Map<string, string>();
    const held = collection.pages();
    let seed = 1;
    for (let n = 0; n < 90_000; n++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      const id = `k${(seed >>> 8) % 40_000}`;
      const value = n > 50_000 && seed % 3 > 0 ? null : String(n);
      expect(set(collection, id, value)).toBe(model.get(id) ?? null);
      if (value === null) model.delete(id);
      else model.set(id, value);
    }
    for (const [id, value] of model) if (collection.get(id) !== value) throw new Error(`lost ${id}`);
    expect(collection.size).toBe(model.size);
    expect(pairsOf(collection.pages())).toEqual(sortedPairs(model));
    expect(held.length).toBe(0);
  });

  test("answers ranges by id", () => {
    const collection = filled(numbered(1000));
    expect([...collection.range("h000126", "h000130")]).toEqual(
      [126, 127, 128, 129, 130].map((n) => `{"n":${n}}`),
    );
    expect([...collection.range("", "\uffff")].length).toBe(1000);
    expect([...collection.range("x", "z")]).toEqual([]);
    set(collection, "h000127", null);
    expect([...collection.range("h000126", "h000128")]).toEqual(['{"n":126}', '{"n":128}']);
    expect([...new Collection().range("", "\uffff")]).toEqual([]);
  });

  test("shares every page that did not change", () => {
    const collection = filled(numbered(2000));
    const before = new Set(collection.pages());
    set(collection, "h000700", '{"n":"new"}');
    const made = collection.pages().filter((page) => !before.has(page));
    expect(made.map((page) => page.get("h000700"))).toEqual(['{"n":"new"}']);
    expect(collection.pages()).toBe(collection.pages());
  });

  test("an empty one that was read stays empty for whoever read it", () => {
    const collection = new Collection();
    const held = collection.pages();
    set(collection, "a", "{}");
    expect(held.length).toBe(0);
    expect(collection.pages().length).toBe(1);
    set(collection, "a", null);
    expect(collection.pages()).toEqual([]);
    expect(collection.get("a")).toBeUndefined();
  });

  test("joins what shrank", () => {
    const collection = filled(numbered(TARGET_PAGE_SIZE * 40));
    const ids = [...numbered(TARGET_PAGE_SIZE * 40).keys()];
    for (const [i, id] of ids.entries()) if (i % 64 !== 0) set(collection, id, null);
    expect(collection.size).toBe(80);
    expect(collection.pages().length).toBeLessThanOrEqual(3);
    expect(pairsOf(collection.pages()).map(([id]) => id)).toEqual(ids.filter((_, i) => i % 64 === 0));
  });

  test("joins no neighbour that has changes of its own to come", () => {
    const model = numbered(TARGET_PAGE_SIZE * 3);
    const collection = filled(model);
    const ids = [...model.keys()];
    expect(collection.pages().length).toBe(3);
    const [left = [], right = []] = collection.pages().map((page) => page.ids);
    for (const id of left.slice(2)) set(collection, id, null);
    collection.pages();
    for (const id of right.slice(2)) set(collection, id, null);
    set(collection, left[0] ?? "", '"changed"');
    const kept = [...left.slice(0, 2), ...right.slice(0, 2), ...ids.slice(TARGET_PAGE_SIZE * 2)];
    expect(pairsOf(collection.pages()).map(([id]) => id)).toEqual(kept);
    expect(collection.get(left[0] ?? "")).toBe('"changed"');
  });

  test("has the removed value back when it is set again before anybody reads", () => {
    const collection = filled(new Map([["a", "1"]]));
    collection.pages();
    expect(set(collection, "a", null)).toBe("1");
    expect(collection.get("a")).toBeUndefined();
    expect(set(collection, "a", "1")).toBe(null);
    expect(wire(collection.pages())).toBe("1");
  });
});

describe("a page", () => {
  test("comes back from its text, whatever the values say", () => {
    const pairs = HOSTILE.map((value, i) => [`id-${i}/ü`, value] as const);
    const [page] = EncodedPage.empty.withChanges(new Map(pairs));
    const again = EncodedPage.decode(page?.encode() ?? Buffer.alloc(0), 7);
    expect([...again.toMap()]).toEqual([...pairs] as [string, string][]);
    expect(again.bytes.equals(page?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect([...again.ends]).toEqual([...(page?.ends ?? [])]);
    expect(again.storedId).toBe(7);
    expect(EncodedPage.decode(EncodedPage.empty.encode()).length).toBe(0);
  });

  test("finds the value a byte belongs to", () => {
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

  test("owns its memory: no small page keeps a large buffer alive", () => {
    const large = filled(numbered(MAX_PAGE_SIZE + 1));
    for (const page of large.pages()) {
      expect(page.bytes.buffer.byteLength).toBe(page.bytes.length + 1);
      expect(page.bytesWithComma.toString()).toBe(`${page.bytes.toString()},`);
    }
  });
});
