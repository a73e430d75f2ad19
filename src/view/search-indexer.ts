/**
 * Indexes for the search (`search-index.ts`) in the background while a page is open, because its user may search: all of the
 * network first, then what changes. A service without an open page does nothing, so that one that nobody searches has no
 * index. The work is done in steps, and after each pass it rests for several times as long as the pass took: a network that
 * changes all the time is indexed less often, not with all of the processor. A search indexes what is still missing.
 */
import { orAborted } from "../lib/aborted.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { Cancelled, type Scheduler } from "../lib/scheduler.ts";
import type { Steps } from "../lib/steps.ts";
import type { History } from "./history.ts";
import { hasWords, SEARCHED_KINDS, searchChangedAt, wordsOf } from "./search-index.ts";
import type { NetworkState } from "./view.ts";

/** The page loads the network first, which is what its user waits for. */
const START_DELAY_MS = 4000;
/** How long a page is taken for open after it read its settings, which it does every minute. */
const PAGE_OPEN_MS = 300_000;
const MIN_REST_MS = 1000;
/** The duration of a pass, by which the rest after it is multiplied. */
const REST_FACTOR = 9;
/** Pages that are looked at between two pauses. One that must be indexed is followed by a pause. */
const PAGES_PER_STEP = 256;

/** Its owner on the scheduler. */
const OWNER = "search";

export class SearchIndexer {
  readonly #history: History;
  readonly #scheduler: Scheduler;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #openUntil = Number.NEGATIVE_INFINITY;
  #onOpen = () => {};

  constructor(history: History, scheduler: Scheduler, clock: Clock, logger: Logger) {
    this.#history = history;
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#logger = logger;
  }

  onPageOpen(): void {
    this.#openUntil = this.#clock.monotonic() + PAGE_OPEN_MS;
    this.#onOpen();
  }

  /** Returns when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#untilOpen(signal);
      await this.#clock.sleep(START_DELAY_MS, signal);
      while (this.#isOpen && !signal.aborted) await this.#pass(signal);
    }
  }

  get #isOpen(): boolean {
    return this.#clock.monotonic() < this.#openUntil;
  }

  async #untilOpen(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onOpen = resolve;
    if (!this.#isOpen) await orAborted(promise, signal);
  }

  /** Indexes what is new, rests, and waits for a change. */
  async #pass(signal: AbortSignal): Promise<void> {
    const { view } = this.#history;
    const startedAt = this.#clock.monotonic();
    const version = searchChangedAt(view.versions);
    const pages = await this.#index(view.capture(), signal);
    const tookMs = this.#clock.monotonic() - startedAt;
    if (pages > 0) this.#logger.debug("search index extended", { pages, ms: Math.round(tookMs) });
    await this.#clock.sleep(Math.max(MIN_REST_MS, tookMs * REST_FACTOR), signal);
    while (searchChangedAt(view.versions) === version && !signal.aborted) await this.#nextBatch(signal);
  }

  /** Returns the number of pages that were indexed. */
  async #index(state: NetworkState, signal: AbortSignal): Promise<number> {
    try {
      return await this.#scheduler.run(OWNER, indexPages(state), signal);
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      return 0;
    }
  }

  async #nextBatch(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const unsubscribe = this.#history.subscribe(resolve);
    await orAborted(promise, signal);
    unsubscribe();
  }
}

function* indexPages(state: NetworkState): Steps<number> {
  let [left, indexed] = [PAGES_PER_STEP, 0];
  for (const kind of SEARCHED_KINDS) {
    for (const page of yield* state.pages(kind)) {
      const isNew = !hasWords(page);
      if (isNew) {
        wordsOf(kind, page);
        indexed++;
      }
      if (--left > 0 && !isNew) continue;
      left = PAGES_PER_STEP;
      yield;
    }
  }
  return indexed;
}
