import { expect, test } from "bun:test";
import { createBoundedCache, memoizeText } from "./bounded-cache.ts";

test("the least recently used entry is evicted first", () => {
  const removed: string[] = [];
  const cache = createBoundedCache<string, number>({ maxSize: 2, onRemove: (_, key) => removed.push(key) });
  cache.set("a", 1);
  cache.set("b", 2);
  cache.get("a");
  cache.set("c", 3);
  expect(removed).toEqual(["b"]);
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([1, undefined, 3]);
});

test("the sum of sizes is bounded, and an entry larger than the bound is not stored", () => {
  const cache = createBoundedCache<string, string>({ maxSize: 10, sizeOf: (text) => text.length });
  cache.set("a", "12345");
  cache.set("b", "12345");
  expect(cache.calculatedSize).toBe(10);
  cache.set("c", "1");
  expect(cache.has("a")).toBe(false);
  cache.set("d", "12345678901");
  expect(cache.has("d")).toBe(false);
  expect(cache.calculatedSize).toBeLessThanOrEqual(10);
});

test("a memoized function computes a repeated text once, and long texts each time", () => {
  let computed = 0;
  const length = memoizeText((text) => {
    computed++;
    return text.length;
  });
  expect([length("abc"), length("abc")]).toEqual([3, 3]);
  expect(computed).toBe(1);
  const long = "x".repeat(1000);
  length(long);
  length(long);
  expect(computed).toBe(3);
});

test("a memoized function returns correct results for more texts than it caches", () => {
  const length = memoizeText((text) => text.length);
  for (let i = 0; i < 1000; i++) expect(length("x".repeat(i % 300))).toBe(i % 300);
});
