/** What a run repeats of its failures at the end. */
import { expect, test } from "bun:test";
import { failureReasons } from "../../scripts/test/failure-reasons.ts";

test("the error of each failed test is found, and nothing of those that passed", () => {
  const output = [
    "test/a.test.ts:",
    "(pass) one [1ms]",
    "4 | expect(1).toBe(2)",
    "error: expect(received).toBe(expected)",
    "Expected: 2",
    "(fail) two [1ms]",
    "(pass) three",
    "(fail) four",
    "2 tests failed:",
    "(fail) two [1ms]",
    "(fail) four",
  ].join("\n");
  expect(failureReasons(output)).toEqual([
    "(fail) two [1ms]\nerror: expect(received).toBe(expected)\nExpected: 2",
    "(fail) four\nno error was printed",
  ]);
});

test("of a long error the beginning is kept", () => {
  const lines = Array.from({ length: 100 }, (_, i) => `line ${i}`);
  const [reason] = failureReasons(["error: long", ...lines, "(fail) five"].join("\n"));
  expect(reason?.split("\n")).toHaveLength(26);
  expect(reason).toContain("error: long\nline 0");
});
