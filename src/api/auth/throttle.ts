/**
 * Limits failed logins per client address: a burst at once, then one every `refillMs`. A token is consumed before the
 * password is checked and refunded when it was right. Counting failures afterwards instead would let a client start
 * any number of guesses before the first one has failed.
 *
 * IPv6 addresses count by /64, because one customer gets a whole /64.
 */
import ipaddr from "ipaddr.js";
import type { Clock } from "../../lib/clock.ts";
import { TokenBuckets } from "../../lib/token-bucket.ts";

/** `burst` and `refillMs` may change while the throttle is in use. */
export interface ThrottleOptions {
  /** Failures allowed at once. */
  readonly burst: number;
  readonly refillMs: number;
  /** Addresses tracked at the same time; the least recently used one is evicted. */
  readonly maxAddresses: number;
}

export const THROTTLE_DEFAULTS: ThrottleOptions = { burst: 10, refillMs: 1000, maxAddresses: 10_000 };

export interface Throttle {
  /** Returns 0 when an attempt is allowed, otherwise the milliseconds until the next one is. */
  consume(address: string): number;
  /** Returns the token of an attempt that was not a wrong guess. */
  refund(address: string): void;
}

export function createThrottle(
  clock: Pick<Clock, "monotonic">,
  options: ThrottleOptions = THROTTLE_DEFAULTS,
): Throttle {
  const buckets = new TokenBuckets(clock, {
    get burst() {
      return options.burst;
    },
    get refillMs() {
      return options.refillMs;
    },
    maxKeys: options.maxAddresses,
  });
  return {
    consume: (address) => buckets.take(addressKey(address)),
    refund: (address) => buckets.giveBack(addressKey(address)),
  };
}

/** The address itself for IPv4, also when it is mapped into IPv6; the first 64 bits for IPv6. */
export function addressKey(address: string): string {
  const zoneless = address.replace(/%.*$/, "");
  if (!ipaddr.isValid(zoneless)) return address;
  const parsed = ipaddr.process(zoneless);
  return parsed instanceof ipaddr.IPv6 ? parsed.toByteArray().slice(0, 8).join(".") : parsed.toString();
}
