import { expect, test } from "bun:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { ProblemDetails } from "../response/problem.ts";
import { Admission, RateLimiter } from "./admission.ts";

const limiterOf = (limits: { requestsPerSecond: number }, clock = new ManualClock()) =>
  new RateLimiter(limits, clock);

test("each user has its own share, which refills within a second", async () => {
  const clock = new ManualClock();
  const limiter = limiterOf({ requestsPerSecond: 2 }, clock);
  limiter.take("ann");
  limiter.take("ann");
  expect(() => limiter.take("ann")).toThrow("2 requests a second");
  limiter.take("bob");
  await clock.advance(500);
  expect(limiter.take("ann")).toEqual({
    RateLimit: '"user";r=0;t=1',
    "RateLimit-Policy": '"user";q=2;w=1',
  });
  expect(() => limiter.take("ann")).toThrow();
  await clock.advance(60_000);
  expect(limiter.take("ann").RateLimit).toBe('"user";r=1;t=1');
});

test("without a limit there are no headers and no rejections", () => {
  const limiter = limiterOf({ requestsPerSecond: 0 });
  for (let i = 0; i < 100; i++) expect(limiter.take("ann")).toEqual({});
});

test("a changed limit applies at once", () => {
  const limits = { requestsPerSecond: 0 };
  const limiter = limiterOf(limits);
  limiter.take("ann");
  limits.requestsPerSecond = 1;
  limiter.take("ann");
  expect(() => limiter.take("ann")).toThrow("1 requests a second");
});

test("requests in flight are limited", () => {
  const limits = { connections: 2, requestsPerSecond: 0 };
  const admission = new Admission(limits, new ManualClock());
  const admit = (inFlight: number) =>
    admission.admit({ target: "/" }, { inFlight }, "ann", () => new ProblemDetails("overloaded", "full"));
  expect(admit(1)).toEqual({});
  expect(() => admit(2)).toThrow("full");
});
