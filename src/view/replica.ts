/**
 * A replica of the view in another process. It receives all entities first (a sync) and then every change. Its current
 * state has the same bytes and versions as the original view. Its history goes back as far as its ring of recent batches;
 * everything else throws `HistoryNotInReplica`, and the caller relays the request to the original.
 *
 * Readers see one complete revision at any time. During a second sync the view keeps its old state until the sync is
 * complete; then all differences become one revision. The ring is reset, because the changes in between are not known.
 */
import type { Batch, CollectionVersions, Log, LogEntry } from "../log/log.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { type BatchFeed, History, type Resolved } from "./history.ts";
import { storedValueOf, View } from "./view.ts";

/** The history is only in the process that has the log. */
export class HistoryNotInReplica extends Error {
  override readonly name = "HistoryNotInReplica";

  constructor() {
    super("a replica has no history beyond its ring");
  }
}

/** The state of the original at the end of a sync. */
export interface SyncedState {
  readonly revision: number;
  readonly time: number;
  readonly graphTime: number;
  readonly versions: Omit<CollectionVersions, "claims">;
}

export class Replica implements BatchFeed {
  readonly view = new View();
  readonly log: Log;
  readonly history: History;
  readonly #listeners = new Set<(batch: Batch) => void>();
  /** Of the revision, or the sync, that is not complete yet. */
  #entries: LogEntry[] = [];
  /** The entities received in the current sync; those that are missing at its end were removed. */
  #syncedKeys: Set<string> | undefined;
  #hasSynced = false;

  constructor(log: Log, maxRingBytes: number) {
    this.log = log;
    this.history = new ReplicaHistory(this, maxRingBytes);
  }

  onBatch(listener: (batch: Batch) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts a sync, or starts it again: all entities follow. */
  beginSync(): void {
    this.#entries = [];
    this.#syncedKeys = new Set();
  }

  /** An entity of the current sync. */
  setEntity(kind: Kind, id: string, text: string): void {
    this.#syncedKeys?.add(keyOf(kind, id));
    const before = this.view.get(kind, id);
    if (before === text) return;
    if (this.#hasSynced) this.#entries.push({ kind, id, before: before ?? null, after: text, changed: [] });
    // Before the first sync is complete there are no readers, and a million entities need not be in memory twice.
    else this.view.replaceValue(kind, id, storedValueOf(kind, before), storedValueOf(kind, text));
  }

  /** Ends a sync. */
  completeSync({ revision, time, graphTime, versions }: SyncedState): void {
    for (const kind of KINDS) {
      for (const [id, text] of this.#removedEntities(kind)) {
        this.#entries.push({ kind, id, before: text, after: null, changed: [] });
      }
    }
    this.view.apply({ revision, time, entries: this.#entries });
    this.view.setVersions({ ...versions, claims: revision }, graphTime);
    this.#entries = [];
    this.#syncedKeys = undefined;
    this.#hasSynced = true;
    this.history.reset();
  }

  *#removedEntities(kind: Kind): Generator<[id: string, text: string]> {
    const syncedKeys = this.#syncedKeys;
    if (!syncedKeys) return;
    for (const page of this.view.pages(kind)) {
      for (const [i, id] of page.ids.entries()) {
        if (!syncedKeys.has(keyOf(kind, id))) yield [id, page.value(i)];
      }
    }
  }

  /** A change of the next revision. `text` is null for a removal. */
  addChange(kind: Kind, id: string, text: string | null, changed: readonly string[]): void {
    this.#entries.push({ kind, id, before: this.view.get(kind, id) ?? null, after: text, changed });
  }

  /** Completes all revisions up to this one. Revisions without a received change changed nothing public. */
  commitUpTo(revision: number, time: number = this.view.time): void {
    if (revision <= this.view.revision) return;
    const entries = this.#entries;
    this.#entries = [];
    while (this.view.revision + 1 < revision) {
      this.#apply({ revision: this.view.revision + 1, time: this.view.time, entries: [] });
    }
    this.#apply({ revision, time, entries });
  }

  #apply(batch: Batch): void {
    this.view.apply(batch);
    for (const listener of this.#listeners) listener(batch);
  }
}

const keyOf = (kind: Kind, id: string): string => `${kind} ${id}`;

/** Resolves revisions in the ring and no others. */
class ReplicaHistory extends History {
  override resolve(revision: number): Resolved {
    if (revision <= this.view.revision && this.ringHolds(revision)) return { ok: true, revision };
    throw new HistoryNotInReplica();
  }

  override resolveTime(): Resolved {
    throw new HistoryNotInReplica();
  }
}

/** The log of a replica: id and signing key of the original, and no content. */
export function createReplicaLog(id: string, signingKey: Uint8Array): Log {
  const unavailable = (): never => {
    throw new HistoryNotInReplica();
  };
  return {
    id,
    signingKey,
    append: unavailable,
    read: unavailable,
    snapshotAtOrBefore: unavailable,
    writeSnapshot: unavailable,
    revisionAt: unavailable,
    timeOf: unavailable,
    histogram: unavailable,
    prune: unavailable,
    stats: unavailable,
    close: () => Promise.resolve(),
  };
}
