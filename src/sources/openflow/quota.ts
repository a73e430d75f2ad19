/**
 * How many records of one kind exist, per peer address and in total. The limit of an address is reached before that of
 * the source, so that one peer cannot take the room of all others.
 */
export interface QuotaLimits {
  readonly perAddress: number;
  readonly total: number;
}

/** Which limit does not allow more. */
export type QuotaScope = "address" | "source";

export class Quota {
  readonly #limits: QuotaLimits;
  readonly #byAddress = new Map<string, number>();
  #total = 0;

  constructor(limits: QuotaLimits) {
    this.#limits = limits;
  }

  of(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }

  /** The limit that `count` more records of the address would exceed. */
  exceededBy(address: string, count = 1): QuotaScope | undefined {
    if (this.of(address) + count > this.#limits.perAddress) return "address";
    return this.#total + count > this.#limits.total ? "source" : undefined;
  }

  add(address: string, count = 1): void {
    this.#set(address, this.of(address) + count);
    this.#total += count;
  }

  remove(address: string, count = 1): void {
    this.add(address, -count);
  }

  #set(address: string, count: number): void {
    if (count > 0) this.#byAddress.set(address, count);
    else this.#byAddress.delete(address);
  }
}
