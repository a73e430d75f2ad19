import { expect, test } from "bun:test";
import { memo } from "./memo.ts";

test("what was made once is not made again, until too much is kept", () => {
  const made: string[] = [];
  const upper = memo((text) => {
    made.push(text);
    return text.toUpperCase();
  });
  expect([upper("a"), upper("b"), upper("a")]).toEqual(["A", "B", "A"]);
  expect(made).toEqual(["a", "b"]);
  for (let i = 0; i < 1000; i++) upper(String(i));
  expect(upper("a")).toBe("A");
  expect(made.filter((text) => text === "a")).toHaveLength(2);
});

test("a text of any length is answered, a long one without being kept", () => {
  let times = 0;
  const length = memo((text) => {
    times++;
    return text.length;
  });
  expect([length("x".repeat(5000)), length("x".repeat(5000))]).toEqual([5000, 5000]);
  expect(times).toBe(2);
});
