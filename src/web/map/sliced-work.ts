/**
 * Runs work in slices, so that no task blocks the page: a first slice at once, the others in tasks of their own. When the
 * work is requested again while it runs, it runs once more at the end, with the newest input.
 */
const SLICE_MS = 8;
/** The clock is read once for this many steps. */
const STEPS = 64;

export class SlicedWork {
  readonly #start: () => Generator<void, void>;
  #steps: Generator<void, void> | undefined;
  #again = false;

  constructor(start: () => Generator<void, void>) {
    this.#start = start;
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
      if (this.#steps.next().done) {
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
}
