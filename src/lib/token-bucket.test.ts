import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { TokenBuckets } from "./token-bucket.ts";

function buckets(maxKeys = 10) {
  const clock = new ManualClock(0);
  return { clock, bucket: new TokenBuckets(clock, { burst: 2, refillMs: 1000, maxKeys }) };
}

test("a burst, then one token each refill interval, never more than the burst", async () => {
  const { clock, bucket } = buckets();
  expect([bucket.take("a"), bucket.take("a"), bucket.take("a")]).toEqual([0, 0, 1000]);
  await clock.advance(400);
  expect(bucket.take("a")).toBe(600);
  await clock.advance(600);
  expect([bucket.take("a"), bucket.take("a")]).toEqual([0, 1000]);
  await clock.advance(60_000);
  expect(bucket.available("a")).toBe(2);
});

test("several tokens at once, or none; more than a full bucket counts as a full one", async () => {
  const { clock, bucket } = buckets();
  expect(bucket.take("a")).toBe(0);
  expect(bucket.take("a", 2)).toBe(1000);
  expect(bucket.available("a")).toBe(1);
  await clock.advance(1000);
  expect(bucket.take("a", 50)).toBe(0);
  bucket.giveBack("a", 50);
  expect(bucket.available("a")).toBe(2);
});

test("keys do not share tokens", () => {
  const { bucket } = buckets();
  bucket.take("a");
  bucket.take("a");
  expect(bucket.take("b")).toBe(0);
});

test("a returned token can be taken again, but the bucket does not overflow", () => {
  const { bucket } = buckets();
  bucket.giveBack("a");
  expect(bucket.available("a")).toBe(2);
  bucket.take("a");
  bucket.take("a");
  bucket.giveBack("a");
  expect([bucket.take("a"), bucket.take("a")]).toEqual([0, 1000]);
});

test("the least recently used key is evicted when there are too many", () => {
  const { bucket } = buckets(2);
  for (const key of ["a", "a", "b", "b", "b"]) bucket.take(key);
  bucket.take("c");
  expect(bucket.available("a")).toBe(2);
});

test("a clock that is set neither adds tokens nor takes any away", () => {
  const clock = new ManualClock();
  const bucket = new TokenBuckets(clock, { burst: 2, refillMs: 1000, maxKeys: 10 });
  bucket.take("a");
  clock.setBy(-5_000);
  expect(bucket.available("a")).toBe(1);
  clock.setBy(50_000);
  expect(bucket.available("a")).toBe(1);
});
