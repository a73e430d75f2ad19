/**
 * The view over time: its state at a revision or a time, the changes between two revisions, and the most recent batches
 * for subscribers.
 *
 * Subscribers share one ring of recent batches. A subscriber costs a number (the last revision it has read), not a queue.
 * A subscriber that is slower than the ring is long must read the log, or start again: memory is bounded whatever
 * subscribers do.
 */
import { createBoundedCache } from "../lib/bounded-cache.ts";
import { type Paced, SharedSteps, type Steps } from "../lib/steps.ts";
import type { Batch, Log } from "../log/log.ts";
import { historicalStateAt, type SizedState } from "./historical-state.ts";
import type { RevisionState } from "./network-state.ts";
import { readAll } from "./read-all.ts";
import type { NetworkState, View } from "./view.ts";

const MAX_CACHED_STATES = 8;
/** Of the cached states together, besides what they share with the view. The newest one is kept whatever its size. */
const MAX_CACHED_BYTES = 128 * 1024 * 1024;
/** Counted for each batch in the ring in addition to its texts. */
const BATCH_OVERHEAD_BYTES = 200;

export type HistoryFault =
  | { readonly code: "revision-expired"; readonly oldest: number; readonly oldestTime: number }
  | { readonly code: "revision-unknown"; readonly newest: number };

export type Resolved =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly fault: HistoryFault };

/** Shared by those who wait for it. `bytes` is 0 until it is complete. */
interface CachedState {
  readonly building: SharedSteps<SizedState>;
  readonly bytes: number;
  readonly state?: RevisionState;
}

/** `bytes` is the summed length of the texts of the batch. */
export type BatchListener = (batch: Batch, bytes: number) => void;

/** Where batches come from: the committer that creates them, or a replica that receives them. */
export interface BatchFeed {
  readonly view: View;
  readonly log: Log;
  /** The listener is called with each batch once it is visible, in order of revision and without a gap. */
  onBatch(listener: BatchListener): () => void;
}

export class History {
  readonly view: View;
  readonly log: Log;
  /** A smaller value applies from the next batch on. */
  maxRingBytes: number;
  #ring: { batch: Batch; bytes: number }[] = [];
  #ringBytesUsed = 0;
  /** The revision before the first batch in the ring. */
  #ringStart: number;
  readonly #cachedStates = createBoundedCache<number, CachedState>({
    maxSize: MAX_CACHED_BYTES,
    sizeOf: ({ bytes }) => Math.min(MAX_CACHED_BYTES, Math.max(bytes, MAX_CACHED_BYTES / MAX_CACHED_STATES)),
    // From now on it exists because of those who read it.
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
    feed.onBatch((batch, bytes) => this.#addToRing(batch, bytes + BATCH_OVERHEAD_BYTES));
  }

  /** Empties the ring, because the batches that led to the view's revision are not known. */
  reset(): void {
    this.#ring = [];
    this.#ringBytesUsed = 0;
    this.#ringStart = this.view.revision;
    for (const wake of this.#subscribers) wake();
  }

  #addToRing(batch: Batch, bytes: number): void {
    this.#ring.push({ batch, bytes });
    this.#ringBytesUsed += bytes;
    let evicted = 0;
    while (this.#ringBytesUsed > this.maxRingBytes && evicted < this.#ring.length - 1)
      this.#ringBytesUsed -= this.#ring[evicted++]?.bytes ?? 0;
    if (evicted > 0) {
      this.#ringStart = this.#ring[evicted - 1]?.batch.revision ?? this.#ringStart;
      this.#ring = this.#ring.slice(evicted);
    }
    for (const wake of this.#subscribers) wake();
  }

  /** Calls `wake` after each batch. Returns the function that unsubscribes. */
  subscribe(wake: () => void): () => void {
    this.#subscribers.add(wake);
    return () => this.#subscribers.delete(wake);
  }

  /** Returns where all collections are in this process, those that are not public included; throws in a replica. */
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
    // Revisions are consecutive, so that the index in the ring is a subtraction.
    return this.#ring.slice(revision - this.#ringStart).map(({ batch }) => batch);
  }

  /** The batch of a revision, where the ring has it. */
  recentBatch(revision: number): Batch | undefined {
    return this.#ring[revision - this.#ringStart - 1]?.batch;
  }

  /** The batches in (from, to], from the ring or from the log. `from` must resolve. Ends early where they were pruned. */
  batches(from: number, to: number = this.view.revision): Paced<Batch> {
    const recent = this.recentBatches(from);
    return recent ? recent.filter((batch) => batch.revision <= to) : this.log.read(from, to);
  }

  /** The same, all of them: throws `HistoryPruned` where they were pruned. */
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
   * view, has no time: a time before the first batch is before the oldest state, although revision 0 is kept.
   */
  resolveTime(time: number): Resolved {
    const { view, log } = this;
    if (time >= view.time || view.revision === 0) return { ok: true, revision: view.revision };
    const revision = log.revisionAt(time) ?? 0;
    if (revision > 0) return { ok: true, revision };
    const oldest = Math.max(1, log.stats().oldest);
    return { ok: false, fault: { code: "revision-expired", oldest, oldestTime: this.timeOf(oldest) } };
  }

  /** The network at a revision that resolves. Rejects with `HistoryPruned` when it was pruned meanwhile. */
  *stateAt(revision: number): Steps<NetworkState> {
    if (revision === this.view.revision) return this.view.capture();
    let cached = this.#cachedStates.get(revision);
    if (!cached) {
      cached = { building: this.#build(revision), bytes: 0 };
      this.#cachedStates.set(revision, cached);
    }
    try {
      const { state, bytes } = yield* cached.building.result();
      // Its size is known now.
      if (cached.bytes === 0)
        this.#cachedStates.set(revision, { ...cached, state, bytes: Math.max(1, bytes) });
      return state;
    } catch (error) {
      this.#cachedStates.delete(revision);
      throw error;
    }
  }

  /** Those who need the same state share the work. */
  #build(revision: number): SharedSteps<SizedState> {
    return new SharedSteps(historicalStateAt(this.view.capture(), this.log, revision));
  }

  timeOf(revision: number): number {
    return revision === this.view.revision ? this.view.time : (this.log.timeOf(revision) ?? 0);
  }
}
