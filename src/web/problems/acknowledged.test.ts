import { expect, test } from "bun:test";
import { changedEntries, MAX_ACKNOWLEDGED, parseEntries } from "./acknowledged.ts";

const problem = (n: number) => ({ id: `p${n}`, since: `t${n}` });

test("a problem is acknowledged with its time, and no longer when that is undone", () => {
  const one = changedEntries(new Map(), [problem(1), problem(2)], true);
  expect([...one]).toEqual([
    ["p1", "t1"],
    ["p2", "t2"],
  ]);
  expect([...changedEntries(one, [problem(1)], false)]).toEqual([["p2", "t2"]]);
  expect([...changedEntries(one, [{ id: "p1", since: "later" }], true)]).toEqual([
    ["p2", "t2"],
    ["p1", "later"],
  ]);
});

test("the oldest entries are dropped", () => {
  const all = Array.from({ length: MAX_ACKNOWLEDGED }, (_, n) => problem(n));
  const entries = changedEntries(changedEntries(new Map(), all, true), [problem(-1)], true);
  expect(entries.size).toBe(MAX_ACKNOWLEDGED);
  expect(entries.has("p0")).toBe(false);
  expect(entries.has("p-1")).toBe(true);
});

test("what another program stored is ignored", () => {
  for (const text of [undefined, "", "{", "7", "{}", '["a"]', '[["a"],["a",1]]'])
    expect(parseEntries(text).size).toBe(0);
  expect([...parseEntries('[["a","b"],["c",1]]')]).toEqual([["a", "b"]]);
});
