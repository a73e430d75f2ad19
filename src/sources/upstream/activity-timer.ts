/**
 * A time-out that can start again: for a whole request, or for silence on a stream. One sleeper for any number of
 * restarts, because a stream restarts it at each chunk.
 */
import type { Clock } from "../../lib/clock.ts";

export class ActivityTimer implements Disposable {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #stop = new AbortController();
  #dueMs: number;
  #paused = false;

  constructor(clock: Clock, timeoutMs: number, onTimeout: () => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#dueMs = clock.monotonic() + timeoutMs;
    void this.#run(onTimeout);
  }

  restart(): void {
    this.#paused = false;
    this.#dueMs = this.#clock.monotonic() + this.#timeoutMs;
  }

  /** While the consumer is busy the peer is not silent: nobody reads what it sends. */
  pause(): void {
    this.#paused = true;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #run(onTimeout: () => void): Promise<void> {
    for (;;) {
      const leftMs = this.#paused ? this.#timeoutMs : this.#dueMs - this.#clock.monotonic();
      if (leftMs <= 0) return onTimeout();
      await this.#clock.sleep(leftMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
    }
  }
}
