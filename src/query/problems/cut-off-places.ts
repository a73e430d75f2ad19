/**
 * What cuts off each place of the search: since when, and the outermost problem that does it alone. Each place is visited
 * once, whatever the number of problems that cover it.
 */
import { COST, Pause, type Steps, sortInSteps } from "../../lib/steps.ts";

/** Places in the order of the search: from the first up to, and without, the second. */
export type Range = readonly [from: number, to: number];

export interface Cause {
  /** The id of the problem. */
  readonly id: string;
  /** What it separates alone. */
  readonly alone: readonly Range[];
  /** Its block, and all that lies behind it. */
  readonly block: Range | undefined;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** Epoch milliseconds by place; infinite where nothing cuts it off. */
export function* findSince(count: number, causes: readonly Cause[]): Steps<Float64Array> {
  const places = new Places(new Float64Array(count).fill(Number.POSITIVE_INFINITY));
  const oldestFirst = yield* sortInSteps([...causes], (a, b) => a.since - b.since);
  for (const { alone, since } of oldestFirst) for (const range of alone) yield* places.set(range, since);
  // What no problem cuts off alone.
  for (const { block, since } of oldestFirst) if (block) yield* places.set(block, since);
  return places.values;
}

/**
 * By place: the index of the outermost problem that separates it alone, or -1. The problems that separate one place alone lie
 * one behind the other, so that the outermost is the one whose places begin first. Two cables that are known in
 * one direction each may be the same one to the graph: of them it is the older one, then the one with the lower id.
 */
export function* findOutermost(count: number, causes: readonly Cause[]): Steps<Int32Array> {
  const places = new Places(new Int32Array(count).fill(-1));
  const outermostFirst = yield* sortInSteps([...causes.entries()], ([, a], [, b]) => {
    const [start, otherStart] = [a.alone[0]?.[0] ?? count, b.alone[0]?.[0] ?? count];
    return start - otherStart || a.since - b.since || (a.id < b.id ? -1 : 1);
  });
  for (const [index, { alone }] of outermostFirst) for (const range of alone) yield* places.set(range, index);
  return places.values;
}

class Places<Values extends Float64Array | Int32Array> {
  readonly values: Values;
  /** Of a place that is set, a later one before which all are set; of others the place itself. */
  readonly #next: Int32Array;
  readonly #pause = new Pause();

  constructor(values: Values) {
    this.values = values;
    this.#next = Int32Array.from({ length: values.length + 1 }, (_, place) => place);
  }

  /** Of the range, the places that are not set yet. */
  *set([from, to]: Range, value: number): Steps<void> {
    for (let place = this.#firstUnset(from); place < to; place = this.#firstUnset(place)) {
      this.values[place] = value;
      this.#next[place] = place + 1;
      if (this.#pause.due(COST.item)) yield;
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
