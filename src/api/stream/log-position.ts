/**
 * Positions in the history of changes: a revision, and an entry of the batch after it if that batch is sent in several
 * chunks. Recent batches are read from the ring, older ones from the log, one at a time.
 */
import type { Batch } from "../../log/log.ts";
import { KINDS } from "../../model/ids.ts";
import type { ChangeFilters } from "../../query/bound-filters.ts";
import { changesInBatch, type ResourceChange } from "../../query/changes.ts";
import type { History } from "../../view/history.ts";
import { HistoryPruned } from "../../view/read-all.ts";
import { HistoryNotInReplica } from "../../view/replica.ts";
import { changeIn } from "../endpoints/json-list.ts";
import { type ChunkOrOverflow, type ChunkPosition, STATE_BYTES } from "./shared-chunks.ts";
import { CHUNK_CHARS, changeRecord, encodeText, lastChangeRecord, revisionRecord } from "./sse.ts";
import type { StreamTopic } from "./stream-topic.ts";

/** Number of batches after which a chunk ends, even if none of them matched, so that the position of the stream advances. */
const MAX_BATCHES_PER_CHUNK = 256;

/**
 * The position after `revision`, and after the changes before `entry` of the next batch. `bound` are the filters as they are
 * at `revision`, which determines them.
 */
export const logPosition = (
  topic: StreamTopic,
  revision: number,
  bound: ChangeFilters,
  entry = 0,
): ChunkPosition => ({
  key: `${topic.key} ${revision}.${entry}`,
  revision,
  isPartial: entry > 0,
  // Within a batch that changes what a name means, the rendering compares two states.
  bytes: entry > 0 && bound.named.size > 0 ? 2 * STATE_BYTES : 0,
  open: () => logChunksOrOverflow(topic, revision, bound, entry),
});

type Chunks = Generator<ChunkOrOverflow | undefined, void, void>;

/** Yields "overflow" if a batch, or a state that a comparison needs, was pruned meanwhile. */
function* logChunksOrOverflow(
  topic: StreamTopic,
  from: number,
  bound: ChangeFilters,
  firstEntry: number,
): Chunks {
  try {
    yield* logChunks(topic, from, bound, firstEntry);
  } catch (error) {
    if (!(error instanceof HistoryPruned || error instanceof HistoryNotInReplica)) throw error;
    yield "overflow";
  }
}

function* logChunks(topic: StreamTopic, from: number, initial: ChangeFilters, firstEntry: number): Chunks {
  const batches = new BatchReader(topic.history, from);
  let bound = initial;
  let text = "";
  let batchesRead = 0;
  let first = firstEntry;
  const takeChunk = (next: ChunkPosition): ChunkOrOverflow => {
    const chunk = { bytes: encodeText(text), next };
    text = "";
    batchesRead = 0;
    return chunk;
  };
  for (;;) {
    const batch = yield* batches.next();
    if (batch === "overflow") {
      yield batch;
      return;
    }
    if (batch) {
      const records = new BatchRecords(topic, batch, bound, first);
      first = 0;
      for (const record of records.render()) {
        if (record === undefined) yield undefined;
        else text += record;
        if (text.length >= CHUNK_CHARS && records.nextEntry !== undefined)
          yield takeChunk(logPosition(topic, batch.revision - 1, bound, records.nextEntry));
      }
      bound = records.bound;
      batchesRead++;
    } else if (batchesRead === 0) return;
    if (!batch || text.length >= CHUNK_CHARS || batchesRead === MAX_BATCHES_PER_CHUNK)
      yield takeChunk(logPosition(topic, batches.revision, bound));
  }
}

/** The records of one batch. */
class BatchRecords {
  /** The index of the entry whose record comes next; undefined after the last one. */
  nextEntry: number | undefined;
  /** The filters of this batch, and after its rendering those of the next one. */
  bound: ChangeFilters;
  readonly #topic: StreamTopic;
  readonly #batch: Batch;
  readonly #first: number;

  constructor(topic: StreamTopic, batch: Batch, bound: ChangeFilters, first: number) {
    this.bound = bound;
    this.#topic = topic;
    this.#batch = batch;
    this.#first = first;
  }

  /** Renders the records with pauses. A record is held back until the next one is known, because the last one has the id. */
  *render(): Generator<string | undefined, void, void> {
    const { scope, kind, query, dialect, history } = this.#topic;
    const { revision, time } = this.#batch;
    const changes = changesInBatch(history, kind, query, this.#batch, this.bound, this.#first);
    let waiting: ResourceChange | undefined;
    let matches = this.#first > 0;
    let next = changes.next();
    for (; !next.done; next = changes.next()) {
      if (next.value === undefined) {
        yield undefined;
        continue;
      }
      matches = true;
      const change = changeIn(dialect, next.value.change);
      if (!change) continue;
      this.nextEntry = next.value.position;
      if (waiting) yield changeRecord(waiting, revision, time);
      waiting = change;
    }
    this.bound = next.value;
    this.nextEntry = undefined;
    // A replica subscribes to everything and must reach every revision, even one that changed no public entity.
    const isEverything = scope.length === KINDS.length && query.filters.length === 0;
    if (waiting) yield lastChangeRecord(history.log, waiting, revision, time);
    else if (!matches && isEverything) yield revisionRecord(history.log, revision);
  }
}

/** Reads batches one after the other. */
class BatchReader {
  /** The revision of the last batch that was read. */
  revision: number;
  readonly #history: History;
  /** The batches that are read from the log; undefined while the ring has the next batch. */
  #logged: Iterator<Batch | undefined> | undefined;

  constructor(history: History, revision: number) {
    this.#history = history;
    this.revision = revision;
  }

  /** The next batch; undefined at the end of the history; "overflow" if the next batch was pruned. */
  *next(): Generator<undefined, Batch | "overflow" | undefined, void> {
    const batch = this.#history.ringHolds(this.revision)
      ? this.#nextInRing()
      : ((yield* this.#nextInLog()) ?? (yield* this.#nextInNewerLog()));
    if (typeof batch !== "object") return batch;
    if (batch.revision !== this.revision + 1) return "overflow";
    this.revision = batch.revision;
    return batch;
  }

  #nextInRing(): Batch | undefined {
    this.#logged = undefined;
    return this.#history.recentBatch(this.revision + 1);
  }

  /** The next batch in the log; undefined at the end that the log had when the reading began. */
  *#nextInLog(): Generator<undefined, Batch | undefined, void> {
    const logged = this.#logged;
    for (let next = logged?.next(); next && !next.done; next = logged?.next()) {
      if (next.value !== undefined) return next.value;
      yield;
    }
    return undefined;
  }

  /** The next batch if the ring has moved on while the log was read. */
  *#nextInNewerLog(): Generator<undefined, Batch | "overflow" | undefined, void> {
    if (this.#history.ringHolds(this.revision)) return this.#nextInRing();
    this.#logged = this.#history.batches(this.revision)[Symbol.iterator]();
    return (yield* this.#nextInLog()) ?? "overflow";
  }
}
