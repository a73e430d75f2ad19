/** What problems cut off, and what of it stays while they last. */
import { expect, test } from "bun:test";
import type { ClaimChange } from "../../src/model/claim.ts";
import { openHarness } from "./harness.ts";
import {
  A,
  B,
  C,
  device,
  HOUR_MS,
  host,
  letPass,
  linkOf,
  noLink,
  read,
  summary,
  TREE,
} from "./problem-network.ts";

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

const noHost = (n: number): ClaimChange => ({ op: "remove", kind: "hosts", id: `00:00:00:00:00:0${n}/None` });

test("hosts that the source no longer sees stay cut off as long as lost links are listed", async () => {
  await using harness = await openHarness();
  await harness.apply([...TREE, host(5, B, "5"), host(6, B, "6"), host(7, B, "7"), host(8, A, "8")]);
  await harness.apply([noHost(5)]);
  await letPass(harness, HOUR_MS);
  await harness.apply(noLink(A, B));
  const cut = `critical link-lost:${linkOf(A, B)} -1/3`;
  expect(summary(await read(harness))).toEqual([cut]);
  await letPass(harness, HOUR_MS);
  await harness.apply([noHost(3), noHost(6), noHost(8)]);
  expect(summary(await read(harness))).toEqual([cut]);
  // One appears again, elsewhere.
  await harness.apply([host(6, A, "6")]);
  const roamed = `critical link-lost:${linkOf(A, B)} -1/2`;
  expect(summary(await read(harness))).toEqual([roamed]);
  expect(summary(await read(harness, "?at=4"))).toEqual([cut]);
  await harness.apply([device(B, false)]);
  await letPass(harness, 25 * HOUR_MS);
  await harness.apply([device(C)]);
  // Host 3 left more than a day ago.
  await harness.apply([host(9, A, "9")]);
  expect(summary(await read(harness))).toEqual([`critical device-unavailable:${B} -1/1`]);
});
