/** A clock for tests. Time stands still until `advance`, which wakes sleepers in the order they are due. */
import type { Clock } from "../../src/lib/clock.ts";

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

export class ManualClock implements Clock {
  #now: number;
  readonly #start: number;
  /** Difference between the system clock and the time that has passed. */
  #skewMs = 0;
  #sleepers: Sleeper[] = [];

  constructor(startMs = Date.parse("2026-11-15T01:00:00Z")) {
    this.#now = startMs;
    this.#start = startMs;
  }

  now(): number {
    return this.#now + this.#skewMs;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  /** Sets the system clock forwards or back. No time passes. */
  setBy(ms: number): void {
    this.#skewMs += ms;
  }

  /** The number of sleepers. A test waits for one before it advances the clock. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper: Sleeper = { due: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener(
        "abort",
        () => {
          this.#sleepers = this.#sleepers.filter((s) => s !== sleeper);
          resolve();
        },
        { once: true },
      );
    });
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      const next = this.#sleepers.filter((s) => s.due <= until).sort((a, b) => a.due - b.due)[0];
      if (!next) break;
      this.#now = next.due;
      this.#sleepers = this.#sleepers.filter((s) => s !== next);
      next.wake();
      // The woken code must run, and may sleep again, before the time advances further.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = until;
  }
}
