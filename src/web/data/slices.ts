/**
 * Divides work on the main thread into tasks of a few milliseconds, so that the page answers input in between. All work
 * that grows with the network runs this way: asynchronous functions call `pause` now and then, and generators `yield`
 * after every entity.
 */
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
