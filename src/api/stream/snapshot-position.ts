/**
 * Positions in the snapshot that a stream begins with: the kind, and the last entity of it that was sent. The snapshot is
 * of the state that was captured when the stream was opened.
 */
import type { FilteredState } from "../../query/filtered-state.ts";
import { selectEntities } from "../../query/missing.ts";
import { type ChunkOrOverflow, type ChunkPosition, STATE_BYTES } from "./shared-chunks.ts";
import { CHUNK_CHARS, encodeText, snapshotRecord } from "./sse.ts";
import type { StreamTopic } from "./stream-topic.ts";

export interface StreamSnapshot {
  readonly topic: StreamTopic;
  readonly filtered: FilteredState;
  /** The record after the last entity. */
  readonly synced: string;
  /** Where the stream is after it. */
  readonly end: ChunkPosition;
}

/** Entities up to `after`, of the kind with index `kindIndex`, are sent. */
export function snapshotPosition(snapshot: StreamSnapshot, kindIndex = 0, after = ""): ChunkPosition {
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
