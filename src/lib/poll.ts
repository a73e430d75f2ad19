/**
 * The one loop of every source that looks again and again: refresh, wait, refresh. A nudge (something changed, look
 * now) ends the wait at once; one that comes while a refresh is under way is not lost. What `refresh` throws ends the
 * loop and is the supervisor's to handle.
 */
import type { Clock } from "./clock.ts";

export interface Poll {
  /** Refreshes at once, then every `intervalMs` or when nudged; returns when the signal aborts. */
  run(refresh: () => Promise<void>): Promise<void>;
  nudge(): void;
}

export interface PollOptions {
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export function createPoll({ intervalMs, clock, signal }: PollOptions): Poll {
  let nap = new AbortController();
  const wake = () => nap.abort();
  return {
    async run(refresh) {
      signal.addEventListener("abort", wake, { once: true });
      try {
        while (!signal.aborted) {
          nap = new AbortController();
          await refresh();
          if (!signal.aborted) await clock.sleep(intervalMs, nap.signal);
        }
      } finally {
        signal.removeEventListener("abort", wake);
      }
    },
    nudge: wake,
  };
}
