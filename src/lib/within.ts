/** Runs a task with a signal that aborts after `ms` or with `signal`. The task decides how it ends then. */
import type { Clock } from "./clock.ts";

export async function within<Result>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  task: (limited: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const [timeout, done] = [new AbortController(), new AbortController()];
  void clock.sleep(ms, done.signal).then(() => timeout.abort());
  try {
    return await task(AbortSignal.any([signal, timeout.signal]));
  } finally {
    done.abort();
  }
}
