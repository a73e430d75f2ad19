/**
 * Computations in steps. A generator yields wherever it may pause, and the scheduler (`scheduler.ts`) decides when it goes
 * on, so that no computation that grows with the network holds the event loop. A step should take well under a
 * millisecond: about a hundred entities, or `BYTES_PER_STEP` of their texts where entities are large.
 *
 * State that others change must be captured before the first pause. After a pause it may be of another revision.
 */

/** A computation with a result. `yield` is a pause, `yield*` runs a part of it. A promise is waited for: see `waitFor`. */
export type Steps<Result> = Generator<undefined | Promise<unknown>, Result, void>;

/** A result that is there already, or the computation of it. Most reads are so short that a generator would double their cost. */
export type ResultOrSteps<Result extends object> = Result | Steps<Result>;

export const isSteps = <Result extends object>(value: ResultOrSteps<Result>): value is Steps<Result> =>
  "next" in value;

/** For a computation of several parts, some of which may be there already. */
export function* stepsOf<Result extends object>(result: ResultOrSteps<Result>): Steps<Result> {
  return isSteps(result) ? yield* result : result;
}

/** What the scheduler needs of a computation. */
export interface Runnable<Result> {
  next(): IteratorResult<undefined | Promise<unknown>, Result>;
  /** Ends it early. What it returns then is not read. */
  return(value?: unknown): unknown;
}

/** A computation that pauses and never waits for a promise, so that it can be a part of `Paced` items. */
export type PausingSteps<Result> = Generator<undefined, Result, void>;

/** Items with pauses between them: undefined is a pause and no item. */
export type Paced<Item> = Iterable<Item | undefined>;

/** Items that may come from off the event loop: undefined is a pause, a promise is waited for, and neither is an item. */
export type Arriving<Item> = Iterable<Item | undefined | Promise<unknown>>;

/** Runs all steps at once: for startup, tools and tests, where nobody waits for the event loop. */
export function runToEnd<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    if (value) throw new Error("a computation that waits for a promise cannot run at once");
  }
}

/** The same for a result that may be there already. */
export const resultOf = <Result extends object>(result: ResultOrSteps<Result>): Result =>
  isSteps(result) ? runToEnd(result) : result;

/** Waits for what happens off the event loop, such as the work of a thread. Throws what the promise is rejected with. */
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

/** The same computation, which must not wait for a promise. */
export function* onlyPausing<Result>(steps: Steps<Result>): PausingSteps<Result> {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    if (value) throw new Error("a computation that waits for a promise cannot be a part of paced items");
    yield;
  }
}

export function* collectPaced<Item>(items: Paced<Item>): PausingSteps<Item[]> {
  const collected: Item[] = [];
  for (const item of items) {
    if (item === undefined) yield;
    else collected.push(item);
  }
  return collected;
}

export function* mapPaced<Item, Mapped>(
  items: Paced<Item>,
  map: (item: Item) => Mapped | undefined,
): Generator<Mapped | undefined, void, void> {
  for (const item of items) yield item === undefined ? undefined : map(item);
}

/** Without the pauses: for startup, tools and tests. */
export function* withoutPauses<Item>(items: Paced<Item>): Generator<Item, void, void> {
  for (const item of items) if (item !== undefined) yield item;
}

/**
 * The share of a step that one round of a loop takes, in the unit of `STEP_COST`. Rough is enough: a step should take well
 * under a millisecond.
 */
export const COST = {
  /** An item of an array or a graph that is looked at: 2,000 in a step. */
  item: 2,
  /** A text that is looked up in a map or an index: 500 in a step. */
  key: 8,
  /** A small object that is made or compared: 125 in a step. */
  record: 32,
  /** An entity that is parsed, validated or merged: 40 in a step. */
  entity: 100,
} as const;
const STEP_COST = 4000;
/** The text that is parsed, compared or copied between two pauses, in bytes or characters. */
export const BYTES_PER_STEP = 128 * 1024;
/** Bytes of text that cost 1, as a number of bits: 128 KiB are a step. */
const BYTES_SHIFT = 5;

/** Says when a computation pauses: `if (pause.due(COST.key)) yield;` in each of its loops. */
export class Pause {
  readonly #stepCost: number;
  #left: number;

  constructor(stepCost = STEP_COST) {
    this.#stepCost = stepCost;
    this.#left = stepCost;
  }

  /** Counts one round of a loop, and the lengths of the texts that it handles. Whether to pause now. */
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

/** The items as something else, with pauses between them. An item without a counterpart is left out. */
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

/** Items that are sorted, or merged, between two pauses. */
const SORTED_PER_STEP = 512;

/** Sorts `items` in place by merging, and returns them. Stable. `longest` is the length of the longest text to compare. */
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

/** Merges the two runs of `width` items that begin at `start` from `source` into `target`. All places are in range. */
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

/** A computation that several callers need. Each of them advances it, so that it runs once and ends for all. */
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

  /** An error is that of all callers. */
  #next() {
    try {
      return this.#steps.next();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
