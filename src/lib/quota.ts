/**
 * How many records of one kind exist, for each key (a user, the address of a peer) and in total. The limit of a key is
 * reached before the total, so that one client or peer cannot use up what all the others need.
 */
/** Read at each use: the values may change while the quota is in use. */
export interface QuotaLimits {
  readonly perKey: number;
  readonly total: number;
}

/** Which limit does not allow more. */
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

  /** The limit that `count` more records of the key would exceed. */
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
