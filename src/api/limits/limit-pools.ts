/**
 * The limits that hold for the whole service, counted in the main process. Processes take units from here and give back
 * what they do not use (`shares.ts`), so the sum of all processes never exceeds a limit.
 *
 * - `requests`: tokens of a user's request rate. A process that took tokens may spend them later. Until it reports, they
 *   count as not spent, and the bucket refills only to what is missing then.
 * - `streams` of a user and requests `inFlight`: slots. Those of a process that ends are free again.
 */
import type { Clock } from "../../lib/clock.ts";
import { TokenBuckets } from "../../lib/token-bucket.ts";

export const LIMIT_KINDS = ["requests", "streams", "inFlight"] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** Units of a limit; `key` is the user, or empty for a limit of the service. */
export interface Units {
  readonly kind: LimitKind;
  readonly key: string;
  readonly count: number;
}

export interface Grant extends Units {
  /** Units that no process has. */
  readonly left: number;
}

/** What a process gives back. */
export interface Returned extends Units {
  /** Units granted to it since it last gave back: what is not given back now is spent, or in use. */
  readonly settled: number;
}

/** Read at each use: the values change when the service reloads its configuration. */
export interface PoolLimits {
  readonly requestsPerSecond: number;
  readonly streamsPerUser: number;
  readonly connections: number;
}

const MAX_TRACKED_USERS = 10_000;

/** What another process has taken. */
class Holding {
  /** By `slotName`. */
  readonly slots = new Map<string, number>();
  /** Tokens by user that it may not have spent yet. */
  readonly tokens = new Map<string, number>();
}

export class LimitPools {
  readonly #limits: PoolLimits;
  readonly #buckets: TokenBuckets;
  readonly #slotsTaken = new Map<string, number>();
  readonly #holdings = new Map<object, Holding>();

  constructor(limits: PoolLimits, clock: Pick<Clock, "monotonic">) {
    this.#limits = limits;
    this.#buckets = new TokenBuckets(clock, {
      get burst() {
        return limits.requestsPerSecond;
      },
      get refillMs() {
        return 1000 / limits.requestsPerSecond;
      },
      maxKeys: MAX_TRACKED_USERS,
    });
  }

  /** Takes at most `count` units for another process, or for this one, which must spend tokens at once. */
  take({ kind, key, count }: Units, holder?: object): Grant {
    if (kind === "requests") return this.#takeTokens(key, count, holder);
    const available = Math.max(0, this.#slotLimit(kind) - this.#taken(kind, key));
    const granted = Math.min(count, available);
    this.#addSlots({ kind, key, count: granted }, holder);
    return { kind, key, count: granted, left: available - granted };
  }

  giveBack({ kind, key, count, settled }: Returned, holder?: object): void {
    if (kind !== "requests") {
      this.#addSlots({ kind, key, count: -count }, holder);
      return;
    }
    this.#discardExcess(key);
    if (holder) add(this.#holdingOf(holder).tokens, key, -settled);
    this.#buckets.giveBack(key, count);
  }

  /** The process has ended. What it may have spent of its tokens is unknown, so they count as spent. */
  remove(holder: object): void {
    const holding = this.#holdings.get(holder);
    this.#holdings.delete(holder);
    for (const [name, count] of holding?.slots ?? []) add(this.#slotsTaken, name, -count);
  }

  #takeTokens(key: string, count: number, holder: object | undefined): Grant {
    this.#discardExcess(key);
    const available = this.#buckets.available(key);
    const granted = Math.min(count, available);
    if (granted > 0) this.#buckets.take(key, granted);
    if (holder) add(this.#holdingOf(holder).tokens, key, granted);
    return { kind: "requests", key, count: granted, left: available - granted };
  }

  /** The bucket and the tokens that processes hold are together at most one full bucket. */
  #discardExcess(key: string): void {
    let held = 0;
    for (const { tokens } of this.#holdings.values()) held += tokens.get(key) ?? 0;
    if (held === 0) return;
    const excess = this.#buckets.available(key) + held - this.#limits.requestsPerSecond;
    if (excess > 0) this.#buckets.take(key, Math.min(excess, this.#buckets.available(key)));
  }

  #slotLimit(kind: Exclude<LimitKind, "requests">): number {
    return kind === "streams" ? this.#limits.streamsPerUser : this.#limits.connections;
  }

  #taken(kind: LimitKind, key: string): number {
    return this.#slotsTaken.get(slotName(kind, key)) ?? 0;
  }

  #addSlots({ kind, key, count }: Units, holder: object | undefined): void {
    const name = slotName(kind, key);
    add(this.#slotsTaken, name, count);
    if (holder) add(this.#holdingOf(holder).slots, name, count);
  }

  #holdingOf(holder: object): Holding {
    let holding = this.#holdings.get(holder);
    if (!holding) {
      holding = new Holding();
      this.#holdings.set(holder, holding);
    }
    return holding;
  }
}

const slotName = (kind: LimitKind, key: string): string => `${kind} ${key}`;

function add(counts: Map<string, number>, name: string, count: number): void {
  const sum = (counts.get(name) ?? 0) + count;
  if (sum === 0) counts.delete(name);
  else counts.set(name, sum);
}
