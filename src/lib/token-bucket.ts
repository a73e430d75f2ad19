/**
 * Token buckets: `burst` tokens can be taken at once, and one is added every `refillMs`. A `TokenBucket` belongs to one
 * object. `TokenBuckets` has one bucket per key; a key that is not stored has a full bucket, so that evicting the least
 * recently used key only makes the limit less precise.
 */
import { createBoundedCache } from "./bounded-cache.ts";
import type { Clock } from "./clock.ts";

export interface TokenBucketOptions {
  readonly burst: number;
  readonly refillMs: number;
}

export interface TokenBucketsOptions extends TokenBucketOptions {
  /** Number of keys that are stored at the same time. */
  readonly maxKeys: number;
}

/** A token bucket. Its times are monotonic milliseconds. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #updatedAt: number;

  constructor(options: TokenBucketOptions, now: number) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#updatedAt = now;
  }

  /**
   * Returns 0 when the tokens were taken; otherwise the milliseconds until they are available. A count above `burst` is
   * treated as `burst`.
   */
  take(now: number, count = 1): number {
    this.#refill(now);
    const tokens = Math.min(count, this.#options.burst);
    if (this.#tokens < tokens) return Math.ceil((tokens - this.#tokens) * this.#options.refillMs);
    this.#tokens -= tokens;
    return 0;
  }

  /** Returns tokens that were taken but not used. */
  giveBack(now: number, count = 1): void {
    this.#refill(now);
    this.#tokens = Math.min(this.#options.burst, this.#tokens + count);
  }

  /** Number of whole tokens that can be taken now. */
  available(now: number): number {
    this.#refill(now);
    return Math.floor(this.#tokens);
  }

  #refill(now: number): void {
    const { burst, refillMs } = this.#options;
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#updatedAt) / refillMs);
    this.#updatedAt = now;
  }
}

export class TokenBuckets {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #options: TokenBucketsOptions;
  readonly #buckets;

  constructor(clock: Pick<Clock, "monotonic">, options: TokenBucketsOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#buckets = createBoundedCache<string, TokenBucket>({ maxSize: options.maxKeys });
  }

  take(key: string, count = 1): number {
    const now = this.#clock.monotonic();
    return this.#of(key, now).take(now, count);
  }

  giveBack(key: string, count = 1): void {
    const now = this.#clock.monotonic();
    this.#of(key, now).giveBack(now, count);
  }

  available(key: string): number {
    const now = this.#clock.monotonic();
    return this.#of(key, now).available(now);
  }

  #of(key: string, now: number): TokenBucket {
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      bucket = new TokenBucket(this.#options, now);
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }
}
