/**
 * Positions on a stream with `around`. A neighbourhood changes with the graph, so its states are compared as a whole: the
 * one that the client has with the current one. Revisions that are committed meanwhile are compared together afterwards.
 *
 * Streams with the same topic at the same revision share the neighbourhood, the comparison and its records. A state is
 * immutable pages, most of which it shares with the view.
 */
import { onlyPausing } from "../../lib/steps.ts";
import { type Change, diffStates } from "../../query/changes.ts";
import { type FilteredState, filterStateOrEmpty } from "../../query/filtered-state.ts";
import { changeIn } from "../endpoints/change-json.ts";
import { type ChunkOrOverflow, type ChunkPosition, STATE_BYTES } from "./shared-chunks.ts";
import { CHUNK_CHARS, changeRecord, encodeText, lastChangeRecord } from "./sse.ts";
import type { StreamTopic } from "./stream-topic.ts";

type Chunks = Generator<ChunkOrOverflow | undefined, void, void>;

/** The client has `previous`. */
export const neighbourhoodPosition = (topic: StreamTopic, previous: FilteredState): ChunkPosition => ({
  key: `${topic.key} ${previous.state.revision}`,
  revision: previous.state.revision,
  isPartial: false,
  bytes: STATE_BYTES,
  open: () => neighbourhoodChunks(topic, previous),
});

/** The first `sent` changes from `previous` to `current` are sent. */
const partialPosition = (
  topic: StreamTopic,
  previous: FilteredState,
  current: FilteredState,
  sent: number,
): ChunkPosition => ({
  key: `${topic.key} ${previous.state.revision} to ${current.state.revision} ${sent}`,
  revision: previous.state.revision,
  isPartial: true,
  bytes: 2 * STATE_BYTES,
  open: () => diffChunks(topic, previous, current, sent),
});

/** One comparison after the other, while there are new revisions. */
function* neighbourhoodChunks(topic: StreamTopic, first: FilteredState): Chunks {
  const { view } = topic.history;
  for (let previous = first; previous.state.revision < view.revision; ) {
    const current = yield* onlyPausing(filterStateOrEmpty(view.capture(), topic.query));
    yield* diffChunks(topic, previous, current, 0);
    previous = current;
  }
}

function* diffChunks(
  topic: StreamTopic,
  previous: FilteredState,
  current: FilteredState,
  alreadySent: number,
): Chunks {
  const { kind, dialect, history } = topic;
  const { revision, time } = current.state;
  let text = "";
  let waiting: Change | undefined;
  let found = 0;
  for (const difference of diffStates(previous, current, kind)) {
    const change = difference && changeIn(dialect, difference);
    if (!change) {
      yield undefined;
      continue;
    }
    if (found++ < alreadySent) continue;
    if (waiting) text += changeRecord(waiting, revision, time);
    waiting = change;
    if (text.length < CHUNK_CHARS) continue;
    yield { bytes: encodeText(text), next: partialPosition(topic, previous, current, found - 1) };
    text = "";
  }
  if (waiting) text += lastChangeRecord(history.log, waiting, revision, time);
  yield { bytes: encodeText(text), next: neighbourhoodPosition(topic, current) };
}
