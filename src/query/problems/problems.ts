/**
 * The problems of the network now and at earlier times. The list of the newest revision is kept until there is a newer
 * revision, or until the first problem on it expires. It is computed in steps, once for all readers. From one revision to
 * the next, only the new changes are read.
 *
 * The computation needs the history and the settings, so it throws `HistoryNotInReplica` in a reader process, which then
 * relays the request.
 */
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import type { Clock } from "../../lib/clock.ts";
import { SharedSteps, type Steps } from "../../lib/steps.ts";
import type { Link } from "../../model/entity.ts";
import type { History } from "../../view/history.ts";
import { HistoryPruned } from "../../view/read-all.ts";
import type { NetworkState } from "../../view/view.ts";
import { findLostCables } from "./link-findings.ts";
import { listProblems, type ProblemList, removedLinks } from "./problem-list.ts";
import { type LostLink, type ProblemWindows, RecentChanges } from "./recent-changes.ts";
import { SinceFinder } from "./since.ts";

const DEFAULT_WINDOWS: ProblemWindows = { lostLinkMs: 24 * 3_600_000, movedHostMs: 3_600_000 };
/** Size of all cached lists of historical revisions together, in characters. */
const MAX_CACHED_CHARS = 16 * 1024 * 1024;
/** Size counted for each problem besides its text, and for each removed link. */
const PROBLEM_OVERHEAD = 1000;
/** The clock is read again after this time, because it may have been set. */
const MAX_SLEEP_MS = 60_000;
/** Interval between two lists on the streams. Each list is computed as a whole, and there may be many revisions a second. */
const MIN_STREAM_INTERVAL_MS = 1000;

export type ListVersion = Pick<ProblemList, "revision" | "digest" | "validFrom">;

/** Whether a reader of `list` may get `other` next. Of two lists of one revision, the later one is valid from a later time. */
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
  /** The historical lists that are being computed, each once for all requests that wait for it. */
  readonly #computingPast = new Map<string, { readonly steps: SharedSteps<ProblemList>; waiting: number }>();
  readonly #listeners = new Set<() => void>();
  #recent: RecentChanges | undefined;
  #computing: SharedSteps<void> | undefined;
  #newest: ProblemList | undefined;
  /** The list that all streams have or change to. */
  #streamed: ProblemList | undefined;
  /** Aborts the wait for the expiry of the newest list. */
  #expiry = new AbortController();
  /** Monotonic time from which the streams may get another list. */
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
   * Calls `wake` when a stream may get another list without a new revision: one was computed for another stream, or one
   * expired. Returns the function that unsubscribes.
   */
  onList(wake: () => void): () => void {
    this.#listeners.add(wake);
    return () => this.#listeners.delete(wake);
  }

  /** Whether a stream that has `list` must call `following`. If not, it is woken later. */
  isBehind(list: ListVersion): boolean {
    return this.#mayMoveStreams() || isLater(this.#streamed, list);
  }

  /**
   * The list after `list` on a stream; undefined if there is none now. All streams get the same lists: the first stream
   * that calls this when the interval is over computes the next list, and the others use it.
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

  /** Whether the interval is over and there is a list after that of the streams. */
  #mayMoveStreams(): boolean {
    return this.#isDue() && !(this.#streamed && this.isNewest(this.#streamed));
  }

  #isDue(): boolean {
    return this.#clock.monotonic() >= this.#dueAt;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Whether the list is still the newest one. Does not read the clock. */
  isNewest(list: Omit<ListVersion, "validFrom">): boolean {
    const newest = this.#newest;
    return (
      newest !== undefined &&
      newest.revision === this.#history.view.revision &&
      newest.revision === list.revision &&
      newest.digest === list.digest
    );
  }

  /** The list of the newest revision at the time of the call, or of a later one. */
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
      const list = yield* listProblems({ state, recent, finder: this.finder, time, windows });
      this.#recent = recent;
      this.#newest = list;
      // The previous list is not given to further streams: the next stream that wakes computes the new list for all.
      if (this.#isDue()) this.#streamed = undefined;
      void this.#expire(list);
    } finally {
      this.#computing = undefined;
    }
  }

  *#recentAt(state: NetworkState, windows: ProblemWindows): Steps<RecentChanges> {
    const recent = this.#recent;
    // The field is cleared during the change, so that everything is read again if the change fails.
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

  /** A time at which this list is the one of its revision. It is constant, so a cursor may contain it. */
  momentOf({ time, validUntil }: ProblemList): number {
    const { lostLinkMs, movedHostMs } = this.#windows;
    return validUntil === Number.POSITIVE_INFINITY
      ? time + Math.max(lostLinkMs, movedHostMs)
      : validUntil - 1;
  }

  /** The list of a revision in the history, as it was at `time`. `hold` is called with the state from which it is computed. */
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
      // The computation is also dropped when all requests that waited for it were cancelled.
      if (--computing.waiting === 0) this.#computingPast.delete(key);
    }
  }

  *#computePast(key: string, state: NetworkState, time: number): Steps<ProblemList> {
    const windows = this.#windows;
    const recent = yield* RecentChanges.read(this.#history, state, windows);
    const list = yield* listProblems({ state, recent, finder: this.finder, time, windows });
    this.#past.set(key, list);
    return list;
  }

  /** The links that were removed within the window before the time of a historical state. */
  *removedBefore(state: NetworkState): Steps<readonly LostLink[]> {
    this.#history.requireAllCollections();
    const windows = this.#windows;
    const recent = yield* RecentChanges.read(this.#history, state, windows);
    return yield* removedLinks({ state, recent, windows });
  }

  /** One link of each cable that is listed as lost at the time of a state. Unlike the list, it does not change with the clock. */
  *lostCables(state: NetworkState): Steps<readonly Link[]> {
    const newest = this.#newest?.revision === state.revision ? this.#newest : undefined;
    return yield* findLostCables(state, newest?.removed ?? (yield* this.removedBefore(state)));
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

  /** Waits until the list expires, unless it is replaced before. */
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
