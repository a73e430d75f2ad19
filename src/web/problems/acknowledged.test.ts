import { expect, test } from "bun:test";
import { changedEntries, MAX_ACKNOWLEDGED, parseEntries } from "./acknowledged.ts";

const problem = (n: number) => ({ id: `p${n}`, since: `t${n}` });

const none = () => new Set<string>();

test("a problem is acknowledged with its time, and no longer when that is undone", () => {
  const one = changedEntries(new Map(), [problem(1), problem(2)], true, none);
  expect([...one]).toEqual([
    ["p2", "t2"],
    ["p1", "t1"],
  ]);
  expect([...changedEntries(one, [problem(1)], false, none)]).toEqual([["p2", "t2"]]);
  expect([...changedEntries(one, [{ id: "p2", since: "later" }], true, none)]).toEqual([
    ["p1", "t1"],
    ["p2", "later"],
  ]);
});

const many = (count: number, first = 0) => Array.from({ length: count }, (_, n) => problem(first + n));

test("of more than there is room for, the worst stay acknowledged", () => {
  const entries = changedEntries(new Map(), many(MAX_ACKNOWLEDGED + 1000), true, none);
  expect(entries.size).toBe(MAX_ACKNOWLEDGED);
  expect(entries.has("p0")).toBe(true);
  expect(entries.has(`p${MAX_ACKNOWLEDGED}`)).toBe(false);
});

test("entries of problems that are gone are dropped first, then the oldest", () => {
  const old = changedEntries(new Map(), many(10), true, none);
  const full = changedEntries(old, many(MAX_ACKNOWLEDGED - 10, 10), true, none);
  const listed = () => new Set([...full.keys()].filter((id) => id !== "p50"));
  const entries = changedEntries(full, [problem(-1)], true, listed);
  expect([entries.size, entries.has("p50"), entries.has("p9")]).toEqual([MAX_ACKNOWLEDGED, false, true]);
  const next = changedEntries(entries, [problem(-2)], true, () => new Set(entries.keys()));
  expect([next.size, next.has("p9"), next.has("p-2")]).toEqual([MAX_ACKNOWLEDGED, false, true]);
});

test("what another program stored is ignored", () => {
  for (const text of [undefined, "", "{", "7", "{}", '["a"]', '[["a"],["a",1]]'])
    expect(parseEntries(text).size).toBe(0);
  expect([...parseEntries('[["a","b"],["c",1]]')]).toEqual([["a", "b"]]);
});
