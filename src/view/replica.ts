/**
 * A copy of the network in another process, kept by what the original tells: first everything there is, then every
 * change. It answers for the present as the original does, bytes and entity tags alike, and for as much of the past as
 * its ring of recent changes holds; whatever else is asked of the past throws `PastElsewhere`, and whoever asked turns
 * to the original.
 *
 * Readers see one whole revision at any time. When everything has to be told again, the copy goes on showing what it
 * had until the last of it is there; then what differs becomes one step, and who followed along has fallen out of the
 * ring, since nobody here knows what happened between.
 */
import type { Batch, LogEntry, Log, CollectionVersions } from "../log/log.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { type BatchFeed, History, type Resolved } from "./history.ts";
import { View, storedValueOf } from "./view.ts";

/** What is asked is not known here, but where this is a copy of. */
export class HistoryNotInReplica extends Error {
  override readonly name = "PastElsewhere";

  constructor() {
    super("a copy has no past");
  }
}

/** What the original says of itself with the last of what there is. */
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
  /** Of the revision, or of the telling, that is not whole yet. */
  #entries: LogEntry[] = [];
  /** Ids told so far, when there may be others that are gone. */
  #syncedKeys: Set<string> | undefined;
  #hasSynced = false;

  constructor(log: Log, ringBytes: number) {
    this.log = log;
    this.history = new ReplicaHistory(this, ringBytes);
  }

  onBatch(listener: (batch: Batch) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Everything is about to be told again, from its beginning. */
  beginSync(): void {
    this.#entries = [];
    this.#syncedKeys = new Set();
  }

  /** One thing that there is. */
  setEntity(kind: Kind, id: string, text: string): void {
    this.#syncedKeys?.add(keyOf(kind, id));
    const before = this.view.get(kind, id);
    if (before === text) return;
    if (this.#hasSynced) this.#entries.push({ kind, id, before: before ?? null, after: text, changed: [] });
    // Until it was whole once nobody reads it, and a million things need not be held twice.
    else this.view.replaceValue(kind, id, storedValueOf(kind, before), storedValueOf(kind, text));
  }

  /** That was everything, as of this revision. */
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
    const told = this.#syncedKeys;
    if (!told) return;
    for (const page of this.view.pages(kind)) {
      for (const [i, id] of page.ids.entries()) {
        if (!told.has(keyOf(kind, id))) yield [id, page.value(i)];
      }
    }
  }

  /** One change of the revision that comes next; `text` is null for what is gone. */
  addChange(kind: Kind, id: string, text: string | null, changed: readonly string[]): void {
    this.#entries.push({ kind, id, before: this.view.get(kind, id) ?? null, after: text, changed });
  }

  /** All changes up to this revision have been told. Those between that were not told of changed nothing seen here. */
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

/** Knows what happened as far back as the ring goes, and the state of things only now. */
class ReplicaHistory extends History {
  override resolve(revision: number): Resolved {
    if (revision <= this.view.revision && this.ringHolds(revision)) return { ok: true, revision };
    throw new HistoryNotInReplica();
  }

  override resolveTime(): Resolved {
    throw new HistoryNotInReplica();
  }
}

/** The log of a copy: its name and key are the original's, and it remembers nothing. */
export function createReplicaLog(epoch: string, secret: Uint8Array): Log {
  const elsewhere = (): never => {
    throw new HistoryNotInReplica();
  };
  return {
    id: epoch,
    signingKey: secret,
    append: elsewhere,
    read: elsewhere,
    snapshotAtOrBefore: elsewhere,
    writeSnapshot: elsewhere,
    revisionAt: elsewhere,
    timeOf: elsewhere,
    histogram: elsewhere,
    prune: elsewhere,
    stats: elsewhere,
    close: () => {},
  };
}
