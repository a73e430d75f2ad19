import { expect, test } from "bun:test";
import { compareIndexes } from "./walk.ts";

test("indexes are ordered number by number", () => {
  const ordered = ["0", "1", "1.0", "1.9", "1.10", "2", "9.1", "10", "10.1.1", "10.2", "4294967295"];
  for (const [i, a] of ordered.entries()) {
    for (const [j, b] of ordered.entries()) expect(Math.sign(compareIndexes(a, b))).toBe(Math.sign(i - j));
  }
});
