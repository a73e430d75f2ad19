/**
 * Since when each device is cut off: since the first of the problems that do it. Each place of the search is visited once,
 * whatever the number of problems that cover it.
 */
import { type Steps, sortInSteps } from "../../lib/steps.ts";

const PLACES_PER_STEP = 2000;

/** Places in the order of the search: from the first up to, and without, the second. */
export type Range = readonly [from: number, to: number];

export interface Cause {
  /** What it separates alone. */
  readonly alone: readonly Range[];
  /** Its block, and all that lies behind it. */
  readonly block: Range | undefined;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** Epoch milliseconds by place; infinite where nothing cuts it off. */
export function* findSince(count: number, causes: readonly Cause[]): Steps<Float64Array> {
  const places = new Places(count);
  const oldestFirst = yield* sortInSteps([...causes], (a, b) => a.since - b.since);
  for (const { alone, since } of oldestFirst) for (const range of alone) yield* places.set(range, since);
  // What no problem cuts off alone.
  for (const { block, since } of oldestFirst) if (block) yield* places.set(block, since);
  return places.since;
}

class Places {
  readonly since: Float64Array;
  /** Of a place that is set, a later one before which all are set; of others the place itself. */
  readonly #next: Int32Array;
  #left = PLACES_PER_STEP;

  constructor(count: number) {
    this.since = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    this.#next = Int32Array.from({ length: count + 1 }, (_, place) => place);
  }

  /** Of the range, the places that are not set yet. */
  *set([from, to]: Range, since: number): Steps<void> {
    for (let place = this.#firstUnset(from); place < to; place = this.#firstUnset(place)) {
      this.since[place] = since;
      this.#next[place] = place + 1;
      if (--this.#left > 0) continue;
      this.#left = PLACES_PER_STEP;
      yield;
    }
  }

  #firstUnset(from: number): number {
    let place = from;
    for (let next = this.#next[place] ?? place; next !== place; next = this.#next[place] ?? place) {
      // Halves the way for the next search.
      this.#next[place] = this.#next[next] ?? next;
      place = next;
    }
    return place;
  }
}
