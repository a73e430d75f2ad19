/**
 * Schedules the work of the page: in slices of a few milliseconds so that the page responds to input in between, at most
 * once in an interval, or again after a failure. All work that grows with the network runs in slices: asynchronous
 * functions call `pause` now and then, and generators `yield` after every entity.
 */
import { effect, type ReadonlySignal } from "@preact/signals";
import { ClientError, type ConnectionState } from "../../client/client.ts";
import { systemClock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";

const SLICE_MS = 8;
/** The number of steps of a generator for which the clock is read once, because a generator yields often. */
const STEPS_BETWEEN_CLOCKS = 64;

export class Slices {
  #end = performance.now() + SLICE_MS;

  /** Resolves in a later task when the current one has run for `SLICE_MS`, otherwise at once. */
  async pause(): Promise<void> {
    if (performance.now() < this.#end) return;
    await nextTask();
    this.#end = performance.now() + SLICE_MS;
  }
}

/** Runs the steps of a generator; the first slice runs at once. Rejects with the error that a step throws. */
export async function runInSlices(steps: Iterator<unknown>): Promise<void> {
  const slices = new Slices();
  for (let step = 1; !steps.next().done; step++) {
    if (step % STEPS_BETWEEN_CLOCKS === 0) await slices.pause();
  }
}

/**
 * Work that is requested repeatedly. A request during a run causes one more run after it, with the newest input. An
 * exception ends the run and is reported; the next request starts a new run. `maxShare` is the share of time that the runs
 * may take: after a long run the next one waits.
 */
export class SlicedWork {
  readonly #start: () => Iterator<unknown>;
  readonly #onError: (error: unknown) => void;
  readonly #maxShare: number;
  #isRunning = false;
  #again = false;

  constructor(start: () => Iterator<unknown>, onError: (error: unknown) => void, maxShare = 1) {
    this.#start = start;
    this.#onError = onError;
    this.#maxShare = maxShare;
  }

  request(): void {
    this.#again = this.#isRunning;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    do {
      this.#again = false;
      const startMs = performance.now();
      await runInSlices(this.#start()).catch(this.#onError);
      const restMs = (performance.now() - startMs) * (1 / this.#maxShare - 1);
      if (restMs > 1) await systemClock.sleep(restMs);
      else if (this.#again) await nextTask();
    } while (this.#again);
    this.#isRunning = false;
  }
}

/** Resolves in the next task. It uses a message, because browsers delay timers of background pages by up to a second. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/** Runs `work` once, `ms` after the first of any number of calls. */
export function throttle(ms: number, work: () => void): () => void {
  let scheduled = false;
  return () => {
    if (scheduled) return;
    scheduled = true;
    setTimeout(() => {
      scheduled = false;
      work();
    }, ms);
  };
}

/**
 * Returns a function that loads again, `ms` after the first of any number of calls. It waits for a running load: a load
 * that takes longer than the time between two changes of the network would never end if each change restarted it.
 */
export function reloadLater(ms: number, isLoading: () => boolean, load: () => void): () => void {
  const reload = throttle(ms, () => {
    if (isLoading()) reload();
    else load();
  });
  return reload;
}

/** Returns a function that aborts the signal of its last call and returns a new one. */
export function abortPrevious(): () => AbortSignal {
  let request = new AbortController();
  return () => {
    request.abort();
    request = new AbortController();
    return request.signal;
  };
}

/** The reason of a failure, as the service states it, without the name of a class. */
export const reasonOf = (error: unknown): string =>
  error instanceof ClientError ? error.detail : errorMessage(error);

interface LoadHandlers<T> {
  onLoaded(value: T): void;
  /** Called with the reason of each failure. */
  onFailed(reason: string): void;
}

/**
 * Loads a value, and loads it again when a lost connection is back. Ends when it is loaded, when the service refuses it, and
 * without another call of a handler when `signal` aborts.
 */
export async function loadWithRetry<T>(
  connection: ReadonlySignal<ConnectionState>,
  signal: AbortSignal,
  load: () => Promise<T>,
  { onLoaded, onFailed }: LoadHandlers<T>,
): Promise<void> {
  for (;;) {
    try {
      const value = await load();
      if (!signal.aborted) onLoaded(value);
      return;
    } catch (error) {
      if (signal.aborted) return;
      onFailed(reasonOf(error));
      if (!(await mayRetry(connection, error, signal))) return;
    }
  }
}

/** The pause after a failure of the connection. */
const RETRY_MS = 3000;

/**
 * Resolves to true when a failed request may be sent again: some time after a failure of the connection, and not before
 * the stream of the live network is connected. Resolves to false when the service refused the request and when `signal`
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
