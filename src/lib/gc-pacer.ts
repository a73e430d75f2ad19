/**
 * Collects garbage in time, for work that makes much of it in one go before anybody waits for the process.
 *
 * The runtime lets garbage stand until there is as much of it as of what is used, and on a machine with much memory
 * does not hurry even then; what the process once had it gives back late. Collecting every so often keeps it small
 * from the beginning, and costs no more than it saves: memory that is used again is still in the cache.
 */
const MAX_UNCOLLECTED_BYTES = 64 * 1024 * 1024;

export class GcPacer {
  #uncollectedBytes = 0;

  /** So many bytes of text have been read and are done with: what was made of them is several times as much. */
  addGarbage(bytes: number): void {
    this.#uncollectedBytes += bytes;
    if (this.#uncollectedBytes >= MAX_UNCOLLECTED_BYTES) this.collect();
  }

  collect(): void {
    if (this.#uncollectedBytes > 0) Bun.gc(true);
    this.#uncollectedBytes = 0;
  }
}
