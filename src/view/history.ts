/**
 * The view over time: its state at a revision or a time, the changes between two revisions, and the most recent batches for
 * subscribers.
 *
 * Subscribers share one ring of recent batches. A subscriber costs a number (the last revision it has read), not a queue. A
 * subscriber that falls behind the ring must read the log, or start again, so memory is bounded whatever subscribers do.
 */
import { createBoundedCache } from "../lib/bounded-cache.ts";
import { type Paced, SharedSteps, type Steps } from "../lib/steps.ts";
import type { Batch, Log } from "../log/log.ts";
import { historicalStateAt, type SizedState } from "./historical-state.ts";
import type { RevisionState } from "./network-state.ts";
import { readAll } from "./read-all.ts";
import type { NetworkState, View } from "./view.ts";

const MAX_CACHED_STATES = 8;
/** Size of the cached states together, besides what they share with the view. The newest one is kept whatever its size. */
const MAX_CACHED_BYTES = 128 * 1024 * 1024;
/** Size counted for each batch in the ring in addition to its texts. */
const BATCH_OVERHEAD_BYTES = 200;

export type HistoryFault =
  | { readonly code: "revision-expired"; readonly oldest: number; readonly oldestTime: number }
  | { readonly code: "revision-unknown"; readonly newest: number };

export type Resolved =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly fault: HistoryFault };

/** A cached state, which all requests that wait for it share. `bytes` is 0 until it is complete. */
interface CachedState {
  readonly building: SharedSteps<SizedState>;
  readonly bytes: number;
  readonly state?: RevisionState;
}

/** Called with a batch; `bytes` is the total length of its texts. */
export type BatchListener = (batch: Batch, bytes: number) => void;

/** The origin of batches: the committer that creates them, or a replica that receives them. */
export interface BatchFeed {
  readonly view: View;
  readonly log: Log;
  /** Calls the listener with each batch once it is visible, in order of revision and without a gap. */
  onBatch(listener: BatchListener): () => void;
}

export class History {
  readonly view: View;
  readonly log: Log;
  /** Size of the ring. A smaller value applies from the next batch on. */
  maxRingBytes: number;
  #ring: { batch: Batch; bytes: number }[] = [];
  #ringBytesUsed = 0;
  /** The revision before the first batch in the ring. */
  #ringStart: number;
  #ringStartTime: number;
  readonly #cachedStates = createBoundedCache<number, CachedState>({
    maxSize: MAX_CACHED_BYTES,
    sizeOf: ({ bytes }) => Math.min(MAX_CACHED_BYTES, Math.max(bytes, MAX_CACHED_BYTES / MAX_CACHED_STATES)),
    // From now on the state exists only because of its readers.
    onRemove: ({ state, bytes }, _revision, reason) => {
      if (state && reason !== "set") state.ownBytes = bytes;
    },
  });
  readonly #subscribers = new Set<() => void>();

  constructor(feed: BatchFeed, maxRingBytes: number) {
    this.view = feed.view;
    this.log = feed.log;
    this.maxRingBytes = maxRingBytes;
    this.#ringStart = feed.view.revision;
    this.#ringStartTime = feed.view.time;
    feed.onBatch((batch, bytes) => this.#addToRing(batch, bytes + BATCH_OVERHEAD_BYTES));
  }

  /** Empties the ring, because the batches that led to the view's revision are not known. */
  reset(): void {
    this.#ring = [];
    this.#ringBytesUsed = 0;
    this.#ringStart = this.view.revision;
    this.#ringStartTime = this.view.time;
    for (const wake of this.#subscribers) wake();
  }

  #addToRing(batch: Batch, bytes: number): void {
    this.#ring.push({ batch, bytes });
    this.#ringBytesUsed += bytes;
    let evicted = 0;
    while (this.#ringBytesUsed > this.maxRingBytes && evicted < this.#ring.length - 1)
      this.#ringBytesUsed -= this.#ring[evicted++]?.bytes ?? 0;
    if (evicted > 0) {
      const last = this.#ring[evicted - 1]?.batch;
      this.#ringStart = last?.revision ?? this.#ringStart;
      this.#ringStartTime = last?.time ?? this.#ringStartTime;
      this.#ring = this.#ring.slice(evicted);
    }
    for (const wake of this.#subscribers) wake();
  }

  /** Calls `wake` after each batch. Returns the function that unsubscribes. */
  subscribe(wake: () => void): () => void {
    this.#subscribers.add(wake);
    return () => this.#subscribers.delete(wake);
  }

  /** Does nothing if this process has all collections, including those that are not public; throws in a replica. */
  requireAllCollections(): void {}

  /** Whether the ring has all batches after `revision`. */
  ringHolds(revision: number): boolean {
    return revision >= this.#ringStart;
  }

  /** The batches after `revision`, from the ring; undefined when it does not have all of them. */
  recentBatches(revision: number): readonly Batch[] | undefined {
    if (!this.ringHolds(revision)) return undefined;
    const newest = this.view.revision;
    if (revision >= newest) return [];
    // Revisions are consecutive, so the index in the ring is a difference.
    return this.#ring.slice(revision - this.#ringStart).map(({ batch }) => batch);
  }

  /** The batch of a revision, if the ring has it. */
  recentBatch(revision: number): Batch | undefined {
    return this.#ring[revision - this.#ringStart - 1]?.batch;
  }

  /** The batches in (from, to], from the ring or from the log. `from` must resolve. Ends early where they were pruned. */
  batches(from: number, to: number = this.view.revision): Paced<Batch> {
    const recent = this.recentBatches(from);
    return recent ? recent.filter((batch) => batch.revision <= to) : this.log.read(from, to);
  }

  /** All batches in (from, to]; throws `HistoryPruned` if some were pruned. */
  allBatches(from: number, to: number): Paced<Batch> {
    return this.ringHolds(from) ? this.batches(from, to) : readAll(this.log, from, to);
  }

  /** Whether the state at `revision`, and so every change after it, is in the history. */
  resolve(revision: number): Resolved {
    const { oldest, oldestTime } = this.log.stats();
    if (revision > this.view.revision) {
      return { ok: false, fault: { code: "revision-unknown", newest: this.view.revision } };
    }
    if (revision < oldest) return { ok: false, fault: { code: "revision-expired", oldest, oldestTime } };
    return { ok: true, revision };
  }

  /**
   * The revision that was current at a time. A time in the future resolves to the current revision. Revision 0, the empty
   * view, has no time, so a time before the first batch is before the oldest state, although revision 0 is kept.
   */
  resolveTime(time: number): Resolved {
    const { view, log } = this;
    if (time >= view.time || view.revision === 0) return { ok: true, revision: view.revision };
    const revision = log.revisionAt(time) ?? 0;
    if (revision > 0) return { ok: true, revision };
    const oldest = Math.max(1, log.stats().oldest);
    return { ok: false, fault: { code: "revision-expired", oldest, oldestTime: this.timeOf(oldest) } };
  }

  /** The network at a revision that resolves. Throws `HistoryPruned` when it was pruned meanwhile. */
  *stateAt(revision: number): Steps<NetworkState> {
    if (revision === this.view.revision) return this.view.capture();
    let cached = this.#cachedStates.get(revision);
    if (!cached) {
      cached = { building: this.#build(revision), bytes: 0 };
      this.#cachedStates.set(revision, cached);
    }
    try {
      const { state, bytes } = yield* cached.building.result();
      // Set again, so that the cache counts the size, which is known only after the build.
      if (cached.bytes === 0)
        this.#cachedStates.set(revision, { ...cached, state, bytes: Math.max(1, bytes) });
      return state;
    } catch (error) {
      this.#cachedStates.delete(revision);
      throw error;
    }
  }

  /** Builds a state. Requests for the same state share the work. */
  #build(revision: number): SharedSteps<SizedState> {
    const batches = this.recentBatches(revision);
    const time = this.recentBatch(revision)?.time ?? this.#ringStartTime;
    const later = batches && { time, batches };
    return new SharedSteps(historicalStateAt(this.view.capture(), this.log, revision, later));
  }

  timeOf(revision: number): number {
    return revision === this.view.revision ? this.view.time : (this.log.timeOf(revision) ?? 0);
  }
}
