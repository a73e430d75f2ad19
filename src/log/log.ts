/**
 * The contract of the log: the one ordered memory of everything that changed.
 *
 * Each batch has a revision: one integer, a total order, never reused. A batch says for every value it touches what
 * it was and what it became, so the view can be carried forwards (redo, on restart) and backwards (undo, to answer
 * for the past) from any point. ETags, cursors, event ids, `since` and `at` are all this number.
 *
 * Guarantees: `append` returns when a crash of the process can no longer lose the batch. Whatever revision is at
 * least `oldest` can be reconstructed. A snapshot is the pages of all collections at one revision; pages that did not
 * change between two snapshots are stored once.
 */
import { KINDS, type Kind } from "../model/ids.ts";

/** The public collections, and `claims`: what sources said where it cannot be read off the public value. */
export type StoreKind = Kind | "claims";
export const STORE_KINDS: readonly StoreKind[] = [...KINDS, "claims"];

export interface LogEntry {
  readonly kind: StoreKind;
  readonly id: string;
  /** JSON text, or null for "not there". */
  readonly before: string | null;
  readonly after: string | null;
  /** Top-level fields that differ, when both are there. */
  readonly changed: readonly string[];
}

export interface Batch {
  readonly revision: number;
  /** Epoch milliseconds; never less than the batch before. */
  readonly time: number;
  readonly entries: readonly LogEntry[];
}

/** A page as the log keeps it. `stored` is its place in the log once it has one; the log sets it. */
export interface PageRecord {
  storedId: number | undefined;
  encode(): Uint8Array;
}

/** For each collection, the revision that last changed it: kept so that ETags survive a restart. */
export type CollectionVersions = Readonly<Record<StoreKind | "graph", number>>;

export interface Snapshot {
  readonly revision: number;
  readonly time: number;
  /** Time of the last change of the graph: what `topology.time` tells. */
  readonly graphTime: number;
  readonly versions: CollectionVersions;
  readonly pages: Readonly<Record<StoreKind, readonly PageRecord[]>>;
}

export interface LogStats {
  /** The lowest revision whose state can be told. */
  readonly oldest: number;
  readonly oldestTime: number;
  readonly newest: number;
  readonly bytes: number;
  readonly snapshots: number;
}

export interface Log {
  /** A random name of this log, made when it was: revisions of two logs must never be mistaken for one another. */
  readonly id: string;
  /** A random key of this log, for signing what is handed to clients and must come back unchanged. */
  readonly signingKey: Uint8Array;
  /** Throws `LogError` when it cannot be made durable; then nothing was kept. */
  append(batch: Batch): void;
  /** Batches after `revision`, oldest first, up to and including `until`. Memory is bounded by one batch. */
  read(revision: number, until?: number): Iterable<Batch>;
  /** The newest snapshot not after `revision`; undefined when there is none (begin with nothing, at revision 0). */
  snapshotAtOrBefore(revision: number): Snapshot | undefined;
  /** Writes in slices, calling `breathe` between them: the pages are immutable, so changes may go on meanwhile. */
  writeSnapshot(snapshot: Snapshot, yieldToLoop: () => Promise<void>): Promise<void>;
  /** The last revision whose time is not after `time`; undefined when that is before the oldest. */
  revisionAt(time: number): number | undefined;
  timeOf(revision: number): number | undefined;
  /** How many changes each of `buckets` equal spans between two times holds. */
  histogram(from: number, to: number, buckets: number): readonly number[];
  /** Forgets what is older or more than allowed, in slices. */
  prune(keepSince: number, maxBytes: number, yieldToLoop: () => Promise<void>): Promise<void>;
  stats(): LogStats;
  close(): void;
}

/** What went wrong with the log, in words for the operator. */
export class LogError extends Error {
  override readonly name = "LogError";
  readonly code: "unreadable" | "in-use" | "newer-format" | "write-failed";

  constructor(code: LogError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
