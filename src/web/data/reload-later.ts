/**
 * When the page loads something again: some time after the network changed, and after a failure that may be over.
 */
import { effect, type ReadonlySignal } from "@preact/signals";
import { ClientError, type ConnectionState } from "../../client/client.ts";
import { systemClock } from "../../lib/clock.ts";
import { throttle } from "./throttle.ts";

/**
 * Returns a function that loads again, `ms` after the first of any number of calls. It waits for a load that is under way:
 * a load that takes longer than the network needs to change again would never end if it were started anew each time.
 */
export function reloadLater(ms: number, isLoading: () => boolean, load: () => void): () => void {
  const reload = throttle(ms, () => {
    if (isLoading()) reload();
    else load();
  });
  return reload;
}

/** After a failure of the connection. */
const RETRY_MS = 3000;

/**
 * Resolves when a request that failed may be sent again: some time after a failure of the connection, and not before the
 * stream of the live network is connected. Resolves to false where the service refused the request, and when `signal`
 * aborts.
 */
export async function mayRetry(
  connection: ReadonlySignal<ConnectionState>,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(error instanceof ClientError) || !error.transient) return false;
  await systemClock.sleep(RETRY_MS, signal);
  if (signal.aborted) return false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = effect(() => {
    if (connection.value.state === "connected") resolve();
  });
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  stop();
  return !signal.aborted;
}
