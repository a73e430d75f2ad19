/**
 * Runs work in slices, so that no task blocks the page: a first slice at once, the others in tasks of their own. When the
 * work is requested again while it runs, it runs once more at the end, with the newest input. An exception ends the work
 * and is reported; the next request starts it anew.
 */
const SLICE_MS = 8;
/** The clock is read once for this many steps. */
const STEPS = 64;

export class SlicedWork {
  readonly #start: () => Generator<void, void>;
  readonly #onError: (error: unknown) => void;
  #steps: Generator<void, void> | undefined;
  #again = false;

  constructor(start: () => Generator<void, void>, onError: (error: unknown) => void) {
    this.#start = start;
    this.#onError = onError;
  }

  request(): void {
    this.#again = this.#steps !== undefined;
    if (this.#again) return;
    this.#steps = this.#start();
    this.#runSlice();
  }

  #runSlice(): void {
    const end = performance.now() + SLICE_MS;
    for (let step = 1; this.#steps !== undefined; step++) {
      if (this.#isDone(this.#steps)) {
        this.#steps = undefined;
        if (this.#again) setTimeout(() => this.request());
        return;
      }
      if (step % STEPS === 0 && performance.now() > end) {
        setTimeout(() => this.#runSlice());
        return;
      }
    }
  }

  #isDone(steps: Generator<void, void>): boolean {
    try {
      return steps.next().done === true;
    } catch (error) {
      this.#onError(error);
      return true;
    }
  }
}
