/**
 * A replica of the view in another process. It receives all entities first (a sync) and then every change. Its current
 * state has the same bytes and versions as the original view. Its history is limited to its ring of recent batches. A read
 * that needs more history, or more than the public collections, throws `HistoryNotInReplica`, and the caller relays the
 * request to the original.
 *
 * Readers see one complete revision at any time. During a second sync the view keeps its old state until the sync is
 * complete; then all differences become one revision. The ring is reset, because the changes in between are not known.
 */
import { Scheduler } from "../lib/scheduler.ts";
import { ShardedSet } from "../lib/sharded-set.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import { type Batch, type CollectionVersions, forStoreKinds, type Log, type LogEntry } from "../log/log.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { type BatchFeed, type BatchListener, History, type Resolved } from "./history.ts";
import { View } from "./view.ts";

/** The error of a read that needs history or claims, which only the process with the log has. */
export class HistoryNotInReplica extends Error {
  override readonly name = "HistoryNotInReplica";

  constructor() {
    super("a replica has no history beyond its ring, and no claims");
  }
}

/** The state of the original at the end of a sync. */
export interface SyncedState {
  readonly revision: number;
  readonly time: number;
  readonly graphTime: number;
  readonly versions: Pick<CollectionVersions, Kind | "graph"> & Partial<Pick<CollectionVersions, "missing">>;
}

/** Number of received entities of a sync that are applied at once. */
const ENTITIES_PER_PART = 1000;
/** The owner of the replica's work on the scheduler. */
const OWNER = "view";

/** The replicated collections. An entity of `missing` has its `missingKey` as id. */
export type ReplicatedKind = Kind | "missing";
const REPLICATED_KINDS: readonly ReplicatedKind[] = [...KINDS, "missing"];

/** A received entity; null when it was removed. */
interface Received {
  readonly kind: ReplicatedKind;
  readonly id: string;
  readonly after: string | null;
  readonly changed: readonly string[];
}

/** A sync that is not complete. */
interface Sync {
  /** The keys of the entities received so far. Entities of the view that are not among them at the end were removed. */
  readonly keys: ShardedSet;
  /** The entities that differ from the view. */
  readonly differences: Received[];
}

export class Replica implements BatchFeed {
  readonly view = new View();
  readonly log: Log;
  readonly history: History;
  readonly #scheduler: Scheduler;
  readonly #listeners = new Set<BatchListener>();
  /** The received entities of the revision, or of the part of a sync, that is not complete yet. */
  #received: Received[] = [];
  #sync: Sync | undefined;
  #hasSynced = false;
  /** The revision that the view has after all queued work. */
  #newest = 0;
  /** The last queued work. Work runs in the order in which it was received. */
  #lastWork: Promise<void> = Promise.resolve();

  constructor(log: Log, maxRingBytes: number, scheduler: Scheduler = new Scheduler()) {
    this.log = log;
    this.#scheduler = scheduler;
    this.history = new ReplicaHistory(this, maxRingBytes);
  }

  onBatch(listener: BatchListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts a sync, or restarts it. All entities follow. */
  beginSync(): void {
    this.#received = [];
    this.#sync = { keys: new ShardedSet(), differences: [] };
  }

  /** Receives an entity of the current sync. A caller that awaits the result does not send faster than entities are applied. */
  setEntity(kind: ReplicatedKind, id: string, text: string): Promise<void> | undefined {
    this.#sync?.keys.add(keyOf(kind, id));
    this.#received.push({ kind, id, after: text, changed: [] });
    return this.#received.length < ENTITIES_PER_PART ? undefined : this.#completePart();
  }

  #completePart(): Promise<void> {
    const received = this.#received;
    const sync = this.#sync;
    this.#received = [];
    // There are no readers before the first sync is complete, so entities are applied directly and are not in memory twice.
    if (!this.#hasSynced || !sync) {
      const { revision, time } = this.view;
      return this.#run(() => this.#apply({ revision, time }, received));
    }
    return this.#run(function* (this: Replica) {
      for (const entity of received)
        if (this.view.get(entity.kind, entity.id) !== entity.after) sync.differences.push(entity);
      yield;
    });
  }

  /** Ends a sync. All differences become visible at once. */
  async completeSync({ revision, time, graphTime, versions }: SyncedState): Promise<void> {
    await this.#completePart();
    const sync = this.#sync;
    this.#sync = undefined;
    this.#hasSynced = true;
    this.#newest = revision;
    await this.#run(function* (this: Replica) {
      if (sync) yield* this.#addRemovals(sync);
      yield* this.#apply({ revision, time }, sync?.differences ?? [], () => {
        this.view.setVersions({ ...forStoreKinds(() => revision), ...versions }, graphTime);
        this.history.reset();
      });
    });
  }

  /** Adds the removal of all entities of the view that were not received. */
  *#addRemovals({ keys, differences }: Sync): Steps<void> {
    const state = this.view.capture();
    for (const kind of REPLICATED_KINDS) {
      for (const page of yield* state.pages(kind)) {
        for (const id of page.ids()) {
          if (!keys.has(keyOf(kind, id))) differences.push({ kind, id, after: null, changed: [] });
        }
        yield;
      }
    }
  }

  /** Receives a change of the next revision. `text` is null for a removal. */
  addChange(kind: ReplicatedKind, id: string, text: string | null, changed: readonly string[]): void {
    this.#received.push({ kind, id, after: text, changed });
  }

  /** Completes all revisions up to this one. A revision without received changes changed nothing public. */
  commitUpTo(revision: number, time?: number): Promise<void> {
    if (revision <= this.#newest) return this.#lastWork;
    this.#newest = revision;
    const received = this.#received;
    this.#received = [];
    return this.#run(function* (this: Replica) {
      const { view } = this;
      const announce = (batch: Batch, bytes: number) => {
        for (const listener of this.#listeners) listener(batch, bytes);
      };
      while (view.revision + 1 < revision)
        yield* this.#apply({ revision: view.revision + 1, time: view.time }, [], announce);
      yield* this.#apply({ revision, time: time ?? view.time }, received, announce);
    });
  }

  #run(work: (this: Replica) => Steps<unknown>): Promise<void> {
    const done = this.#lastWork.then(async () => {
      await this.#scheduler.run(OWNER, work.call(this));
    });
    this.#lastWork = done.catch(() => {});
    return done;
  }

  /** `onVisible` is called in the same turn in which the changes become visible. */
  *#apply(
    { revision, time }: Pick<Batch, "revision" | "time">,
    received: readonly Received[],
    onVisible: BatchListener = () => {},
  ): Steps<void> {
    const { view } = this;
    const entries: LogEntry[] = [];
    const pause = new Pause();
    for (const { kind, id, after, changed } of received) {
      entries.push({ kind, id, before: view.get(kind, id) ?? null, after, changed });
      if (pause.due(COST.record, after?.length)) yield;
    }
    const batch = { revision, time, entries };
    const prepared = yield* view.indexAndPrepare(batch);
    view.publish(prepared);
    onVisible(batch, prepared.bytes);
    yield* view.tidyIndexes();
  }
}

const keyOf = (kind: ReplicatedKind, id: string): string => `${kind} ${id}`;

/** A history that resolves only revisions in the ring. */
class ReplicaHistory extends History {
  override requireAllCollections(): void {
    throw new HistoryNotInReplica();
  }

  override resolve(revision: number): Resolved {
    if (revision <= this.view.revision && this.ringHolds(revision)) return { ok: true, revision };
    throw new HistoryNotInReplica();
  }

  override resolveTime(): Resolved {
    throw new HistoryNotInReplica();
  }
}

/** The log of a replica: it has the id and signing key of the original, and no content. */
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
    dropSnapshot: unavailable,
    revisionAt: unavailable,
    timeOf: unavailable,
    histogram: unavailable,
    prune: unavailable,
    stats: unavailable,
    close: () => Promise.resolve(),
  };
}
