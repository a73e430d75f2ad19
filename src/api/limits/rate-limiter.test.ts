import { expect, test } from "bun:test";
import { ManualClock } from "../../lib/clock.ts";
import { createRateLimiter } from "./rate-limiter.ts";
import { createOwnShares } from "./shares.ts";

const limiterOf = (limits: { requestsPerSecond: number }, clock = new ManualClock()) =>
  createRateLimiter(
    limits,
    createOwnShares(Object.assign(limits, { streamsPerUser: 0, connections: 0 }), clock),
  );

test("each user has its own share, which refills within a second", async () => {
  const clock = new ManualClock();
  const limiter = limiterOf({ requestsPerSecond: 2 }, clock);
  limiter.consume("ann");
  limiter.consume("ann");
  expect(() => limiter.consume("ann")).toThrow("2 requests a second");
  limiter.consume("bob");
  await clock.advance(500);
  expect(limiter.consume("ann")).toEqual({
    RateLimit: '"user";r=0;t=1',
    "RateLimit-Policy": '"user";q=2;w=1',
  });
  expect(() => limiter.consume("ann")).toThrow();
  await clock.advance(60_000);
  expect(limiter.consume("ann").RateLimit).toBe('"user";r=1;t=1');
});

test("without a limit there are no headers and no rejections", () => {
  const limiter = limiterOf({ requestsPerSecond: 0 });
  for (let i = 0; i < 100; i++) expect(limiter.consume("ann")).toEqual({});
});

test("a changed limit applies at once", () => {
  const limits = { requestsPerSecond: 0 };
  const limiter = limiterOf(limits);
  limiter.consume("ann");
  limits.requestsPerSecond = 1;
  limiter.consume("ann");
  expect(() => limiter.consume("ann")).toThrow("1 requests a second");
});
