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
