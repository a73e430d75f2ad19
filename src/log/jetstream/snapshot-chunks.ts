/**
 * Removes the chunks of snapshots that nobody completed: a node that is killed while it writes leaves them behind.
 *
 * Called after a snapshot was stored at the sequence `end` of the bucket. Whoever began to write before that wanted to replace
 * the same place, and is refused: its chunks are of no use, also when it still writes. Chunks from `end` on are left alone.
 */
import type { JetStreamManager } from "@nats-io/jetstream";

export async function removeUnusedChunks(
  manager: JetStreamManager,
  bucket: string,
  end: number,
  used: ReadonlySet<string>,
): Promise<void> {
  const stream = `OBJ_${bucket}`;
  const prefix = `$O.${bucket}.C.`;
  const { state } = await manager.streams.info(stream, { subjects_filter: `${prefix}>` });
  for (const subject of Object.keys(state.subjects ?? {}))
    if (!used.has(subject.slice(prefix.length)))
      await manager.streams.purge(stream, { filter: subject, seq: end });
}
