import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/property.ts";
import { IdNumbers, NumberSet, SortedIndex } from "./sorted-index.ts";
import { runToEnd } from "./steps.ts";

const key = fc.integer({ min: 0, max: 20 }).map((n) => `k${n}`);
const step = fc.record({
  op: fc.constantFrom("add", "add", "delete", "range"),
  key,
  to: key,
  id: fc.integer({ min: 0, max: 50 }).map((n) => `id${n}`),
});

test("any sequence of additions, deletions and look-ups agrees with a plain list", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1500, size: "max" }), (steps) => {
      const index = new SortedIndex();
      const model = new Map<string, { key: string; id: string }>();
      const between = (from: string, to: string) =>
        [...model.values()]
          .filter((entry) => entry.key >= from && entry.key <= to)
          .map((entry) => entry.id)
          .sort();
      for (const { op, key, to, id } of steps) {
        if (op === "add") {
          if (!model.has(`${key} ${id}`)) index.add(key, id);
          model.set(`${key} ${id}`, { key, id });
        } else if (op === "delete") {
          index.delete(key, id);
          model.delete(`${key} ${id}`);
        } else {
          const expected = between(key, to);
          expect([...index.range(key, to)].sort()).toEqual(expected);
          const gathered: string[] = [];
          expect(index.collect(key, to, gathered, expected.length)).toBe(true);
          expect(gathered.sort()).toEqual(expected);
          expect(index.collect(key, to, [], expected.length - 1)).toBe(expected.length === 0);
          expect(index.collect(key, to, ["one"], expected.length)).toBe(expected.length === 0);
          if (steps.length % 2 === 0) runToEnd(index.sortKeys());
        }
        expect([...index.get(key)].sort()).toEqual(between(key, key));
        expect(index.has(key)).toBe(between(key, key).length > 0);
        expect(index.size).toBe(model.size);
      }
      expect(index.keys()).toEqual([...new Set([...model.values()].map((entry) => entry.key))].sort());
    }),
    { numRuns: runs(15) },
  );
});

test.each([50, 1000, 3000])("of %i ids of one key any can be deleted and added again", (count) => {
  const index = new SortedIndex();
  const ids = Array.from({ length: count }, (_, n) => `id${n}`);
  for (const id of ids) index.add("k", id);
  for (const id of ids.slice(1)) index.delete("k", id);
  index.delete("k", "never there");
  expect([...index.get("k")]).toEqual(["id0"]);
  for (const id of ids.slice(1)) index.add("k", id);
  expect([...index.get("k")].sort()).toEqual(ids.toSorted());
  expect(index.size).toBe(count);
  for (const id of ids) index.delete("k", id);
  expect(index.has("k")).toBe(false);
  expect(index.size).toBe(0);
});

test("a key that was deleted and added again is returned once", () => {
  const index = new SortedIndex();
  for (const key of ["a", "b", "c"]) index.add(key, "id");
  runToEnd(index.sortKeys());
  index.delete("b", "id");
  expect([...index.range("a", "c")].length).toBe(2);
  index.add("b", "id");
  expect([...index.range("a", "c")].length).toBe(3);
});

test("many keys that are deleted and added again are each returned once", () => {
  const index = new SortedIndex();
  const name = (n: number) => `k${String(n).padStart(6, "0")}`;
  for (let n = 0; n < 20_000; n++) index.add(name(n), "a");
  expect([...index.range(name(0), name(99))].length).toBe(100);
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 20_000; n += 2) index.delete(name(n), "a");
    expect([...index.range(name(0), name(99))].length).toBe(50);
    for (let n = 0; n < 20_000; n += 2) index.add(name(n), "a");
    expect([...index.range(name(0), name(99))].length).toBe(100);
  }
  expect(index.size).toBe(20_000);
  expect(index.keys().length).toBe(20_000);
});

test("can be changed during an iteration", () => {
  const index = new SortedIndex();
  for (let n = 0; n < 10; n++) index.add(`k${n}`, "a");
  const seen: string[] = [];
  for (const id of index.range("k0", "k9")) {
    seen.push(id);
    for (let n = 0; n < 10; n++) index.delete(`k${n}`, "a");
  }
  expect(seen).toEqual(["a"]);
});

test("readers find what is retired until it is dropped, and the writer does not", () => {
  const index = new SortedIndex();
  for (const id of ["a", "b", "c"]) index.add("k1", id);
  index.add("k2", "a");
  index.retire("k1", "a");
  index.retire("k2", "a");
  index.add("k1", "d");
  const collected: string[] = [];
  index.collect("k1", "k2", collected, 10);
  for (const found of [[...index.get("k1"), ...index.get("k2")], [...index.range("k1", "k2")], collected])
    expect(found.sort()).toEqual(["a", "a", "b", "c", "d"]);
  expect(index.has("k2")).toBe(true);
  expect([...index.current("k1")].sort()).toEqual(["b", "c", "d"]);
  expect([...index.current("k2")]).toEqual([]);
  // Taken back: it is found once.
  index.add("k2", "a");
  expect([...index.get("k2")]).toEqual(["a"]);
  index.dropRetired();
  expect([...index.range("k1", "k2")].sort()).toEqual(["a", "b", "c", "d"]);
  expect(index.size).toBe(4);
});

test("keys are sorted in steps while keys are added and removed, and callers share the work", () => {
  const index = new SortedIndex();
  const name = (n: number) => `k${String(n).padStart(6, "0")}`;
  for (let n = 0; n < 4_000; n++) index.add(name((n * 7919) % 4_000), "a");
  expect(index.isUnsorted).toBe(true);
  const [first, second] = [index.sortKeys(), index.sortKeys()];
  second.next();
  let steps = 0;
  for (let isOver = false; !isOver; steps++) {
    isOver = first.next().done === true;
    index.delete(name(steps), "a");
    index.add(name(20_000 + steps), "b");
    expect([...index.range(name(0), name(99_999))].length).toBe(4_000);
  }
  expect(steps).toBeGreaterThan(20);
  expect(second.next().done).toBe(true);
  expect(index.isUnsorted).toBe(false);
  expect([...index.range(name(0), name(steps))]).toEqual(["a"]);
});

test("keys that come and go between sorts, and get numbers of removed ones, are all found", () => {
  const index = new SortedIndex();
  const model = new Map<string, string>();
  const name = (n: number) => `k${String((n * 7919) % 100_000).padStart(6, "0")}`;
  const remove = (key: string) => {
    index.delete(key, model.get(key) ?? "");
    model.delete(key);
  };
  for (let round = 0; round < 4; round++) {
    for (const key of [...model.keys()]) if ((key.charCodeAt(6) + round) % 3 > 0) remove(key);
    const sorting = index.sortKeys();
    for (let n = 0, isOver = false; n < 1500 || !isOver; n++) {
      isOver ||= sorting.next().done === true;
      if (n >= 1500) continue;
      const key = name(round * 1500 + n);
      index.add(key, `id ${key}`);
      model.set(key, `id ${key}`);
      if (n % 5 === 0) remove(name(round * 1500 + n - (n % 7)));
    }
    for (const [from, to] of [["k000000", "k999999"], ["k02", "k03"], ["k5", "k50001"]] as const)
      expect([...index.range(from, to)].sort()).toEqual(
        [...model].flatMap(([key, id]) => (key >= from && key <= to ? [id] : [])).sort(),
      ); // biome-ignore format: a table
    expect(index.size).toBe(model.size);
  }
});

test("the number of an id is free when no index has the id, and not while it is retired", () => {
  const ids = new IdNumbers();
  const [first, second] = [new SortedIndex(ids), new SortedIndex(ids)];
  first.add("k", "a");
  second.add("k", "a");
  second.add("other", "a");
  first.retire("k", "a");
  second.retire("k", "a");
  second.retire("other", "a");
  first.add("k", "b");
  expect([...second.get("other")]).toEqual(["a"]);
  for (const index of [first, second]) index.dropRetired();
  runToEnd(ids.freeUnused());
  expect(ids.count).toBe(1);
  first.add("k", "c");
  expect([...first.get("k")].sort()).toEqual(["b", "c"]);
  // An id that is removed and added again keeps its number.
  first.delete("k", "b");
  second.add("k", "b");
  runToEnd(ids.freeUnused());
  expect([...second.get("k")]).toEqual(["b"]);
  expect(ids.count).toBe(2);
});

const memberStep = fc.record({
  op: fc.constantFrom("add", "delete"),
  member: fc.oneof(fc.nat(70), fc.nat(5000), fc.constantFrom(31, 32, 63, 64)),
});

test("a set of numbers: any sequence of changes agrees with a plain set", () => {
  fc.assert(
    fc.property(fc.array(memberStep, { maxLength: 300 }), (steps) => {
      const set = new NumberSet();
      const model = new Set<number>();
      for (const { op, member } of steps) {
        if (op === "add") {
          set.add(member);
          model.add(member);
        } else expect(set.delete(member)).toBe(model.delete(member));
        expect(set.size).toBe(model.size);
      }
      expect([...set]).toEqual([...model].sort((a, b) => a - b));
    }),
  );
});

test("may change while it is read", () => {
  const set = new NumberSet([1, 5, 31, 32, 40]);
  const seen: number[] = [];
  for (const member of set) {
    seen.push(member);
    if (member !== 5) continue;
    for (const other of [1, 31]) set.delete(other);
    for (const other of [2, 33]) set.add(other);
  }
  expect(seen).toEqual([1, 5, 32, 33, 40]);
});
