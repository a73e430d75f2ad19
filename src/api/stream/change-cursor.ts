/**
 * The position of one subscriber, and what it has to be sent next: first the collection as it is (unless the subscriber
 * resumes), then every change. Rendering runs in steps and is shared with other subscribers (`shared-chunks.ts`).
 *
 * A cursor is a position, not a queue: batches stay in the ring that all subscribers share. A cursor that falls out of
 * the ring overflows. While it reads older batches from the log (it resumed from an old revision) it cannot overflow
 * that way, because the log holds all of them.
 */
import type { Steps } from "../../lib/steps.ts";
import type { Kind } from "../../model/ids.ts";
import { bindChanges, bindChangesAt } from "../../query/bound-filters.ts";
import { filterState, filterStateOrEmpty } from "../../query/filtered-state.ts";
import type { ParsedQuery } from "../../query/query.ts";
import type { ResetReason } from "../../query/revision.ts";
import type { History } from "../../view/history.ts";
import type { RequestContext } from "../endpoints/read-context.ts";
import { throwIfFault } from "../response/query-problem.ts";
import { logPosition } from "./log-position.ts";
import { neighbourhoodPosition } from "./neighbourhood-position.ts";
import type { Chunk, ChunkPosition, SharedChunks } from "./shared-chunks.ts";
import { snapshotPosition } from "./snapshot-position.ts";
import { HEARTBEAT_COMMENT, heartbeatRecord, syncedRecord } from "./sse.ts";
import { streamTopicOf } from "./stream-topic.ts";

export type StreamContext = Pick<RequestContext, "view" | "history" | "dialect" | "memory">;

/**
 * The revision to resume from. Without it the snapshot comes first, also where a client has an id that it cannot resume from.
 * Such a client may have seen that the centre of `around` was removed, or that a name became ambiguous: that is no error then.
 */
export type StreamStart = number | ResetReason | undefined;

export function* createChangeCursor(
  context: StreamContext,
  kind: Kind | undefined,
  query: ParsedQuery,
  start: StreamStart,
  chunks: SharedChunks,
): Steps<ChangeCursor> {
  const { view, history, memory } = context;
  const topic = streamTopicOf(context, kind, query);
  if (typeof start !== "number") {
    const now = view.capture();
    memory.hold(now);
    const filtered =
      start === undefined
        ? throwIfFault(yield* filterState(now, query))
        : yield* filterStateOrEmpty(now, query);
    const synced = yield* syncedRecord(history.log, now);
    const end = query.around
      ? neighbourhoodPosition(topic, filtered)
      : logPosition(topic, now.revision, bindChanges(query, now));
    return new ChangeCursor(history, chunks, snapshotPosition({ topic, filtered, synced, end }));
  }
  if (!query.around) {
    const bound = yield* bindChangesAt(history, query, start);
    return new ChangeCursor(history, chunks, logPosition(topic, start, bound));
  }
  // A subscriber that resumes may have seen that the centre was removed, and waits until it is added again.
  const filtered = yield* filterStateOrEmpty(yield* history.stateAt(start), query);
  return new ChangeCursor(history, chunks, neighbourhoodPosition(topic, filtered));
}

export class ChangeCursor {
  readonly #history: History;
  readonly #chunks: SharedChunks;
  #position: ChunkPosition;
  /** It resumed from a revision that the ring no longer has, and has not reached the ring yet. */
  #isBeforeRing: boolean;

  constructor(history: History, chunks: SharedChunks, position: ChunkPosition) {
    this.#history = history;
    this.#chunks = chunks;
    this.#position = position;
    this.#isBeforeRing = !history.ringHolds(position.revision);
  }

  /** The revision that the subscriber has once it received everything so far. */
  get revision(): number {
    return this.#position.revision;
  }

  /** Of the position, which it tells the subscriber. Within a snapshot there is nothing to resume from yet. */
  get heartbeat(): string {
    return this.isPartial ? HEARTBEAT_COMMENT : heartbeatRecord(this.#history.log, this.revision);
  }

  /** Whether the subscriber has a part of a snapshot, or of a revision. */
  get isPartial(): boolean {
    return this.#position.isPartial;
  }

  /** Whether there is anything that the subscriber was not sent, matching or not. */
  get isBehind(): boolean {
    const position = this.#position;
    if (position.isPartial) return true;
    return position.isBehind ? position.isBehind() : position.revision < this.#history.view.revision;
  }

  /** Whether the batches after `revision` are no longer in the ring. */
  get hasOverflowed(): boolean {
    return !this.#isBeforeRing && !this.#history.ringHolds(this.revision);
  }

  /** What comes next, where another subscriber had it rendered already. */
  takeReady(): Uint8Array | undefined {
    const chunk = this.#chunks.ready(this.#position);
    return chunk && this.#take(chunk);
  }

  /** What comes next. Undefined when nothing new matches; "overflow" when the cursor fell out of the ring. */
  *next(): Steps<Uint8Array | "overflow" | undefined> {
    while (this.isBehind) {
      if (this.hasOverflowed) return "overflow";
      const chunk = yield* this.#chunks.next(this.#position);
      if (typeof chunk !== "object") return chunk;
      const bytes = this.#take(chunk);
      if (bytes.length > 0) return bytes;
      yield;
    }
    return undefined;
  }

  #take({ bytes, next }: Chunk): Uint8Array {
    this.#position = next;
    if (this.#isBeforeRing) this.#isBeforeRing = !this.#history.ringHolds(next.revision);
    return bytes;
  }
}
