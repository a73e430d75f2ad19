/** A histogram with fixed bounds, as in Prometheus. Observing a value costs a short search and two additions. */
interface HistogramCounts {
  /** Number of values between each bound and the one before; the last is the number of values above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** The bounds in seconds, from a millisecond to ten seconds. */
export const LATENCY_BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[] = LATENCY_BOUNDS) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let i = 0;
    while (i < bounds.length && value > (bounds[i] ?? 0)) i++;
    this.#counts[i] = (this.#counts[i] ?? 0) + 1;
    this.#sum += value;
  }

  snapshot(): HistogramCounts {
    return { counts: [...this.#counts], sum: this.#sum };
  }
}
