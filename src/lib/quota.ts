/**
 * Counts the records of one kind for each key (a user, or the address of a peer) and in total. The limit of a key is lower
 * than the total, so that one client or peer cannot use up what all the others need.
 */
/** The limits are read at each use, because they may change while the quota is in use. */
export interface QuotaLimits {
  readonly perKey: number;
  readonly total: number;
}

/** The limit that is exceeded. */
export type QuotaScope = "key" | "total";

export class Quota {
  readonly #limits: QuotaLimits;
  readonly #byKey = new Map<string, number>();
  #total = 0;

  constructor(limits: QuotaLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  of(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }

  /** The limit that `count` more records of the key would exceed; undefined when there is none. */
  exceededBy(key: string, count = 1): QuotaScope | undefined {
    if (this.of(key) + count > this.#limits.perKey) return "key";
    return this.#total + count > this.#limits.total ? "total" : undefined;
  }

  add(key: string, count = 1): void {
    const sum = this.of(key) + count;
    if (sum > 0) this.#byKey.set(key, sum);
    else this.#byKey.delete(key);
    this.#total += count;
  }

  remove(key: string, count = 1): void {
    this.add(key, -count);
  }
}

/** What one holder, such as a connection, has of the quota of its key. */
export class QuotaAccount {
  readonly #quota: Quota;
  readonly #key: string;
  #count = 0;

  constructor(quota: Quota, key: string) {
    this.#quota = quota;
    this.#key = key;
  }

  /** Sets what the holder has. Returns false when that is more than before and exceeds a limit; it counts all the same. */
  set(count: number): boolean {
    const more = count - this.#count;
    if (more === 0) return true;
    const exceeds = more > 0 && this.#quota.exceededBy(this.#key, more) !== undefined;
    this.#quota.add(this.#key, more);
    this.#count = count;
    return !exceeds;
  }
}
