/**
 * Slows down guessing: each client address may fail a number of times quickly and then once a second. A token is
 * taken before the password is looked at and given back when it was right, so that a hundred guesses sent at once
 * are not all under way before the first has failed. IPv6 counts by /64, which is what one customer gets.
 */
import ipaddr from "ipaddr.js";
import type { Clock } from "../../lib/clock.ts";

export interface ThrottleOptions {
  /** Failures allowed at once. */
  readonly burst: number;
  /** After those, one more every so often. */
  readonly refillMs: number;
  /** Addresses remembered; the one unseen for longest is forgotten first. */
  readonly mostAddresses: number;
}

export const THROTTLE_DEFAULTS: ThrottleOptions = { burst: 10, refillMs: 1000, mostAddresses: 10_000 };

export interface Throttle {
  /** 0 when a try is allowed (and counted); otherwise milliseconds until the next one is. */
  take(address: string): number;
  /** The try was no guess. */
  giveBack(address: string): void;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

export function createThrottle(clock: Clock, options: ThrottleOptions = THROTTLE_DEFAULTS): Throttle {
  const { burst, refillMs, mostAddresses } = options;
  const buckets = new Map<string, Bucket>();

  function filled(address: string): Bucket {
    const key = addressKey(address);
    const now = clock.now();
    const old = buckets.get(key);
    const gained = old ? Math.max(0, now - old.atMs) / refillMs : burst;
    const bucket = { tokens: Math.min(burst, (old?.tokens ?? 0) + gained), atMs: now };
    buckets.delete(key); // so that the map's order is the order of use
    buckets.set(key, bucket);
    if (buckets.size > mostAddresses) {
      const [longestUnseen] = buckets.keys();
      if (longestUnseen !== undefined) buckets.delete(longestUnseen);
    }
    return bucket;
  }

  return {
    take(address) {
      const bucket = filled(address);
      if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) * refillMs);
      bucket.tokens -= 1;
      return 0;
    },
    giveBack(address) {
      const bucket = filled(address);
      bucket.tokens = Math.min(burst, bucket.tokens + 1);
    },
  };
}

/** The address itself for IPv4 (also when mapped into IPv6), the first 64 bits for IPv6. */
export function addressKey(address: string): string {
  const zoneless = address.replace(/%.*$/, "");
  if (!ipaddr.isValid(zoneless)) return address;
  const parsed = ipaddr.process(zoneless);
  return parsed instanceof ipaddr.IPv6 ? parsed.toByteArray().slice(0, 8).join(".") : parsed.toString();
}
