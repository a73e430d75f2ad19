/**
 * Waits for a short time until the view has a revision, because a client that moves between nodes or processes names the
 * revision that it has seen elsewhere. Such a read waits on the scheduler, and no longer than its client does.
 */
import type { Clock } from "../../lib/clock.ts";
import { type Steps, waitFor } from "../../lib/steps.ts";
import type { History } from "../../view/history.ts";

/** Time that a read waits for the revision that it names. */
export const REVISION_WAIT_MS = 2_000;

/** Whether the view reaches the revision before `deadline` (milliseconds of the monotonic clock). */
export function* awaitRevision(
  history: History,
  revision: number,
  clock: Clock,
  deadline: number,
): Steps<boolean> {
  const over = new AbortController();
  try {
    return yield* waitFor(
      reachesRevision(history, revision, clock, deadline - clock.monotonic(), over.signal),
    );
  } finally {
    // This ends the wait also when the client is gone.
    over.abort();
  }
}

/** Whether the view reaches the revision within `timeoutMs`. */
export async function reachesRevision(
  history: History,
  revision: number,
  clock: Clock,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  if (history.view.revision >= revision) return true;
  const ended = new AbortController();
  const end = () => ended.abort();
  const unsubscribe = history.subscribe(() => {
    if (history.view.revision >= revision) end();
  });
  signal?.addEventListener("abort", end, { once: true });
  await clock.sleep(Math.max(0, timeoutMs), ended.signal);
  signal?.removeEventListener("abort", end);
  unsubscribe();
  return history.view.revision >= revision;
}
