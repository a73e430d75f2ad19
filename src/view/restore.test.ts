import { expect, test } from "bun:test";
import { ClaimedNetwork, snapshotNow } from "../../test/support/claims.ts";
import { restoreView } from "./restore.ts";

test("the progress of a start goes through the snapshot and the changes after it", async () => {
  const net = new ClaimedNetwork(["first"]);
  const ids = Array.from({ length: 1000 }, (_, i) => `d${i}`);
  await net.set("first", "devices", ...ids.map((id) => ({ id })));
  await net.log.writeSnapshot(snapshotNow(net.view));
  for (const id of ["x", "y"]) await net.set("first", "devices", { id });
  const progress: Record<string, number[]> = { snapshot: [], changes: [] };
  const { view } = restoreView(net.log, (what, part) => progress[what]?.push(part));
  expect(view.size("devices")).toBe(1002);
  expect(progress.changes).toEqual([0.5, 1]);
  expect(progress.snapshot?.length).toBeGreaterThan(1);
  expect(progress.snapshot?.at(-1)).toBe(1);
  expect(progress.snapshot).toEqual(progress.snapshot?.toSorted((a, b) => a - b));
});
