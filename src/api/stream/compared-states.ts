/**
 * Streams whose states are compared as a whole: neighbourhoods, which change with the graph, and lists of problems, where one
 * change may change what many problems cut off. Each state is compared with the one that the client has. Those that come
 * meanwhile are compared together afterwards. Streams at the same position share the states, the comparison and its records.
 */
import { onlyPausing, type Paced, type Steps } from "../../lib/steps.ts";
import { HistoryPruned } from "../../view/read-all.ts";
import type { ChunkOrOverflow, ChunkPosition } from "./shared-chunks.ts";
import { CHUNK_CHARS, encodeText, idLine, type LogId } from "./sse.ts";

export interface ComparedStates<State> {
  /** The key of the topic of the stream. */
  readonly key: string;
  readonly log: LogId;
  revisionOf(state: State): number;
  /** A text that differs for different states of this topic. */
  idOf(state: State): string;
  /** Number of bytes counted for the memory that a state holds. */
  bytesOf(state: State): number;
  /** Whether there may be another state. Set if that does not depend on the revision alone. */
  isBehind?(state: State): boolean;
  /** The current state; undefined if the client has it. */
  following(state: State): Steps<State | undefined>;
  /** The records of the changes between two states, without an id. */
  records(previous: State, current: State): Paced<string>;
}

type Chunks = Generator<ChunkOrOverflow | undefined, void, void>;

/** The position of a client that has the state `previous`. */
export const comparedPosition = <State>(stream: ComparedStates<State>, previous: State): ChunkPosition => ({
  key: `${stream.key} ${stream.idOf(previous)}`,
  revision: stream.revisionOf(previous),
  isPartial: false,
  bytes: stream.bytesOf(previous),
  ...(stream.isBehind && { isBehind: () => stream.isBehind?.(previous) ?? false }),
  open: () => changeChunks(stream, previous),
});

/** Compares each state with the next one while there is another. */
function* changeChunks<State>(stream: ComparedStates<State>, first: State): Chunks {
  try {
    for (let previous = first; ; ) {
      const current = yield* onlyPausing(stream.following(previous));
      if (!current) return;
      yield* diffChunks(stream, previous, current, 0);
      previous = current;
    }
  } catch (error) {
    if (!(error instanceof HistoryPruned)) throw error;
    yield "overflow";
  }
}

function diffChunks<State>(
  stream: ComparedStates<State>,
  previous: State,
  current: State,
  alreadySent: number,
): Chunks {
  const partial = (sent: number): ChunkPosition => ({
    key: `${stream.key} ${stream.idOf(previous)} to ${stream.idOf(current)} ${sent}`,
    revision: stream.revisionOf(previous),
    isPartial: true,
    bytes: stream.bytesOf(previous) + stream.bytesOf(current),
    open: () => diffChunks(stream, previous, current, sent),
  });
  // Only the last record has the id, so that a client that resumes has all changes or none.
  const finish = (last: string | undefined) =>
    last === undefined ? "" : idLine(stream.log, stream.revisionOf(current)) + last;
  const end = comparedPosition(stream, current);
  return recordChunks(stream.records(previous, current), alreadySent, partial, finish, end);
}

/**
 * Chunks of records, without the first ones, which are sent already. `partial` is the position after a number of records, and
 * `finish` returns the end of the text, given the last record.
 */
export function* recordChunks(
  records: Paced<string>,
  alreadySent: number,
  partial: (sent: number) => ChunkPosition,
  finish: (last: string | undefined) => string,
  end: ChunkPosition,
): Chunks {
  let text = "";
  let waiting: string | undefined;
  let found = 0;
  for (const record of records) {
    if (record === undefined) {
      yield undefined;
      continue;
    }
    if (found++ < alreadySent) continue;
    text += waiting ?? "";
    waiting = record;
    if (text.length < CHUNK_CHARS) continue;
    yield { bytes: encodeText(text), next: partial(found - 1) };
    text = "";
  }
  yield { bytes: encodeText(text + finish(waiting)), next: end };
}
