/**
 * The position of a watch in the log. Turns the records of successive connections into events without a gap, a repeat
 * or a partial revision.
 *
 * The position is the last revision whose changes were all emitted. The service puts an id only on the last record of
 * a revision. The changes of a revision are buffered until that id arrives. A lost connection discards the buffer,
 * because the next connection resumes at the position and receives the whole revision again.
 */
import type { Kind } from "../model/ids.ts";
import { createLocalError } from "./client-error.ts";
import type { EventRecord } from "./event-stream.ts";
import {
  type PendingChange,
  parseEntityRecord,
  parseRevision,
  parseSyncedMetadata,
} from "./stream-records.ts";
import type { WatchEvent } from "./types.ts";
import type { StreamState } from "./watch.ts";

export class WatchState<K extends Kind> implements StreamState<WatchEvent<K>> {
  readonly resumes = true;
  readonly #kinds: readonly K[];
  since: number | undefined;
  /** Whether the consumer has entities that a new snapshot replaces, so that `reset` must come before it. */
  #needsReset: boolean;
  #inSnapshot = false;
  #pending: PendingChange<K>[] = [];

  constructor(kinds: readonly K[], since: number | undefined) {
    this.#kinds = kinds;
    this.since = since;
    this.#needsReset = since !== undefined;
  }

  /** Discards the snapshot or revision that the last connection started and did not complete. */
  startConnection(): void {
    this.#inSnapshot = false;
    this.#pending = [];
  }

  *receive(record: EventRecord): Generator<WatchEvent<K>, void, void> {
    if (record.event === "synced") {
      const revision = parseRevision(record);
      yield* this.#enterSnapshot();
      this.#inSnapshot = false;
      this.since = revision;
      const facts = parseSyncedMetadata(record);
      yield { type: "synced", revision, ...(facts && { facts }) };
      return;
    }
    const parsed = parseEntityRecord(record, this.#kinds);
    if (parsed?.type === "snapshot") {
      yield* this.#enterSnapshot();
      yield parsed;
    } else if (parsed) this.#addPending(parsed);
    yield* this.advanceTo(record.lastEventId);
  }

  /**
   * Emits the pending changes when `id` completes their revision. The position advances even if there are none, because a
   * filtered stream also sends the ids of revisions without a matching change. An id is the id of the log, a dot and the
   * revision.
   */
  *advanceTo(id: string): Generator<WatchEvent<K>, void, void> {
    if (this.since === undefined) return;
    const text = id.slice(id.lastIndexOf(".") + 1);
    if (!/^\d{1,16}$/.test(text)) return;
    const revision = Number(text);
    if (revision <= this.since) return;
    this.since = revision;
    // The id of a revision without a matching change may arrive together with the first changes of the next one.
    if ((this.#pending[0]?.revision ?? 0) > revision) return;
    const changes = this.#pending;
    this.#pending = [];
    const last = changes.at(-1);
    if (last) last.last = true;
    yield* changes;
  }

  /** A service may also send a snapshot that was not requested, when it does not know the revision in `since`. */
  *#enterSnapshot(): Generator<WatchEvent<K>, void, void> {
    if (this.#inSnapshot) return;
    this.#inSnapshot = true;
    this.since = undefined;
    this.#pending = [];
    if (this.#needsReset) yield { type: "reset" };
    this.#needsReset = true;
  }

  #addPending(change: PendingChange<K>): void {
    if (this.since === undefined) throw createLocalError("protocol", "the stream begins with a change");
    if (change.revision <= this.since) return; // already emitted
    const previous = this.#pending.at(-1);
    if (previous && previous.revision !== change.revision) {
      // The last record of the previous revision was lost. Reconnecting receives that revision again.
      throw createLocalError("gap", `revision ${previous.revision} of the stream has no end`);
    }
    this.#pending.push(change);
  }
}
