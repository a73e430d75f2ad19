/**
 * The contract of the log: the ordered, durable record of every change. Implementations differ in where they store it and in
 * who else writes: the embedded log has one writer; in a cluster several nodes append to one log. Callers rely on this
 * contract and on nothing else.
 *
 * - Revision: one integer per batch, consecutive, in a total order, never reused. ETags, cursors, event ids, `since`
 *   and `at` are all this number. Two logs have different ids, because their revisions mean different batches; an event id
 *   names its log.
 * - Batch: the values before and after of everything it changes. The view is therefore a pure function of the log, and
 *   can be moved forwards (redo, at a restart) and backwards (undo, for a historical state) without merging again.
 * - Durability: when `append` resolves, a crash of the process cannot lose the batch, and `read` yields it. When it
 *   rejects, nothing of the batch is stored. The caller awaits one append before it starts the next.
 * - History: every revision from `oldest` to `newest` can be reconstructed. `prune` raises `oldest`, always to the
 *   revision of a snapshot.
 * - Snapshot: the pages of all collections at one revision. A page that two snapshots share is stored once.
 *
 * Writes are asynchronous, because the disk may be slow, and in a replicated log other nodes decide the order. Reads are
 * synchronous and local. Each step of a read is short: results that grow with the history are paced sequences.
 */
import type { Paced } from "../lib/steps.ts";
import { KINDS, type Kind } from "../model/ids.ts";

/**
 * The public collections, and three that only the view uses:
 *
 * - `claims`: the claims of sources that cannot be recovered from the public value.
 * - `missing`: entities that an intended source claims and no observed one does (see `missingKey`).
 * - `settings`: the settings that the merged values depend on besides the claims (see `merge-rules.ts`).
 *
 * The first letters of all kinds differ, because the encoding of a batch names a kind by its first letter.
 */
export type StoreKind = Kind | "claims" | "missing" | "settings";
export const STORE_KINDS: readonly StoreKind[] = [...KINDS, "claims", "missing", "settings"];
/** Creates one value for each kind of collection. */
export const forStoreKinds = <T>(create: (kind: StoreKind) => T): Record<StoreKind, T> => ({
  devices: create("devices"),
  ports: create("ports"),
  links: create("links"),
  hosts: create("hosts"),
  claims: create("claims"),
  missing: create("missing"),
  settings: create("settings"),
});

/** The change of one value in a batch. */
export interface LogEntry {
  readonly kind: StoreKind;
  readonly id: string;
  /** The value before the batch as JSON text; null when there was none. `after` is the value after it. */
  readonly before: string | null;
  readonly after: string | null;
  /** Top-level fields that differ, when both values exist. */
  readonly changed: readonly string[];
}

export interface Batch {
  readonly revision: number;
  /** The time of the batch, in epoch milliseconds; never less than that of the previous batch. */
  readonly time: number;
  readonly entries: readonly LogEntry[];
}

/** A page of a collection in the form that the log stores. */
export interface PageRecord {
  /** The id under which the log stores the page; undefined until it is stored. Set by the log. */
  storedId: number | undefined;
  /** Returns bytes that the caller may change. */
  encode(): Uint8Array;
}

/** The revision that last changed each collection. Stored in snapshots, so that ETags survive a restart. */
export type CollectionVersions = Readonly<Record<StoreKind | "graph", number>>;

export interface SnapshotFacts {
  readonly revision: number;
  readonly time: number;
  /** Time of the last change of the graph: `topology.time` in the interface. */
  readonly graphTime: number;
  readonly versions: CollectionVersions;
}

export interface Snapshot extends SnapshotFacts {
  readonly pages: Readonly<Record<StoreKind, readonly PageRecord[]>>;
}

/** Numbers of each interval of a histogram. */
export interface ChangeHistogram {
  /** Changes of the public kinds. */
  readonly counts: readonly number[];
  /** Devices that became unavailable, links that became inactive, and devices and links that were removed. */
  readonly faults: readonly number[];
  /**
   * Devices that became available, links that became active, and devices and links that were added while more were removed
   * than added again.
   */
  readonly recoveries: readonly number[];
}

export interface LogStats {
  /** The lowest revision whose state can be reconstructed. */
  readonly oldest: number;
  readonly oldestTime: number;
  readonly newest: number;
  readonly bytes: number;
  readonly snapshots: number;
  /** Set while batches wait because they cannot be written. */
  readonly writeFailure?: WriteFailure;
  /** Number of failed writes of batches since the start. */
  readonly writeFailures?: number;
}

export interface WriteFailure {
  readonly error: string;
  /** The time of the first failed write, in epoch milliseconds. */
  readonly since: number;
}

/**
 * The part of the log that appends. The caller has computed a batch from the revision before it, so the batch is stored only
 * if its revision is the next one.
 */
export interface CommitLog {
  /**
   * Rejects with `LogError` when the batch cannot be made durable; then nothing of it is stored. With `overtaken`, another
   * node has appended first: `foreign` has its batches, and the caller computes again once they are visible. With
   * `not-holder`, another node runs `source`, whose claims the batch contains.
   */
  append(batch: Batch, source?: string): Promise<void>;
  /** The batches of other nodes; absent where no other node appends. */
  readonly foreign?: ForeignBatches;
}

/** The batches that other nodes have appended. */
export interface ForeignBatches {
  /** Adds a listener that is called when there may be a batch to take. */
  onArrival(listener: () => void): void;
  /**
   * Resolves to the next batch once it is in the local history; to undefined when there is none now. Call it only while no
   * append is in progress, and make each batch visible before taking the next.
   */
  take(): Promise<Batch | undefined>;
  /** Whether this node runs the source, according to the messages that were taken. */
  holds(source: string): boolean;
}

/** The history that is stored on this machine. Every read of a historical state uses it. */
export interface LocalHistory {
  /** The random id that was created with the log, so that revisions of two logs are never confused. */
  readonly id: string;
  /** The random key that was created with the log. It signs values that clients must send back unchanged, such as cursors. */
  readonly signingKey: Uint8Array;
  /**
   * Yields the batches after `revision`, up to and including `until`, oldest first. Holds one batch in memory at a time.
   * Batches that are pruned between two steps are missing: a caller that pauses checks that revisions are consecutive.
   */
  read(revision: number, until?: number): Paced<Batch>;
  /** The newest snapshot at or before `revision`; undefined when there is none (start empty, at revision 0). */
  snapshotAtOrBefore(revision: number): Snapshot | undefined;
  /** Encodes and stores a snapshot in slices. Batches may be appended meanwhile, because pages are immutable. */
  writeSnapshot(snapshot: Snapshot): Promise<void>;
  /** Removes a snapshot that cannot be read. States are then reconstructed from the one before it. */
  dropSnapshot(revision: number): Promise<void>;
  /** The last revision whose time is not after `time`; undefined when that is before the oldest. */
  revisionAt(time: number): number | undefined;
  timeOf(revision: number): number | undefined;
  /** The number of changes, and of faults and recoveries among them, in each of `buckets` equal intervals between two times. */
  histogram(from: number, to: number, buckets: number): ChangeHistogram;
  /** Deletes history that is older than `keepSince` or exceeds `maxBytes`. Batches may be appended meanwhile. */
  prune(keepSince: number, maxBytes: number): Promise<void>;
  stats(): LogStats;
  /** Resolves when writes in progress are complete and the file is closed. */
  close(): Promise<void>;
}

export interface Log extends CommitLog, LocalHistory {}

/** A failure of the log. The message is for the operator. */
export class LogError extends Error {
  override readonly name = "LogError";
  readonly code:
    | "unreadable"
    | "in-use"
    | "other-format"
    | "other-log"
    | "write-failed"
    | "overtaken"
    | "not-holder";

  constructor(code: LogError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
