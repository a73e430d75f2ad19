/**
 * Waits, for a short time, until the view has a revision: a client that moves between nodes, or between processes, names
 * the revision that it has seen elsewhere. Such a read waits as its user on the scheduler, and no longer than its client.
 */
import type { Clock } from "../../lib/clock.ts";
import { type Steps, waitFor } from "../../lib/steps.ts";
import type { History } from "../../view/history.ts";

/** How long a read waits for the revision that it names. */
export const REVISION_WAIT_MS = 2_000;

/** Whether the view has the revision by `deadline`, in monotonic milliseconds. */
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
    // Also when the client is gone.
    over.abort();
  }
}

/** Whether the view has the revision within that time. */
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
