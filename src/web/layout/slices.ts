/** Runs long work on the main thread in slices, so that the page answers input in between. */
const MAX_SLICE_MS = 4;

/** Each `yield` of the steps is a place where they may pause. Short work ends within the call. */
export function runInSlices(steps: Iterator<unknown>, onEnd: () => void): void {
  const end = performance.now() + MAX_SLICE_MS;
  while (performance.now() < end) {
    if (!steps.next().done) continue;
    onEnd();
    return;
  }
  setTimeout(() => runInSlices(steps, onEnd));
}
