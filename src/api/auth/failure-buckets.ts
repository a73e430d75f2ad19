/**
 * Failed logins: how many a key has (`FailureBuckets`), and which pairs of address and user had one in the last minute
 * (`FailedPairs`).
 *
 * `FailureBuckets` counts failed logins per key. A key may fail `burst` times at once, and each failure is forgotten after
 * `refillMs`, one after the other. That is sooner than many addresses come round again, so a key also has its recent
 * failures, each of which is remembered for a minute. They decide an order only, and
 * go with the key when room is made. A key without failures is not stored.
 *
 * When `maxKeys` keys have failures, none is dropped for a new one: otherwise a client with many addresses could erase the
 * failures of all keys, its own included. Keys that find no room share a counter with their neighbours in the network.
 */
import { createHash } from "node:crypto";
import { parseAddress } from "../../lib/address-ranges.ts";
import type { Clock } from "../../lib/clock.ts";

/** Read at each use: the values may change. */
export interface FailureRate {
  /** Failures allowed at once. */
  readonly burst: number;
  readonly refillMs: number;
}

interface Bucket {
  failures: number;
  recent: number;
  updatedAt: number;
}

/** How long each recent failure is remembered, one after the other. */
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

  /** Failures of the last minutes. */
  recentFailures(key: string): number {
    const bucket = this.#find(key);
    return bucket ? this.#forget(bucket).recent : 0;
  }

  /** Milliseconds until another failure is allowed; 0 when it is now. */
  waitMs(key: string): number {
    const { burst, refillMs } = this.#rate;
    // Rounded first: sums of fractions may exceed a whole number by a tiny part.
    const waitMs = Math.round((this.#failures(key) + 1 - burst) * refillMs * 1000) / 1000;
    return Math.max(0, Math.ceil(waitMs));
  }

  /** How many failures are allowed now. */
  allowed(key: string): number {
    return Math.max(0, Math.floor(this.#rate.burst - this.#failures(key)));
  }

  add(key: string): void {
    const bucket = this.#find(key) ?? this.#create(key);
    this.#forget(bucket);
    bucket.failures++;
    bucket.recent++;
  }

  /** Takes an `add` back. */
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

  /** Drops the keys that are not throttled, when there is no room otherwise; their recent failures are lost. */
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

/** How long a cached credential of a pair is checked again after the pair's last failed or refused login. */
const FAILED_PAIR_MS = 60_000;

/**
 * The pairs of client address and user with a login that failed or was refused in the last minute, or that is not decided
 * yet. Each pair has the time of its last failure only. The table is bounded as that of `FailureBuckets`: when it is full,
 * no pair is dropped early, and further ones are marked together with their network.
 */
export class FailedPairs {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #maxPairs: number;
  /** The time of the last failure by pair, oldest first. */
  readonly #failedAt = new Map<string, number>();
  /** The same for networks whose pairs found no room. */
  readonly #networkFailedAt = new Map<number, number>();
  /** Number of undecided logins by pair. The queue and the number of connections bound it. */
  readonly #undecided = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonic">, maxPairs: number) {
    this.#clock = clock;
    this.#maxPairs = maxPairs;
  }

  /** Whether there is any pair. Read it before `has`: mostly there is none, and then no key need be made. */
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

  /** A login begins. `users` are the known users that its header may mean: no other name has a cached credential. */
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
    // Deleted first, so that the order is that of the times.
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
  /** Call it once. A refused login has failed too. */
  end(hasFailed: boolean): void;
}

function forgetUntil<Key>(times: Map<Key, number>, before: number): void {
  for (const [key, time] of times) {
    if (time > before) return;
    times.delete(key);
  }
}

/** Names of known users are short, so they need no hash. */
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
