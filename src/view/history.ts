/**
 * The view through time: what it was at a revision or moment, what changed between two, and the last changes kept at
 * hand for those who follow along.
 *
 * Followers share one ring of recent batches; each costs a number (the revision it has seen), not a queue. A follower
 * that is slower than the ring is long has fallen out of it and is told so: memory is bounded whatever readers do.
 */
import type { Batch, Log } from "../log/log.ts";
import { currentAsHistorical, historicalStateAt } from "./historical-state.ts";
import type { NetworkState, View } from "./view.ts";

const MAX_PASTS = 8;

export type HistoryFault =
  | { readonly code: "revision-expired"; readonly oldest: number; readonly oldestTime: number }
  | { readonly code: "revision-unknown"; readonly newest: number };

export type Resolved =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly fault: HistoryFault };

/** Where batches come from: the ledger that makes them, or a copy of its view that is told of them. */
export interface BatchFeed {
  readonly view: View;
  readonly log: Log;
  /** Called with each batch once it is visible, in order of revision and without a gap. */
  onBatch(listener: (batch: Batch) => void): () => void;
}

export class History {
  readonly view: View;
  readonly log: Log;
  readonly #maxRingBytes: number;
  #ring: { batch: Batch; bytes: number }[] = [];
  #ringBytesUsed = 0;
  #ringStart: number;
  readonly #pasts = new Map<number, NetworkState>();
  readonly #subscribers = new Set<() => void>();

  constructor(feed: BatchFeed, ringBytes: number) {
    this.view = feed.view;
    this.log = feed.log;
    this.#maxRingBytes = ringBytes;
    this.#ringStart = feed.view.revision;
    feed.onBatch((batch) => this.#addToRing(batch));
  }

  /** Begins anew with the view as it is: what led to it is not known. Followers have fallen out of the ring. */
  reset(): void {
    this.#ring = [];
    this.#ringBytesUsed = 0;
    this.#ringStart = this.view.revision;
    for (const wake of this.#subscribers) wake();
  }

  #addToRing(batch: Batch): void {
    const bytes = batch.entries.reduce(
      (sum, e) => sum + (e.before?.length ?? 0) + (e.after?.length ?? 0),
      200,
    );
    this.#ring.push({ batch, bytes });
    this.#ringBytesUsed += bytes;
    let drop = 0;
    while (this.#ringBytesUsed > this.#maxRingBytes && drop < this.#ring.length - 1)
      this.#ringBytesUsed -= this.#ring[drop++]?.bytes ?? 0;
    if (drop > 0) {
      this.#ringStart = this.#ring[drop - 1]?.batch.revision ?? this.#ringStart;
      this.#ring = this.#ring.slice(drop);
    }
    for (const wake of this.#subscribers) wake();
  }

  /** Calls `wake` after each batch, until the returned function is called. */
  subscribe(wake: () => void): () => void {
    this.#subscribers.add(wake);
    return () => this.#subscribers.delete(wake);
  }

  /** Whether all batches after `revision` are in the ring. */
  ringHolds(revision: number): boolean {
    return revision >= this.#ringStart;
  }

  /** Batches after `revision` from the ring; undefined when they are no longer all there. */
  recentBatches(revision: number): readonly Batch[] | undefined {
    if (!this.ringHolds(revision)) return undefined;
    const newest = this.view.revision;
    if (revision >= newest) return [];
    // Revisions are consecutive, so the place in the ring is a subtraction.
    return this.#ring.slice(revision - this.#ringStart).map((one) => one.batch);
  }

  /** Batches in (from, to], from the ring where it has them, from the log otherwise. Check `from` first. */
  batches(from: number, to: number = this.view.revision): Iterable<Batch> {
    const recent = this.recentBatches(from);
    return recent ? recent.filter((batch) => batch.revision <= to) : this.log.read(from, to);
  }

  /** Whether the state at `revision`, and so every change after it, can still be told. */
  resolve(revision: number): Resolved {
    const { oldest, oldestTime } = this.log.stats();
    if (revision > this.view.revision) {
      return { ok: false, fault: { code: "revision-unknown", newest: this.view.revision } };
    }
    if (revision < oldest) return { ok: false, fault: { code: "revision-expired", oldest, oldestTime } };
    return { ok: true, revision };
  }

  /** The revision that was current at a moment. A moment to come is now. */
  resolveTime(time: number): Resolved {
    const revision = time >= this.view.time ? this.view.revision : this.log.revisionAt(time);
    if (revision !== undefined) return { ok: true, revision };
    const { oldest, oldestTime } = this.log.stats();
    return { ok: false, fault: { code: "revision-expired", oldest, oldestTime } };
  }

  /** The network at a revision that `resolve` said can be told. */
  stateAt(revision: number): NetworkState {
    if (revision === this.view.revision) return this.view;
    let past = this.#pasts.get(revision);
    if (past) this.#pasts.delete(revision);
    else past = historicalStateAt(this.view, this.log, revision);
    this.#pasts.set(revision, past);
    const [eldest] = this.#pasts.keys();
    if (this.#pasts.size > MAX_PASTS && eldest !== undefined) this.#pasts.delete(eldest);
    return past;
  }

  /** The same, but never the live view: a value that stays as it is while the network goes on. */
  immutableStateAt(revision: number): NetworkState {
    return revision === this.view.revision ? currentAsHistorical(this.view, this.log) : this.stateAt(revision);
  }

  timeOf(revision: number): number {
    return revision === this.view.revision ? this.view.time : (this.log.timeOf(revision) ?? 0);
  }
}
