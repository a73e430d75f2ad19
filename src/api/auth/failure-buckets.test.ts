import { expect, test } from "bun:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { addressKey, FailedPairs, FailureBuckets, pairKey } from "./failure-buckets.ts";

const RATE = { burst: 3, refillMs: 1000 };

test("a burst at once, then one a second, whatever the clock of the machine is set to", async () => {
  const clock = new ManualClock();
  const buckets = new FailureBuckets(clock, RATE, 10);
  for (let i = 0; i < 3; i++) {
    expect(buckets.waitMs("a.")).toBe(0);
    buckets.add("a.");
  }
  expect(buckets.waitMs("a.")).toBe(1000);
  expect(buckets.waitMs("b.")).toBe(0);
  clock.setBy(-86_400_000);
  expect(buckets.waitMs("a.")).toBe(1000);
  await clock.advance(400);
  expect(buckets.waitMs("a.")).toBe(600);
  await clock.advance(600);
  expect(buckets.waitMs("a.")).toBe(0);
  buckets.add("a.");
  buckets.remove("a.");
  expect(buckets.waitMs("a.")).toBe(0);
});

test("many keys do not erase the failures of another one; those without room share by network", async () => {
  const clock = new ManualClock();
  const buckets = new FailureBuckets(clock, RATE, 100);
  const guesser = addressKey("192.0.2.1");
  for (let i = 0; i < 3; i++) buckets.add(guesser);
  for (let i = 0; i < 5000; i++) buckets.add(addressKey(`198.51.${i >> 8}.${i & 255}`));
  expect(buckets.waitMs(guesser)).toBe(1000);
  // The flood throttles its own network, and no other.
  expect(buckets.waitMs(addressKey("198.51.99.99"))).toBeGreaterThan(0);
  expect(buckets.waitMs(addressKey("203.0.113.1"))).toBe(0);
  await clock.advance(10_000);
  expect(buckets.waitMs(addressKey("198.51.99.99"))).toBe(0);
});

test("addresses count by IPv4 address and by /64 of IPv6", () => {
  expect(addressKey("::ffff:192.0.2.1")).toBe(addressKey("192.0.2.1"));
  expect(addressKey("192.0.2.1")).not.toBe(addressKey("192.0.2.2"));
  expect(addressKey("2001:db8::1")).toBe(addressKey("2001:db8::ffff:1%eth0"));
  expect(addressKey("2001:db8::1")).not.toBe(addressKey("2001:db8:0:1::1"));
  expect(addressKey("unix")).not.toBe(addressKey(""));
  expect(pairKey("a.", "x".repeat(4000)).length).toBeLessThan(30);
});

test("a failed pair is remembered for a minute, also while others fill the table; those without room share by network", async () => {
  const clock = new ManualClock();
  const pairs = new FailedPairs(clock, 100);
  const fail = (address: string) => pairs.begin(address, ["ann"]).end(true);
  expect(pairs.any).toBe(false);
  fail("192.0.2.1");
  await clock.advance(30_000);
  for (let i = 0; i < 5000; i++) fail(`198.51.${i >> 8}.${i & 255}`);
  expect(pairs.has("192.0.2.1", "ann")).toBe(true);
  expect(pairs.has("192.0.2.1", "bob")).toBe(false);
  expect(pairs.has("198.51.99.99", "ann")).toBe(true);
  expect(pairs.has("203.0.113.1", "ann")).toBe(false);
  await clock.advance(30_000);
  expect(pairs.has("192.0.2.1", "ann")).toBe(false);
  expect(pairs.has("198.51.99.99", "ann")).toBe(true);
  await clock.advance(30_000);
  expect(pairs.any).toBe(false);
});
