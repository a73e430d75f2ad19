import { expect, test } from "bun:test";
import { appendTo, Multimap } from "./multimap.ts";

test("a key has the values that were added and not removed, and none is no key", () => {
  const map = new Multimap<string, number>();
  map.add("a", 1);
  map.add("a", 2);
  map.add("a", 2);
  map.add("b", 3);
  expect([...map.of("a")]).toEqual([1, 2]);
  expect([...map.of("c")]).toEqual([]);
  expect(map.remove("b", 4)).toBe(false);
  expect(map.remove("b", 3)).toBe(true);
  expect([...map.keys()]).toEqual(["a"]);
});

test("a list keeps the order and repeated values", () => {
  const lists = new Map<string, number[]>();
  for (const value of [2, 1, 2]) appendTo(lists, "a", value);
  expect(lists.get("a")).toEqual([2, 1, 2]);
});
