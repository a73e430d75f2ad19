/** What problems cut off, and what of it stays while they last. */
import { expect, test } from "bun:test";
import type { ClaimChange } from "../../src/model/claim.ts";
import { openHarness } from "./harness.ts";
import { A, B, C, device, read, summary, TREE } from "./problem-network.ts";

const dualHomed = (n: number, ...at: readonly string[]): ClaimChange => {
  const locations = at.map((elementId) => ({ elementId, port: String(n) }));
  return { op: "set", kind: "hosts", claim: { mac: `00:00:00:00:01:0${n}`, vlan: "None", locations } };
};

test("a host at two devices is not cut off with the first of them", async () => {
  await using harness = await openHarness();
  await harness.apply([...TREE, dualHomed(1, B, C), dualHomed(2, C, B)]);
  await harness.apply([device(B, false)]);
  const down = [`critical device-unavailable:${B} -1/1`];
  expect(summary(await read(harness))).toEqual(down);
  await harness.apply([device(C, false)]);
  const both = [`critical device-unavailable:${C} -1/2`, `critical device-unavailable:${B} -1/2`];
  expect(summary(await read(harness))).toEqual(both);
  // It moves away from one of them.
  await harness.apply([dualHomed(1, A, C)]);
  expect(summary(await read(harness, "?kind=device-unavailable"))).toEqual([
    `critical device-unavailable:${C} -1/2`,
    `critical device-unavailable:${B} -1/1`,
  ]);
  expect(summary(await read(harness, "?at=2"))).toEqual(down);
  expect(summary(await read(harness, "?at=3"))).toEqual(both);
});
