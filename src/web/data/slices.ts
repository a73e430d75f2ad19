/**
 * Divides work on the main thread into tasks of a few milliseconds, so that the page answers input in between. For work in
 * an asynchronous function; that of a generator is in `layout/slices.ts` and `map/sliced-work.ts`.
 */
const MAX_SLICE_MS = 8;

export class Slices {
  #end = performance.now() + MAX_SLICE_MS;

  /** Resolves in a later task when the present one has run for long enough. */
  async pause(): Promise<void> {
    if (performance.now() < this.#end) return;
    await nextTask();
    this.#end = performance.now() + MAX_SLICE_MS;
  }
}

/** By a message, because a browser delays timers of pages in the background by a second. */
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
