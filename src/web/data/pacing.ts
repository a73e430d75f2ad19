/**
 * When work of the page runs: in slices of a few milliseconds so that the page answers input in between, at most once in
 * an interval, or again after a failure. Everything that grows with the network runs in slices: asynchronous functions
 * call `pause` now and then, and generators `yield` after every entity.
 */
import { effect, type ReadonlySignal } from "@preact/signals";
import { ClientError, type ConnectionState } from "../../client/client.ts";
import { systemClock } from "../../lib/clock.ts";

const SLICE_MS = 8;
/** A generator yields often: the clock is read once for this many of its steps. */
const STEPS_BETWEEN_CLOCKS = 64;

export class Slices {
  #end = performance.now() + SLICE_MS;

  /** Resolves in a later task when the present one has run for long enough. */
  async pause(): Promise<void> {
    if (performance.now() < this.#end) return;
    await nextTask();
    this.#end = performance.now() + SLICE_MS;
  }
}

/** Runs the steps of a generator, the first slice at once. Rejects with what a step throws. */
export async function runInSlices(steps: Iterator<unknown>): Promise<void> {
  const slices = new Slices();
  for (let step = 1; !steps.next().done; step++) {
    if (step % STEPS_BETWEEN_CLOCKS === 0) await slices.pause();
  }
}

/**
 * Work that is requested again and again. A request while it runs makes it run once more at the end, with the newest
 * input. An exception ends the work and is reported; the next request starts it anew.
 */
export class SlicedWork {
  readonly #start: () => Iterator<unknown>;
  readonly #onError: (error: unknown) => void;
  #isRunning = false;
  #again = false;

  constructor(start: () => Iterator<unknown>, onError: (error: unknown) => void) {
    this.#start = start;
    this.#onError = onError;
  }

  request(): void {
    this.#again = this.#isRunning;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    do {
      this.#again = false;
      await runInSlices(this.#start()).catch(this.#onError);
      if (this.#again) await nextTask();
    } while (this.#again);
    this.#isRunning = false;
  }
}

/** Uses a message, because a browser delays timers of pages in the background by a second. */
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

// When the page loads something again: some time after the network changed, and after a failure that may be over.

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

/** The pause after a failure of the connection. */
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
