/**
 * Time, injected. Everything that reads the time or waits takes a Clock, so that tests turn the hands themselves
 * instead of sleeping.
 */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects: the caller looks at the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
    }),
};

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** A clock for tests: stands still until `advance` moves it, waking sleepers in the order they are due. */
export class ManualClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];

  constructor(startMs = Date.parse("2026-11-15T01:00:00Z")) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  /** How many are asleep: what a test waits for before it advances. */
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
      // Let whoever woke run, and perhaps go back to sleep, before the hands move on.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = until;
  }
}
