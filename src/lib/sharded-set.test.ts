import { expect, test } from "bun:test";
import { ShardedMap, ShardedSet } from "./sharded-set.ts";

test("equals a plain map before and after it is divided", () => {
  const map = new ShardedMap<number>();
  const model = new Map<string, number>();
  for (let n = 0; n < 30_000; n++) {
    const key = `key ${(n * 7919) % 20_000}`;
    if (n % 3 === 2) expect(map.delete(key)).toBe(model.delete(key));
    else {
      map.set(key, n);
      model.set(key, n);
    }
    if (n % 1000 === 0) expect(map.size).toBe(model.size);
  }
  expect([...map.keys()].sort()).toEqual([...model.keys()].sort());
  for (let n = 0; n < 20_000; n++) expect(map.get(`key ${n}`)).toBe(model.get(`key ${n}`));
});

test("a set that is divided during an iteration gives each member that stays once", () => {
  const members = Array.from({ length: 8000 }, (_, n) => `m${n}`);
  const set = new ShardedSet(members);
  const seen: string[] = [];
  for (const member of set) {
    seen.push(member);
    if (seen.length === 10) for (let n = 0; n < 1000; n++) set.add(`new ${n}`);
  }
  expect(seen.filter((member) => member.startsWith("m")).sort()).toEqual(members.sort());
  expect(set.size).toBe(9000);
});
