/**
 * Failed logins: their number by key (`FailureBuckets`), and the pairs of address and user that had one in the last minute
 * (`FailedPairs`).
 *
 * `FailureBuckets` counts failed logins per key. A key may fail `burst` times at once, and one failure is forgotten every
 * `refillMs`. A client that guesses from many addresses uses each one so rarely that its failures would be forgotten in
 * between, so a key also has recent failures, of which one is forgotten every minute. They only decide the order in the
 * queue, and are dropped with the key when the table is full. A key without failures is not stored.
 *
 * While `maxKeys` keys have failures, none is dropped for a new one, because otherwise a client with many addresses could
 * erase the failures of all keys, including its own. A key that finds no room shares a counter with its network.
 */
import { createHash } from "node:crypto";
import { parseAddress } from "../../lib/address-ranges.ts";
import type { Clock } from "../../lib/clock.ts";

/** The rate at which failures are allowed. The values may change, so they are read at each use. */
export interface FailureRate {
  /** Number of failures that are allowed at once. */
  readonly burst: number;
  readonly refillMs: number;
}

interface Bucket {
  failures: number;
  recent: number;
  updatedAt: number;
}

/** Time after which one recent failure is forgotten. */
const RECENT_FAILURE_MS = 60_000;
const SWEEP_INTERVAL_MS = 1000;
const SHARED_BUCKETS = 1024;

export class FailureBuckets {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #rate: FailureRate;
  readonly #maxKeys: number;
  readonly #buckets = new Map<string, Bucket>();
  readonly #shared = new Map<number, Bucket>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">, rate: FailureRate, maxKeys: number) {
    this.#clock = clock;
    this.#rate = rate;
    this.#maxKeys = maxKeys;
  }

  /** Number of failures of the last minutes. */
  recentFailures(key: string): number {
    const bucket = this.#find(key);
    return bucket ? this.#forget(bucket).recent : 0;
  }

  /** Milliseconds until another failure is allowed; 0 if it is allowed now. */
  waitMs(key: string): number {
    const { burst, refillMs } = this.#rate;
    // The value is rounded first, because sums of fractions may exceed a whole number by a tiny part.
    const waitMs = Math.round((this.#failures(key) + 1 - burst) * refillMs * 1000) / 1000;
    return Math.max(0, Math.ceil(waitMs));
  }

  /** Number of failures that are allowed now. */
  allowed(key: string): number {
    return Math.max(0, Math.floor(this.#rate.burst - this.#failures(key)));
  }

  add(key: string): void {
    const bucket = this.#find(key) ?? this.#create(key);
    this.#forget(bucket);
    bucket.failures++;
    bucket.recent++;
  }

  /** Reverses one `add`. */
  remove(key: string): void {
    const bucket = this.#find(key);
    if (!bucket) return;
    this.#forget(bucket);
    bucket.failures = Math.max(0, bucket.failures - 1);
    bucket.recent = Math.max(0, bucket.recent - 1);
    if (bucket.failures === 0 && bucket.recent === 0) this.#buckets.delete(key);
  }

  #failures(key: string): number {
    const bucket = this.#find(key);
    return bucket ? this.#forget(bucket).failures : 0;
  }

  #find(key: string): Bucket | undefined {
    return this.#buckets.get(key) ?? (this.#hasRoom() ? undefined : this.#shared.get(sharedIndex(key)));
  }

  #create(key: string): Bucket {
    const bucket: Bucket = { failures: 0, recent: 0, updatedAt: this.#clock.monotonic() };
    if (this.#hasRoom()) this.#buckets.set(key, bucket);
    else this.#shared.set(sharedIndex(key), bucket);
    return bucket;
  }

  #forget(bucket: Bucket): Bucket {
    const now = this.#clock.monotonic();
    const passedMs = now - bucket.updatedAt;
    bucket.failures = Math.max(0, bucket.failures - passedMs / this.#rate.refillMs);
    bucket.recent = Math.max(0, bucket.recent - passedMs / RECENT_FAILURE_MS);
    bucket.updatedAt = now;
    return bucket;
  }

  /** Whether another key can be stored. If the table is full, drops the keys without failures, with their recent failures. */
  #hasRoom(): boolean {
    if (this.#buckets.size < this.#maxKeys) return true;
    const now = this.#clock.monotonic();
    if (now - this.#sweptAt < SWEEP_INTERVAL_MS) return false;
    this.#sweptAt = now;
    for (const [key, bucket] of this.#buckets)
      if (this.#forget(bucket).failures === 0) this.#buckets.delete(key);
    return this.#buckets.size < this.#maxKeys;
  }
}

/** Time after the last failed or refused login of a pair during which its cached credential is checked again. */
const FAILED_PAIR_MS = 60_000;

/**
 * The pairs of client address and user with a login that failed or was refused in the last minute, or that is not decided
 * yet. Only the time of the last failure of each pair is stored. The table is bounded like that of `FailureBuckets`: when
 * it is full, no pair is dropped early, and further pairs are marked together with their network.
 */
export class FailedPairs {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #maxPairs: number;
  /** The time of the last failure by pair, oldest first. */
  readonly #failedAt = new Map<string, number>();
  /** The time of the last failure by network, for pairs that found no room, oldest first. */
  readonly #networkFailedAt = new Map<number, number>();
  /** Number of undecided logins by pair. The limits of the queue and of connections bound its size. */
  readonly #undecided = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonic">, maxPairs: number) {
    this.#clock = clock;
    this.#maxPairs = maxPairs;
  }

  /** Whether there is any pair. Usually there is none, so a caller that checks it before `has` need not build a key. */
  get any(): boolean {
    if (this.#undecided.size > 0) return true;
    if (this.#markCount > 0) this.#forget();
    return this.#markCount > 0;
  }

  get #markCount(): number {
    return this.#failedAt.size + this.#networkFailedAt.size;
  }

  has(address: string, user: string): boolean {
    if (!this.any) return false;
    const key = userKey(address, user);
    if (this.#undecided.has(key) || this.#failedAt.has(key)) return true;
    return this.#networkFailedAt.size > 0 && this.#networkFailedAt.has(sharedIndex(key));
  }

  /** Marks the begin of a login. `users` are the known users that its header may name; no other has a cached credential. */
  begin(address: string, users: Iterable<string>): UndecidedLogin {
    const keys = Array.from(users, (user) => userKey(address, user));
    for (const key of keys) this.#undecided.set(key, (this.#undecided.get(key) ?? 0) + 1);
    return {
      end: (hasFailed) => {
        for (const key of keys) {
          this.#end(key);
          if (hasFailed) this.#mark(key);
        }
      },
    };
  }

  #end(key: string): void {
    const others = (this.#undecided.get(key) ?? 1) - 1;
    if (others > 0) this.#undecided.set(key, others);
    else this.#undecided.delete(key);
  }

  #mark(key: string): void {
    this.#forget();
    const now = this.#clock.monotonic();
    // The key is deleted first, so that the keys stay in the order of their times.
    if (this.#failedAt.delete(key) || this.#failedAt.size < this.#maxPairs) this.#failedAt.set(key, now);
    else {
      const network = sharedIndex(key);
      this.#networkFailedAt.delete(network);
      this.#networkFailedAt.set(network, now);
    }
  }

  #forget(): void {
    const before = this.#clock.monotonic() - FAILED_PAIR_MS;
    forgetUntil(this.#failedAt, before);
    forgetUntil(this.#networkFailedAt, before);
  }
}

export interface UndecidedLogin {
  /** Must be called once. A refused login has failed too. */
  end(hasFailed: boolean): void;
}

function forgetUntil<Key>(times: Map<Key, number>, before: number): void {
  for (const [key, time] of times) {
    if (time > before) return;
    times.delete(key);
  }
}

/** The key of an address and a known user, whose name is short and needs no hash. */
const userKey = (address: string, user: string): string => `${addressKey(address)} ${user}`;

/**
 * The key of an address: an IPv4 address, also when it is mapped into IPv6, or the /64 of an IPv6 address, because one
 * customer gets a whole /64. The part before the dot is the network around it: the /16 or /32.
 */
export function addressKey(address: string): string {
  const parsed = parseAddress(address);
  if (!parsed) return `.${address}`;
  const bytes = Buffer.from(parsed.toByteArray());
  const [networkBytes, keyBytes] = bytes.length === 4 ? [2, 4] : [4, 8];
  return `${bytes.toString("hex", 0, networkBytes)}.${bytes.toString("hex", networkBytes, keyBytes)}`;
}

/** The key of an address and a user name. The name is hashed, because it may be long. */
export const pairKey = (address: string, name: string): string =>
  `${address} ${createHash("sha256").update(name).digest("base64").slice(0, 16)}`;

function sharedIndex(key: string): number {
  const network = key.slice(0, key.indexOf("."));
  return Number(Bun.hash(network) % BigInt(SHARED_BUCKETS));
}
