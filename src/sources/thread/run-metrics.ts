/**
 * The metrics of a source over all its runs. Each run has a new thread, whose counters begin at zero; a counter, which is
 * a name that ends in `_total`, goes on from where the last run ended.
 */
import type { Metrics } from "./protocol.ts";

const isCounter = (name: string): boolean => name.endsWith("_total");

export class RunMetrics {
  #before: Metrics = {};
  #current: Metrics = {};

  set(values: Metrics): void {
    this.#current = values;
  }

  values(): Metrics {
    const sums = Object.entries(this.#current).map(
      ([name, value]) => [name, isCounter(name) ? value + (this.#before[name] ?? 0) : value] as const,
    );
    return { ...this.#before, ...Object.fromEntries(sums) };
  }

  endRun(): void {
    this.#before = Object.fromEntries(Object.entries(this.values()).filter(([name]) => isCounter(name)));
    this.#current = {};
  }
}
