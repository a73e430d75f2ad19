import { expect, test } from "bun:test";
import { fuzz, MAX_HEAP_GROWTH_MIB } from "./fuzz.ts";

test("3000 hostile peers cause no crash, no hang and no leak, and do not affect other sessions", async () => {
  const { source, honestSessions, honestLinks, heapGrowthMiB } = await fuzz(3000, 6653);
  expect(honestSessions).toBe(2);
  expect(honestLinks).toBe(2);
  expect(heapGrowthMiB).toBeLessThan(MAX_HEAP_GROWTH_MIB);
  expect(source.metric("malformed_total")).toBeGreaterThan(100);
  expect(source.metric("sessions_total")).toBeGreaterThan(100);
}, 60_000);
