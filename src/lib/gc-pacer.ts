/**
 * Runs the garbage collector at intervals during work that allocates much, such as loading a snapshot before the service
 * accepts requests. The runtime collects only when garbage is about as large as live memory, and returns freed memory to
 * the system late. Collecting earlier keeps the process small from the start, and costs little, because memory that is
 * reused is still in the CPU cache.
 */
const MAX_UNCOLLECTED_BYTES = 4 * 1024 * 1024;
/** Below this size a final collection is not worth its time, which grows with the size of the memory. */
const MIN_COLLECTED_BYTES = 1024 * 1024;

export class GcPacer {
  #uncollectedBytes = 0;

  /** Counts `bytes` of text that was parsed and is no longer needed. The garbage is several times as large. */
  addGarbage(bytes: number): void {
    this.#uncollectedBytes += bytes;
    if (this.#uncollectedBytes >= MAX_UNCOLLECTED_BYTES) this.collect();
  }

  /** Collects the rest at the end of the work. */
  collect(): void {
    if (this.#uncollectedBytes >= MIN_COLLECTED_BYTES) Bun.gc(true);
    this.#uncollectedBytes = 0;
  }
}
