import { expect, test } from "bun:test";
import { fuzz, MAX_GROWN_MIB } from "./fuzz.ts";

test("three thousand hostile peers: no crash, no hang, nothing left behind, others undisturbed", async () => {
  const { source, honestSessions, honestLinks, grownMiB } = await fuzz(3000, 6653);
  expect(honestSessions).toBe(2);
  expect(honestLinks).toBe(2);
  expect(grownMiB).toBeLessThan(MAX_GROWN_MIB);
  expect(source.metric("malformed_total")).toBeGreaterThan(100);
  expect(source.metric("sessions_total")).toBeGreaterThan(100);
}, 60_000);
