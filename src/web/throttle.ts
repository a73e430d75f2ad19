/** Work that may wait: however often it is asked for, it is done once, `ms` after it was first asked for. */
export function throttle(ms: number, work: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      work();
    }, ms);
  };
}
