/**
 * Token buckets, one per key: a key can take `burst` tokens at once and gains one every `refillMs`. A key that is not
 * stored has a full bucket, so that evicting the least recently used key only makes the limit less precise.
 */
import { createBoundedCache } from "./bounded-cache.ts";
import type { Clock } from "./clock.ts";

export interface TokenBucketOptions {
  readonly burst: number;
  readonly refillMs: number;
  /** Keys stored at the same time. */
  readonly maxKeys: number;
}

interface Bucket {
  tokens: number;
  updatedAt: number;
}

export class TokenBuckets {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #options: TokenBucketOptions;
  readonly #buckets;

  constructor(clock: Pick<Clock, "monotonic">, options: TokenBucketOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#buckets = createBoundedCache<string, Bucket>({ maxSize: options.maxKeys });
  }

  /**
   * Returns 0 when the tokens were taken; otherwise the milliseconds until they are available. More than a full bucket
   * holds counts as a full bucket.
   */
  take(key: string, count = 1): number {
    const bucket = this.#refilled(key);
    const tokens = Math.min(count, this.#options.burst);
    if (bucket.tokens < tokens) return Math.ceil((tokens - bucket.tokens) * this.#options.refillMs);
    bucket.tokens -= tokens;
    return 0;
  }

  /** Returns tokens that were taken but not used. */
  giveBack(key: string, count = 1): void {
    const bucket = this.#refilled(key);
    bucket.tokens = Math.min(this.#options.burst, bucket.tokens + count);
  }

  /** Whole tokens that can be taken now. */
  available(key: string): number {
    return Math.floor(this.#refilled(key).tokens);
  }

  #refilled(key: string): Bucket {
    const { burst, refillMs } = this.#options;
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(key);
    if (!bucket) {
      const full = { tokens: burst, updatedAt: now };
      this.#buckets.set(key, full);
      return full;
    }
    const gained = (now - bucket.updatedAt) / refillMs;
    bucket.tokens = Math.min(burst, bucket.tokens + gained);
    bucket.updatedAt = now;
    return bucket;
  }
}
