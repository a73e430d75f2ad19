import { expect, test } from "bun:test";
import fc from "fast-check";
import { NumberSet } from "./number-set.ts";

const step = fc.record({
  op: fc.constantFrom("add", "delete"),
  member: fc.oneof(fc.nat(70), fc.nat(5000), fc.constantFrom(31, 32, 63, 64)),
});

test("any sequence of changes agrees with a plain set", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
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
