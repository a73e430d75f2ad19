/**
 * The loop of a polled source: poll, wait, poll. A poll that fails marks the source stale with its message, and the wait
 * until the next attempt grows: the interval after the first failure, then about twice as long after each further one, up
 * to a minute or the interval, whichever is longer, so that the source soon notices that its peer is back. A poll that
 * succeeds resets the wait. The source itself reports its claims with `sink.replace`. If nothing has changed, it calls
 * `sink.apply` without changes, which ends staleness.
 */
import { createBackoff } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import { createPoll } from "../lib/poll.ts";
import type { Sink } from "./source.ts";

/** The result of a poll. The message is one line for the operator. */
export type PollResult = { readonly ok: true } | { readonly ok: false; readonly message: string };

export interface PollLoopOptions {
  readonly sink: Pick<Sink, "markStale">;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly random?: () => number;
}

export interface PollLoop {
  /** Polls at once, then at intervals. Returns when the signal aborts. An error that `poll` throws ends the loop. */
  run(poll: () => Promise<PollResult>): Promise<void>;
  /** Polls at once. If a poll is in progress, another one follows it at once. */
  nudge(): void;
}

const MAX_BACKOFF_MS = 60_000;

export function createPollLoop({ sink, intervalMs, clock, signal, random }: PollLoopOptions): PollLoop {
  const backoff = createBackoff(intervalMs, Math.max(MAX_BACKOFF_MS, intervalMs), random);
  let waitMs = intervalMs;
  const loop = createPoll({ intervalMs: () => waitMs, clock, signal });
  return {
    nudge: loop.nudge,
    run: (poll) =>
      loop.run(async () => {
        const result = await poll();
        // The result of a poll that was interrupted by the stop does not describe the peer.
        if (signal.aborted) return;
        if (result.ok) {
          waitMs = intervalMs;
          backoff.reset();
        } else {
          waitMs = Math.max(intervalMs, backoff.nextMs());
          sink.markStale(result.message);
        }
      }),
  };
}
