/**
 * Which rejected records were reported already. A source that polls meets the same bad record in every poll; it is
 * reported once, and again when it returns after a poll without it. Equal faults are counted: one more of them is new.
 */

/** A peer that sends ever more bad records must not fill the memory. Those above are reported in each poll. */
const MAX_REMEMBERED = 100_000;

export class ReportedFaults {
  #before = new Map<bigint, number>();
  #now = new Map<bigint, number>();

  /** Counts a fault, identified by the digest of its record, and returns whether it is new. */
  isNew(digest: bigint): boolean {
    const count = (this.#now.get(digest) ?? 0) + 1;
    if (count > 1 || this.#now.size < MAX_REMEMBERED) this.#now.set(digest, count);
    return count > (this.#before.get(digest) ?? 0);
  }

  /** A poll is complete. */
  endPass(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }
}
