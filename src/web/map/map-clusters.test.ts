import { expect, test } from "bun:test";
import { commonPrefix } from "./map-clusters.ts";

test.each([
  [["fra1-leaf1", "fra1-leaf2"], "fra1-"],
  [["fra1-core1"], ""],
  [["a", "b"], ""],
  [["of:01", "of:02"], ""],
  [["x-", "x-1"], ""],
  [["dc.row1.a", "dc.row1.b", "dc.row2.a"], "dc."],
])("commonPrefix of %j is %j", (names, prefix) => {
  expect(commonPrefix(names)).toBe(prefix);
});
