/**
 * The poll loop: refresh, wait, refresh. A nudge ends the wait at once; a nudge during a refresh causes another refresh. An
 * error that `refresh` throws ends the loop and is passed to the caller.
 */
import type { Clock } from "./clock.ts";

export interface Poll {
  /** Refreshes at once, then every `intervalMs` or when nudged; returns when the signal aborts. */
  run(refresh: () => Promise<void>): Promise<void>;
  nudge(): void;
}

export interface PollOptions {
  /** The wait after each refresh; a function is called for each wait. */
  readonly intervalMs: number | (() => number);
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export function createPoll({ intervalMs, clock, signal }: PollOptions): Poll {
  let wait = new AbortController();
  const nextWaitMs = typeof intervalMs === "number" ? () => intervalMs : intervalMs;
  const wake = () => wait.abort();
  return {
    async run(refresh) {
      signal.addEventListener("abort", wake, { once: true });
      try {
        while (!signal.aborted) {
          wait = new AbortController();
          await refresh();
          if (!signal.aborted) await clock.sleep(nextWaitMs(), wait.signal);
        }
      } finally {
        signal.removeEventListener("abort", wake);
      }
    },
    nudge: wake,
  };
}
