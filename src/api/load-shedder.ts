/**
 * What keeps one client, or all of them together, from taking the service down: requests per second of a user, and a
 * valve that turns new requests away while the event loop is late, so that those under way still get their answers.
 */
import type { Clock } from "../lib/clock.ts";
import { Problem } from "./problem.ts";

export interface RateLimiter {
  /** Headers that tell the user where it stands; throws when it has used up its share. */
  take(user: string): Readonly<Record<string, string>>;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** A token bucket a user, as large as one second's share. */
export function createRateLimiter(perSecond: number, clock: Clock): RateLimiter {
  const buckets = new Map<string, Bucket>();
  const policy = `"user";q=${perSecond};w=1`;
  return {
    take(user) {
      if (perSecond === 0) return {};
      const now = clock.now();
      const bucket = buckets.get(user) ?? { tokens: perSecond, at: now };
      bucket.tokens = Math.min(perSecond, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
      bucket.at = now;
      buckets.set(user, bucket);
      const left = Math.floor(bucket.tokens) - 1;
      const headers = { RateLimit: `"user";r=${Math.max(0, left)};t=1`, "RateLimit-Policy": policy };
      if (left < 0) {
        throw new Problem(
          "too-many-requests",
          `This user may make ${perSecond} requests a second; wait a second.`,
          {
            ...headers,
            "Retry-After": "1",
          },
        );
      }
      bucket.tokens -= 1;
      return headers;
    },
  };
}

/** How late a timer may be before new requests are turned away. */
const MAX_LATE_MS = 2_000;
const LOOK_EVERY_MS = 250;

/** Watches how late the event loop is. */
export class LoadShedder {
  #shut = false;

  get shut(): boolean {
    return this.#shut;
  }

  async watch(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const before = clock.now();
      await clock.sleep(LOOK_EVERY_MS, signal);
      this.#shut = clock.now() - before - LOOK_EVERY_MS > MAX_LATE_MS;
    }
  }
}
