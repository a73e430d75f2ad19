/**
 * The position of one subscriber, and what it must be sent next: first the current collection (unless the subscriber
 * resumes), then every change. Rendering runs in steps and is shared with other subscribers (`shared-chunks.ts`).
 *
 * A cursor is a position, not a queue: batches stay in the ring that all subscribers share. A cursor whose next batch has
 * left the ring overflows. A cursor that resumed from an old revision and still reads from the log cannot overflow that
 * way, because the log holds all batches after it.
 */
import { mapPaced, type Steps } from "../../lib/steps.ts";
import type { Kind } from "../../model/ids.ts";
import { bindChanges, bindChangesAt } from "../../query/bound-filters.ts";
import { diffStates } from "../../query/changes.ts";
import { type FilteredState, filterState, filterStateOrEmpty } from "../../query/filtered-state.ts";
import { selectEntities } from "../../query/missing.ts";
import type { ParsedQuery } from "../../query/query.ts";
import type { ResetReason } from "../../query/revision.ts";
import type { History } from "../../view/history.ts";
import { changeIn } from "../endpoints/json-list.ts";
import type { RequestContext } from "../endpoints/read-context.ts";
import { throwIfFault } from "../response/problem.ts";
import { type ComparedStates, comparedPosition } from "./compared-states.ts";
import { logPosition } from "./log-position.ts";
import {
  type Chunk,
  type ChunkOrOverflow,
  type ChunkPosition,
  type SharedChunks,
  STATE_BYTES,
} from "./shared-chunks.ts";
import {
  CHUNK_CHARS,
  changeRecord,
  encodeText,
  HEARTBEAT_COMMENT,
  heartbeatRecord,
  snapshotRecord,
  syncedRecord,
} from "./sse.ts";
import { type StreamTopic, streamTopicOf } from "./stream-topic.ts";

/** The neighbourhoods of a stream with `around`. A state consists of immutable pages, most of which it shares with the view. */
const neighbourhoods = ({
  key,
  kind,
  query,
  dialect,
  history: { log, view },
}: StreamTopic): ComparedStates<FilteredState> => ({
  key,
  log,
  revisionOf: ({ state }) => state.revision,
  idOf: ({ state }) => String(state.revision),
  bytesOf: () => STATE_BYTES,
  *following({ state }) {
    return state.revision < view.revision ? yield* filterStateOrEmpty(view.capture(), query) : undefined;
  },
  records: (previous, current) =>
    mapPaced(diffStates(previous, current, kind), (difference) => {
      const change = changeIn(dialect, difference);
      return change && changeRecord(change, current.state.revision, current.state.time);
    }),
});

/*
 * Positions in the snapshot that a stream begins with: the kind, and the last entity of that kind that was sent. The
 * snapshot shows the state that was captured when the stream was opened.
 */

interface StreamSnapshot {
  readonly topic: StreamTopic;
  readonly filtered: FilteredState;
  /** The record after the last entity. */
  readonly synced: string;
  /** The position of the stream after the snapshot. */
  readonly end: ChunkPosition;
}

/** The position after the entity `after` of the kind with index `kindIndex`. */
function snapshotPosition(snapshot: StreamSnapshot, kindIndex = 0, after = ""): ChunkPosition {
  const { revision } = snapshot.filtered.state;
  return {
    key: `${snapshot.topic.key} ${revision} snapshot ${kindIndex} ${after}`,
    revision,
    isPartial: true,
    bytes: STATE_BYTES,
    open: () => snapshotChunks(snapshot, kindIndex, after),
  };
}

function* snapshotChunks(
  snapshot: StreamSnapshot,
  firstKind: number,
  firstAfter: string,
): Generator<ChunkOrOverflow | undefined, void, void> {
  const { topic, filtered, synced, end } = snapshot;
  const { scope, dialect } = topic;
  const { state } = filtered;
  let text = "";
  let after = firstAfter;
  for (const [offset, kind] of scope.slice(firstKind).entries()) {
    for (const item of selectEntities(filtered, kind, after)) {
      if (item === undefined) {
        yield undefined;
        continue;
      }
      text += snapshotRecord(kind, state.revision, dialect.entity(kind, item.text));
      if (text.length < CHUNK_CHARS) continue;
      yield { bytes: encodeText(text), next: snapshotPosition(snapshot, firstKind + offset, item.id) };
      text = "";
    }
    after = "";
  }
  yield { bytes: encodeText(text + synced), next: end };
}

export type StreamContext = Pick<RequestContext, "view" | "history" | "dialect" | "memory">;

/**
 * The revision to resume from. Without one the stream begins with a snapshot; a `ResetReason` is why a client cannot resume
 * from its id. For such a client it is not an error if the centre of `around` was removed or a name became ambiguous.
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
      ? comparedPosition(neighbourhoods(topic), filtered)
      : logPosition(topic, now.revision, bindChanges(query, now));
    return new ChangeCursor(history, chunks, snapshotPosition({ topic, filtered, synced, end }));
  }
  if (!query.around) {
    const bound = yield* bindChangesAt(history, query, start);
    return new ChangeCursor(history, chunks, logPosition(topic, start, bound));
  }
  // A missing centre is not an error, because a subscriber that resumes may wait until it is added again.
  const filtered = yield* filterStateOrEmpty(yield* history.stateAt(start), query);
  return new ChangeCursor(history, chunks, comparedPosition(neighbourhoods(topic), filtered));
}

export class ChangeCursor {
  readonly #history: History;
  readonly #chunks: SharedChunks;
  #position: ChunkPosition;
  /** Whether the cursor resumed from a revision that the ring no longer has, and has not reached the ring yet. */
  #isBeforeRing: boolean;

  constructor(history: History, chunks: SharedChunks, position: ChunkPosition) {
    this.#history = history;
    this.#chunks = chunks;
    this.#position = position;
    this.#isBeforeRing = !history.ringHolds(position.revision);
  }

  /** The revision that the subscriber has after it has received everything sent so far. */
  get revision(): number {
    return this.#position.revision;
  }

  /** The record of a heartbeat. It contains the position, except within a snapshot, where there is nothing to resume from. */
  get heartbeat(): string {
    return this.isPartial ? HEARTBEAT_COMMENT : heartbeatRecord(this.#history.log, this.revision);
  }

  /** Whether the subscriber has a part of a snapshot, or of a revision. */
  get isPartial(): boolean {
    return this.#position.isPartial;
  }

  /** Whether there are changes that the cursor has not passed yet, matching or not. */
  get isBehind(): boolean {
    const position = this.#position;
    if (position.isPartial) return true;
    return position.isBehind ? position.isBehind() : position.revision < this.#history.view.revision;
  }

  /** Whether the batches after `revision` are no longer in the ring. */
  get hasOverflowed(): boolean {
    return !this.#isBeforeRing && !this.#history.ringHolds(this.revision);
  }

  /** Takes the next chunk if it is already rendered for another subscriber. */
  takeReady(): Uint8Array | undefined {
    const chunk = this.#chunks.ready(this.#position);
    return chunk && this.#take(chunk);
  }

  /** Takes the next chunk. Returns undefined if nothing new matches, and "overflow" if the next batch has left the ring. */
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
