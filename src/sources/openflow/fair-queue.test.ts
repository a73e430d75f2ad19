import { expect, test } from "bun:test";
import fc from "fast-check";
import { FairQueue } from "./fair-queue.ts";

test("an owner with one item does not wait for those of an owner with thousands", () => {
  const queue = new FairQueue<string>();
  for (let i = 0; i < 5000; i++) queue.add("flood", `f${i}`, `f${i}`);
  queue.add("other", "x", "x");
  expect(queue.take(256)).toContain("x");
});

test("every item is returned once, in its latest form, and in order within its owner", () => {
  const additions = fc.array(fc.tuple(fc.nat(3), fc.nat(20)), { maxLength: 300 });
  fc.assert(
    fc.property(additions, fc.integer({ min: 1, max: 100 }), (list, count) => {
      const queue = new FairQueue<{ owner: number; at: number }>();
      const latest = new Map<number, { owner: number; at: number }>();
      for (const [at, [owner, key]] of list.entries()) {
        queue.add(String(owner), String(key), { owner, at });
        latest.set(key, { owner, at });
      }
      const taken: { owner: number; at: number }[] = [];
      while (queue.size > 0) taken.push(...queue.take(count));
      const byTime = (items: Iterable<{ owner: number; at: number }>) =>
        [...items].sort((a, b) => a.at - b.at);
      expect(byTime(taken)).toEqual(byTime(latest.values()));
      for (const owner of [0, 1, 2, 3]) {
        const ofOwner = taken.filter((item) => item.owner === owner);
        expect(ofOwner).toEqual(byTime(ofOwner));
      }
    }),
  );
});
