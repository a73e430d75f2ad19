/**
 * Withdraws the claims of sources that have been stale for longer than their `withdrawAfterSeconds`.
 *
 * The time counts from when the source became stale, also across restarts of the service. After a restart nothing is
 * withdrawn before the source has failed again, because it may be able to report now.
 */
import type { Clock } from "../lib/clock.ts";

/** Maximum duration of one sleep, because timers of the runtime are limited to 24 days. */
const MAX_SLEEP_MS = 86_400_000;

interface Scheduled {
  /** The time since which the source is stale, in epoch milliseconds. */
  readonly staleSince: number;
  readonly cancel: AbortController;
}

export class Withdrawals {
  readonly #clock: Clock;
  /** The configured time of a source; undefined where its claims are never withdrawn. */
  readonly #withdrawAfterSeconds: (source: string) => number | undefined;
  readonly #withdraw: (source: string) => void;
  /** An entry for each stale source, kept after its claims were withdrawn. */
  readonly #scheduled = new Map<string, Scheduled>();

  constructor(
    clock: Clock,
    withdrawAfterSeconds: (source: string) => number | undefined,
    withdraw: (source: string) => void,
  ) {
    this.#clock = clock;
    this.#withdrawAfterSeconds = withdrawAfterSeconds;
    this.#withdraw = withdraw;
  }

  /** Schedules the withdrawal. Call it whenever the source fails; repeated calls have no effect. */
  schedule(source: string, staleSince: number): void {
    if (this.#scheduled.has(source)) return;
    const scheduled = { staleSince, cancel: new AbortController() };
    this.#scheduled.set(source, scheduled);
    void this.#wait(source, scheduled);
  }

  /** Cancels the withdrawal. Call it when the source is live again or no longer configured. */
  cancel(source: string): void {
    this.#scheduled.get(source)?.cancel.abort();
    this.#scheduled.delete(source);
  }

  cancelAll(): void {
    for (const source of [...this.#scheduled.keys()]) this.cancel(source);
  }

  /** Schedules all withdrawals again. Call it when the configured times have changed. */
  reschedule(): void {
    const former = [...this.#scheduled];
    this.cancelAll();
    for (const [source, { staleSince }] of former) this.schedule(source, staleSince);
  }

  async #wait(source: string, { staleSince, cancel: { signal } }: Scheduled): Promise<void> {
    const seconds = this.#withdrawAfterSeconds(source);
    if (seconds === undefined) return;
    // The difference is negative if the clock of the machine was set back.
    const passedMs = Math.max(0, this.#clock.now() - staleSince);
    const dueAt = this.#clock.monotonic() + Math.max(0, seconds * 1000 - passedMs);
    for (let left = dueAt - this.#clock.monotonic(); left > 0; left = dueAt - this.#clock.monotonic()) {
      await this.#clock.sleep(Math.min(left, MAX_SLEEP_MS), signal);
      if (signal.aborted) return;
    }
    this.#withdraw(source);
  }
}
