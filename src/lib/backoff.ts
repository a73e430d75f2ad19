/** Pauses between tries: doubling from `firstMs` to `mostMs`, each drawn from its upper half so that many who failed
 * together do not come back together. */
export interface Backoff {
  nextMs(): number;
  reset(): void;
}

export function createBackoff(firstMs: number, maxMs: number, random: () => number = Math.random): Backoff {
  let ceiling = firstMs;
  return {
    nextMs() {
      const pause = ceiling * (0.5 + random() / 2);
      ceiling = Math.min(maxMs, ceiling * 2);
      return Math.round(pause);
    },
    reset() {
      ceiling = firstMs;
    },
  };
}
