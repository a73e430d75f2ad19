/**
 * How far a watch has come: turns the records of one connection after the other into events without a gap, a repeat or
 * half a revision.
 *
 * One number carries it, the last revision that was given out whole. The service puts an id on the last record of a
 * revision only; until that is there the records of a revision are held, and a connection lost meanwhile drops them,
 * because resuming brings them again.
 */
import type { Kind } from "../model/ids.ts";
import { localError } from "./client-error.ts";
import type { EventRecord } from "./event-stream.ts";
import { changeIn, type HeldChange, revisionIn, snapshotIn, syncedFactsIn } from "./stream-records.ts";
import type { WatchEvent } from "./types.ts";

export class WatchState<K extends Kind> {
  readonly #kinds: readonly K[];
  #since: number | undefined;
  /** Whether the consumer knows anything that a new snapshot would put out of date. */
  #told: boolean;
  #inSnapshot = false;
  #held: HeldChange<K>[] = [];

  constructor(kinds: readonly K[], since: number | undefined) {
    this.#kinds = kinds;
    this.#since = since;
    this.#told = since !== undefined;
  }

  /** Where the next connection takes over; undefined asks for everything. */
  get since(): number | undefined {
    return this.#since;
  }

  /** A new connection: what the last one began and did not end is void. */
  begin(): void {
    this.#inSnapshot = false;
    this.#held = [];
  }

  /** The service no longer knows what happened since. */
  forget(): void {
    this.#since = undefined;
  }

  *take(record: EventRecord): Generator<WatchEvent<K>, void, void> {
    if (record.event === "synced") {
      const revision = revisionIn(record);
      yield* this.#enterSnapshot();
      this.#inSnapshot = false;
      this.#since = revision;
      const facts = syncedFactsIn(record);
      yield { type: "synced", revision, ...(facts && { facts }) };
      return;
    }
    const snapshot = snapshotIn(record, this.#kinds);
    if (snapshot) {
      yield* this.#enterSnapshot();
      yield snapshot;
    }
    const change = changeIn(record, this.#kinds);
    if (change) this.#hold(change);
    yield* this.reach(record.lastEventId);
  }

  /** All up to this id is there, also where none of it was for this consumer: there is no need to ask for it again. */
  *reach(id: string): Generator<WatchEvent<K>, void, void> {
    if (this.#since === undefined || !/^\d{1,16}$/.test(id)) return;
    const revision = Number(id);
    if (revision <= this.#since) return;
    const whole = this.#held;
    this.#held = [];
    this.#since = revision;
    const last = whole.at(-1);
    if (last) last.last = true;
    yield* whole;
  }

  /** A snapshot may also come unasked, from a service that does not know the revision; it counts all the same. */
  *#enterSnapshot(): Generator<WatchEvent<K>, void, void> {
    if (this.#inSnapshot) return;
    this.#inSnapshot = true;
    this.#since = undefined;
    this.#held = [];
    if (this.#told) yield { type: "reset" };
    this.#told = true;
  }

  #hold(change: HeldChange<K>): void {
    if (this.#since === undefined) throw localError("protocol", "the stream begins with a change");
    if (change.revision <= this.#since) return; // known already
    const open = this.#held.at(-1);
    if (open && open.revision !== change.revision) {
      // The end of the revision before was lost on the way; it comes again when asked for.
      throw localError("gap", `revision ${open.revision} of the stream has no end`);
    }
    this.#held.push(change);
  }
}
