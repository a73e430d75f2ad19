/**
 * Delays between retries: exponential from `firstMs` to `maxMs`, with jitter. Each delay is random in the upper half of
 * its interval, so that clients that failed at the same time do not retry at the same time.
 */
export interface Backoff {
  nextMs(): number;
  reset(): void;
}

export function createBackoff(firstMs: number, maxMs: number, random: () => number = Math.random): Backoff {
  let ceiling = firstMs;
  return {
    nextMs() {
      const delay = ceiling * (0.5 + random() / 2);
      ceiling = Math.min(maxMs, ceiling * 2);
      return Math.round(delay);
    },
    reset() {
      ceiling = firstMs;
    },
  };
}
