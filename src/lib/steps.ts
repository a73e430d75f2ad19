/**
 * Computations in steps. A generator yields wherever it may pause, and the scheduler (`scheduler.ts`) decides when it
 * continues, so that no computation that grows with the network blocks the event loop. A step should take well under a
 * millisecond: about a hundred entities, or `BYTES_PER_STEP` of their texts where entities are large.
 *
 * State that other code changes must be captured before the first pause. After a pause it may belong to another revision.
 */

/** A computation with a result. `yield` is a pause, `yield*` runs a part of it. A yielded promise is awaited: see `waitFor`. */
export type Steps<Result> = Generator<undefined | Promise<unknown>, Result, void>;

/** A result that is available already, or its computation. Most reads are so short that a generator would double their cost. */
export type ResultOrSteps<Result extends object> = Result | Steps<Result>;

export const isSteps = <Result extends object>(value: ResultOrSteps<Result>): value is Steps<Result> =>
  "next" in value;

/** Turns a result that may be available already into steps, for a computation of several parts. */
export function* stepsOf<Result extends object>(result: ResultOrSteps<Result>): Steps<Result> {
  return isSteps(result) ? yield* result : result;
}

/** The interface of a computation that the scheduler needs. */
export interface Runnable<Result> {
  next(): IteratorResult<undefined | Promise<unknown>, Result>;
  /** Ends the computation early. Its return value is not read. */
  return(value?: unknown): unknown;
}

/** A computation that pauses and never waits for a promise, so that it can be a part of `Paced` items. */
export type PausingSteps<Result> = Generator<undefined, Result, void>;

/** Items with pauses between them: undefined is a pause and no item. */
export type Paced<Item> = Iterable<Item | undefined>;

/** Items that may come from off the event loop: undefined is a pause and a promise is awaited; neither is an item. */
export type Arriving<Item> = Iterable<Item | undefined | Promise<unknown>>;

/** Runs all steps at once. For startup, tools and tests, where blocking the event loop delays nobody. */
export function runToEnd<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    if (value) throw new Error("a computation that waits for a promise cannot run at once");
  }
}

/** Runs all steps at once, unless the result is available already. */
export const resultOf = <Result extends object>(result: ResultOrSteps<Result>): Result =>
  isSteps(result) ? runToEnd(result) : result;

/** Waits for work off the event loop, such as that of a thread. Throws the error with which the promise is rejected. */
export function* waitFor<Result>(promise: Promise<Result>): Steps<Result> {
  let outcome: { readonly result: Result } | { readonly error: unknown } | undefined;
  const settled = promise.then(
    (result) => {
      outcome = { result };
    },
    (error: unknown) => {
      outcome = { error };
    },
  );
  while (!outcome) yield settled;
  if ("error" in outcome) throw outcome.error;
  return outcome.result;
}

/** Returns the same computation as one that must not wait for a promise. */
export function* onlyPausing<Result>(steps: Steps<Result>): PausingSteps<Result> {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    if (value) throw new Error("a computation that waits for a promise cannot be a part of paced items");
    yield;
  }
}

export function* forEachPaced<Item>(items: Paced<Item>, visit: (item: Item) => void): PausingSteps<void> {
  for (const item of items) {
    if (item === undefined) yield;
    else visit(item);
  }
}

export function* collectPaced<Item>(items: Paced<Item>): PausingSteps<Item[]> {
  const collected: Item[] = [];
  yield* forEachPaced(items, (item) => collected.push(item));
  return collected;
}

export function* mapPaced<Item, Mapped>(
  items: Paced<Item>,
  map: (item: Item) => Mapped | undefined,
): Generator<Mapped | undefined, void, void> {
  for (const item of items) yield item === undefined ? undefined : map(item);
}

/** The items without the pauses. For startup, tools and tests. */
export function* withoutPauses<Item>(items: Paced<Item>): Generator<Item, void, void> {
  for (const item of items) if (item !== undefined) yield item;
}

/**
 * The cost of one iteration of a loop, in the unit of `STEP_COST`. Estimates are sufficient, because a step should take
 * well under a millisecond.
 */
export const COST = {
  /** An item of an array or a graph that is read: 2,000 in a step. */
  item: 2,
  /** A text that is looked up in a map or an index: 500 in a step. */
  key: 8,
  /** A small object that is made or compared: 125 in a step. */
  record: 32,
  /** An entity that is parsed, validated or merged: 40 in a step. */
  entity: 100,
} as const;
const STEP_COST = 4000;
/** Length of the text that is parsed, compared or copied between two pauses, in bytes or characters. */
export const BYTES_PER_STEP = 128 * 1024;
/** Number of bytes of text that cost 1, as a power of two: 128 KiB are a step. */
const BYTES_SHIFT = 5;

/** Decides when a computation pauses: `if (pause.due(COST.key)) yield;` in each of its loops. */
export class Pause {
  readonly #stepCost: number;
  #left: number;

  constructor(stepCost = STEP_COST) {
    this.#stepCost = stepCost;
    this.#left = stepCost;
  }

  /** Counts one iteration of a loop, and the lengths of the texts that it handles. Returns whether to pause now. */
  due(cost: number, bytes = 0, moreBytes = 0): boolean {
    this.#left -= cost + ((bytes + moreBytes) >>> BYTES_SHIFT);
    if (this.#left > 0) return false;
    this.#left = this.#stepCost;
    return true;
  }

  /** Counts text that was handled where the computation cannot pause. */
  count(bytes: number): void {
    this.#left -= bytes >>> BYTES_SHIFT;
  }
}

/** Maps the items, with pauses between them. An item that maps to undefined is left out. */
export function* mapInSteps<Item, Mapped>(
  items: Iterable<Item>,
  cost: number,
  map: (item: Item) => Mapped | undefined,
): Generator<Mapped | undefined, void, void> {
  const pause = new Pause();
  for (const item of items) {
    const mapped = map(item);
    if (mapped !== undefined) yield mapped;
    if (pause.due(cost)) yield undefined;
  }
}

/** Calls `handle` for each item, with pauses between them. */
export function* forEachInSteps<Item>(
  items: Iterable<Item>,
  cost: number,
  handle: (item: Item) => void,
): PausingSteps<void> {
  const pause = new Pause();
  for (const item of items) {
    handle(item);
    if (pause.due(cost)) yield;
  }
}

/** Number of items that are sorted or merged between two pauses. */
const SORTED_PER_STEP = 512;

/** Sorts `items` in place by merging, and returns them. The sort is stable. `longest` is the length of the longest text. */
export function* sortInSteps<Item>(
  items: Item[],
  compare: (a: Item, b: Item) => number,
  longest = 0,
): PausingSteps<Item[]> {
  const perStep = Math.max(2, Math.min(SORTED_PER_STEP, Math.floor(BYTES_PER_STEP / (longest + 1))));
  let sorted = items;
  if (items.length <= perStep) return sorted.sort(compare);
  for (let from = 0; from < items.length; from += perStep) {
    const run = items.slice(from, from + perStep).sort(compare);
    for (const [i, item] of run.entries()) items[from + i] = item;
    yield;
  }
  let merged = new Array<Item>(items.length);
  for (let width = perStep; width < items.length; width *= 2) {
    for (let from = 0; from < items.length; from += 2 * width)
      yield* mergeRuns(sorted, merged, from, width, perStep, compare);
    [sorted, merged] = [merged, sorted];
  }
  return sorted;
}

/** Merges the two runs of `width` items that begin at `start` from `source` into `target`. All indexes are in range. */
function* mergeRuns<Item>(
  source: readonly Item[],
  target: Item[],
  start: number,
  width: number,
  perStep: number,
  compare: (a: Item, b: Item) => number,
): PausingSteps<void> {
  const middle = Math.min(start + width, source.length);
  const end = Math.min(start + 2 * width, source.length);
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    if ((at - start) % perStep === perStep - 1) yield;
    const fromLeft =
      right >= end || (left < middle && compare(source[left] as Item, source[right] as Item) <= 0);
    target[at] = source[fromLeft ? left++ : right++] as Item;
  }
}

/** A computation that several callers share. Each caller advances it, so that it runs once and completes for all of them. */
export class SharedSteps<Result> {
  readonly #steps: Steps<Result>;
  #outcome: { readonly result: Result } | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(steps: Steps<Result>) {
    this.#steps = steps;
  }

  *result(): Steps<Result> {
    for (;;) {
      if (this.#outcome) return this.#outcome.result;
      if (this.#failure) throw this.#failure.error;
      const { value, done } = this.#next();
      if (done) this.#outcome = { result: value };
      else yield value;
    }
  }

  /** An error is thrown to all callers. */
  #next() {
    try {
      return this.#steps.next();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
