import { expect, test } from "bun:test";
import { ShardedSet } from "./sharded-set.ts";

test("equals a plain set", () => {
  const set = new ShardedSet();
  const model = new Set<string>();
  for (let n = 0; n < 30_000; n++) {
    const member = `key ${(n * 7919) % 20_000}`;
    if (n % 3 === 2) expect(set.delete(member)).toBe(model.delete(member));
    else {
      set.add(member);
      model.add(member);
    }
    if (n % 1000 === 0) expect(set.size).toBe(model.size);
  }
  expect([...set].sort()).toEqual([...model].sort());
  for (let n = 0; n < 20_000; n++) expect(set.has(`key ${n}`)).toBe(model.has(`key ${n}`));
});

test("a set that grows during an iteration gives each member that stays once", () => {
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
