/**
 * Limits requests per second and user with a token bucket that holds one second's share. Every response carries the
 * `RateLimit` headers, so that a client can slow down before it is rejected.
 */
import type { Clock } from "../lib/clock.ts";
import { TokenBuckets } from "../lib/token-bucket.ts";
import { Problem } from "./problem.ts";

export interface RateLimiter {
  /** Returns the headers for the response; throws a `Problem` when the user has no requests left. */
  consume(user: string): Readonly<Record<string, string>>;
}

const MAX_TRACKED_USERS = 10_000;
const NO_HEADERS: Readonly<Record<string, string>> = {};

/** `requestsPerSecond` 0 means no limit. The value may change while the limiter is in use. */
export function createRateLimiter(
  limits: { readonly requestsPerSecond: number },
  clock: Pick<Clock, "monotonic">,
): RateLimiter {
  const buckets = new TokenBuckets(clock, {
    get burst() {
      return limits.requestsPerSecond;
    },
    get refillMs() {
      return 1000 / limits.requestsPerSecond;
    },
    maxKeys: MAX_TRACKED_USERS,
  });
  return {
    consume(user) {
      const { requestsPerSecond } = limits;
      if (requestsPerSecond === 0) return NO_HEADERS;
      const policy = `"user";q=${requestsPerSecond};w=1`;
      const isAllowed = buckets.take(user) === 0;
      const headers = { RateLimit: `"user";r=${buckets.available(user)};t=1`, "RateLimit-Policy": policy };
      if (isAllowed) return headers;
      throw new Problem(
        "too-many-requests",
        `This user may make ${requestsPerSecond} requests a second; wait a second.`,
        { ...headers, "Retry-After": "1" },
      );
    },
  };
}
