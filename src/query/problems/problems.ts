/**
 * The problems of the network now and at earlier times. The list of the newest revision is kept until there is a newer one,
 * or until the first problem on it is listed no longer, because time passes too. It is computed in steps, once for all who
 * need it. From one revision to the next only the new changes are read.
 *
 * Needs the history and the settings, so it throws `HistoryNotInReplica` in a reader process, which then relays the request.
 */
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import type { Clock } from "../../lib/clock.ts";
import { SharedSteps, type Steps } from "../../lib/steps.ts";
import type { History } from "../../view/history.ts";
import { HistoryPruned } from "../../view/read-all.ts";
import type { NetworkState } from "../../view/view.ts";
import { listProblems, type ProblemList, removedLinks } from "./problem-list.ts";
import { type LostLink, type ProblemWindows, RecentChanges } from "./recent-changes.ts";
import { SinceFinder } from "./since.ts";

const DEFAULT_WINDOWS: ProblemWindows = { lostLinkMs: 24 * 3_600_000, movedHostMs: 3_600_000 };
/** Of all lists of the past together, in characters. */
const MAX_CACHED_CHARS = 16 * 1024 * 1024;
/** Counted for each problem besides its text, and for each link that was removed. */
const PROBLEM_OVERHEAD = 1000;
/** Somebody may set the clock of the machine: it is read again after this time. */
const MAX_SLEEP_MS = 60_000;
/** From one list to the next of the streams: each is computed as a whole, and a network may have many revisions a second. */
const MIN_STREAM_INTERVAL_MS = 1000;

export type ListVersion = Pick<ProblemList, "revision" | "digest" | "validFrom">;

/** Whether a reader of `list` may have `other` next. Of one revision, the later list is valid from a later time. */
function isLater(other: ListVersion | undefined, list: ListVersion): boolean {
  if (!other) return false;
  if (other.revision !== list.revision) return other.revision > list.revision;
  return other.digest !== list.digest && other.validFrom >= list.validFrom;
}

export class Problems {
  readonly #history: History;
  readonly #clock: Clock;
  readonly #windows: ProblemWindows;
  readonly finder: SinceFinder;
  readonly #past = createBoundedCache<string, ProblemList>({
    maxSize: MAX_CACHED_CHARS,
    sizeOf: ({ problems, removed }) =>
      Math.min(
        MAX_CACHED_CHARS,
        problems.reduce(
          (sum, { text }) => sum + text.length + PROBLEM_OVERHEAD,
          (1 + removed.length) * PROBLEM_OVERHEAD,
        ),
      ),
  });
  /** The lists of the past that are computed now, each once for all who wait for it. */
  readonly #computingPast = new Map<string, { readonly steps: SharedSteps<ProblemList>; waiting: number }>();
  readonly #listeners = new Set<() => void>();
  #recent: RecentChanges | undefined;
  #computing: SharedSteps<void> | undefined;
  #newest: ProblemList | undefined;
  /** The list that all streams have or move to. */
  #streamed: ProblemList | undefined;
  /** Ends the wait for the end of the newest list. */
  #expiry = new AbortController();
  /** Monotonic time from which on the streams may have another list. */
  #dueAt = Number.NEGATIVE_INFINITY;
  #waitsUntilDue = false;
  readonly #stopped = new AbortController();

  constructor(history: History, clock: Clock, windows: ProblemWindows = DEFAULT_WINDOWS) {
    this.#history = history;
    this.#clock = clock;
    this.#windows = windows;
    this.finder = new SinceFinder(history);
  }

  /**
   * Calls `wake` when a stream may have another list without a new revision: one was computed for another stream, or time
   * has passed. Returns the function that unsubscribes.
   */
  onList(wake: () => void): () => void {
    this.#listeners.add(wake);
    return () => this.#listeners.delete(wake);
  }

  /** Whether a stream that has `list` has something to do: then `following` does it. Otherwise it is woken in time. */
  isBehind(list: ListVersion): boolean {
    return this.#mayMoveStreams() || isLater(this.#streamed, list);
  }

  /**
   * The list after `list` on a stream; undefined where it is to have none now. All streams have the same lists, whichever of
   * them, or of other readers, is first: the one that finds the time come computes the next list, and the others take it.
   */
  *following(list: ListVersion): Steps<ProblemList | undefined> {
    if (this.#mayMoveStreams()) {
      this.#dueAt = this.#clock.monotonic() + MIN_STREAM_INTERVAL_MS;
      void this.#wakeWhenDue();
      this.#streamed = yield* this.newest();
      this.#wakeAll();
    }
    return isLater(this.#streamed, list) ? this.#streamed : undefined;
  }

  /** Whether the time has come for the next list of the streams, and there is one. */
  #mayMoveStreams(): boolean {
    return this.#isDue() && !(this.#streamed && this.isNewest(this.#streamed));
  }

  #isDue(): boolean {
    return this.#clock.monotonic() >= this.#dueAt;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Whether the list is still that of now. Does not read the clock. */
  isNewest(list: Omit<ListVersion, "validFrom">): boolean {
    const newest = this.#newest;
    return (
      newest !== undefined &&
      newest.revision === this.#history.view.revision &&
      newest.revision === list.revision &&
      newest.digest === list.digest
    );
  }

  /** The list of a revision that is not older than the newest one at the time of the call. */
  *newest(): Steps<ProblemList> {
    this.#history.requireAllCollections();
    const { view } = this.#history;
    for (const needed = view.revision; ; ) {
      if (this.#newest && this.#newest.revision >= needed) return this.#newest;
      const computing = this.#computing ?? new SharedSteps(this.#computeNewest(view.capture()));
      this.#computing = computing;
      yield* computing.result();
    }
  }

  *#computeNewest(state: NetworkState): Steps<void> {
    try {
      const windows = this.#windows;
      const time = Math.max(this.#clock.now(), state.time);
      const recent = yield* this.#recentAt(state, windows);
      const list = yield* listProblems(state, recent, this.finder, time, windows);
      this.#recent = recent;
      this.#newest = list;
      // No stream takes it any more: the next one that wakes moves all of them to the new list.
      if (this.#isDue()) this.#streamed = undefined;
      void this.#expire(list);
    } finally {
      this.#computing = undefined;
    }
  }

  *#recentAt(state: NetworkState, windows: ProblemWindows): Steps<RecentChanges> {
    const recent = this.#recent;
    // Taken out while it is changed: where that fails, all of it is read again.
    this.#recent = undefined;
    if (recent && recent.revision <= state.revision) {
      try {
        yield* recent.moveTo(this.#history, state.revision, state.time, windows);
        return recent;
      } catch (error) {
        if (!(error instanceof HistoryPruned)) throw error;
      }
    }
    return yield* RecentChanges.read(this.#history, state, windows);
  }

  /** A time at which the list is the one of its revision. It stays, so that a cursor may contain it. */
  momentOf({ time, validUntil }: ProblemList): number {
    const { lostLinkMs, movedHostMs } = this.#windows;
    return validUntil === Number.POSITIVE_INFINITY
      ? time + Math.max(lostLinkMs, movedHostMs)
      : validUntil - 1;
  }

  /** The list of a revision that the history has, as it was at `time`. `hold` gets the state that it is computed from. */
  *at(revision: number, time: number, hold: (state: NetworkState) => void): Steps<ProblemList> {
    this.#history.requireAllCollections();
    const newest = this.#newest;
    if (newest?.revision === revision && newest.validFrom <= time && time < newest.validUntil) return newest;
    const key = `${revision} ${time}`;
    const cached = this.#past.get(key);
    if (cached) return cached;
    const state = yield* this.#history.stateAt(revision);
    hold(state);
    const computing = this.#computingPast.get(key) ?? {
      steps: new SharedSteps(this.#computePast(key, state, time)),
      waiting: 0,
    };
    this.#computingPast.set(key, computing);
    computing.waiting++;
    try {
      return yield* computing.steps.result();
    } finally {
      // Also where those who waited for it have gone: it is not kept for nobody.
      if (--computing.waiting === 0) this.#computingPast.delete(key);
    }
  }

  *#computePast(key: string, state: NetworkState, time: number): Steps<ProblemList> {
    const windows = this.#windows;
    const recent = yield* RecentChanges.read(this.#history, state, windows);
    const list = yield* listProblems(state, recent, this.finder, time, windows);
    this.#past.set(key, list);
    return list;
  }

  /** The links that were removed within the window before the time of the state, which is of the past. */
  *removedBefore(state: NetworkState): Steps<readonly LostLink[]> {
    this.#history.requireAllCollections();
    const recent = yield* RecentChanges.read(this.#history, state, this.#windows);
    return yield* removedLinks(state, recent, this.#windows);
  }

  stop(): void {
    this.#stopped.abort();
    this.#expiry.abort();
  }

  async #wakeWhenDue(): Promise<void> {
    if (this.#waitsUntilDue) return;
    this.#waitsUntilDue = true;
    const { signal } = this.#stopped;
    while (!this.#isDue() && !signal.aborted)
      await this.#clock.sleep(Math.max(1, this.#dueAt - this.#clock.monotonic()), signal);
    this.#waitsUntilDue = false;
    if (!signal.aborted) this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#listeners) wake();
  }

  /** Waits until the list ends, unless there is another one before. */
  async #expire(list: ProblemList): Promise<void> {
    this.#expiry.abort();
    if (list.validUntil === Number.POSITIVE_INFINITY || this.#stopped.signal.aborted) return;
    this.#expiry = new AbortController();
    const { signal } = this.#expiry;
    for (let left = 1; left > 0; left = list.validUntil - this.#clock.now()) {
      await this.#clock.sleep(
        Math.min(MAX_SLEEP_MS, Math.max(1, list.validUntil - this.#clock.now())),
        signal,
      );
      if (signal.aborted) return;
    }
    if (this.#newest !== list) return;
    this.#newest = undefined;
    this.#wakeAll();
  }
}
