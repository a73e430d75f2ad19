import { expect, test } from "bun:test";
import { losesMessages } from "./server-version.ts";

test.each([
  ["2.9.10", true],
  ["v2.9.25", true],
  ["1.4.1", true],
  ["2.10.0", false],
  ["2.15.2", false],
  ["3.0.0-RC.1", false],
])("%s", (version, isLossy) => {
  expect(losesMessages(version)).toBe(isLossy);
});
