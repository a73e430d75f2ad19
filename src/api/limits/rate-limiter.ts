/**
 * Limits requests per second and user with a token bucket that holds one second's share. Every response carries the
 * `RateLimit` headers, so that a client can slow down before it is rejected.
 */

import { Problem } from "../response/problem.ts";
import type { Shares } from "./shares.ts";

export interface RateLimiter {
  /**
   * Returns the headers for the response; throws a `Problem` when the user has no requests left, or `ShareExhausted`.
   */
  consume(user: string): Readonly<Record<string, string>>;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** `requestsPerSecond` 0 means no limit. The value may change while the limiter is in use. */
export function createRateLimiter(
  limits: { readonly requestsPerSecond: number },
  shares: Pick<Shares, "takeRequest" | "requestsLeft">,
): RateLimiter {
  return {
    consume(user) {
      const { requestsPerSecond } = limits;
      if (requestsPerSecond === 0) return NO_HEADERS;
      const policy = `"user";q=${requestsPerSecond};w=1`;
      const isAllowed = shares.takeRequest(user);
      const headers = { RateLimit: `"user";r=${shares.requestsLeft(user)};t=1`, "RateLimit-Policy": policy };
      if (isAllowed) return headers;
      throw new Problem(
        "too-many-requests",
        `This user may make ${requestsPerSecond} requests a second; wait a second.`,
        { ...headers, "Retry-After": "1" },
      );
    },
  };
}
