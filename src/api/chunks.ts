/** Bodies in chunks: reads a bounded number of bytes of one, and puts the parts together again. */
import type { Arriving, Steps } from "../lib/steps.ts";

type ChunkIterator = Iterator<Uint8Array | undefined | Promise<unknown>>;

export interface BufferedChunks {
  readonly buffered: readonly Uint8Array[];
  /** The chunks that were not read; undefined when there are no more. */
  readonly rest: ChunkIterator | undefined;
}

/** Reads until more than `maxBytes` are buffered. */
export function* bufferChunks(chunks: Arriving<Uint8Array>, maxBytes: number): Steps<BufferedChunks> {
  const buffered: Uint8Array[] = [];
  const iterator = chunks[Symbol.iterator]();
  let isRead = false;
  let bytes = 0;
  try {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      const chunk = next.value;
      if (!(chunk instanceof Uint8Array)) {
        yield chunk;
        continue;
      }
      buffered.push(chunk);
      bytes += chunk.length;
      if (bytes <= maxBytes) continue;
      isRead = true;
      return { buffered, rest: iterator };
    }
    isRead = true;
    return { buffered, rest: undefined };
  } finally {
    if (!isRead) iterator.return?.();
  }
}

/** Not a generator: one that has not started does not end what it would have read. */
export function concatChunks(buffered: readonly Uint8Array[], rest: ChunkIterator): Arriving<Uint8Array> {
  const first = buffered.values();
  const iterator: ChunkIterator = {
    next() {
      const next = first.next();
      return next.done ? rest.next() : next;
    },
    return() {
      rest.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.iterator]: () => iterator };
}

/** Ends the production of chunks that nobody reads any further. */
export function closeChunks(chunks: string | Arriving<Uint8Array>): void {
  if (typeof chunks !== "string") chunks[Symbol.iterator]().return?.();
}

export const sizeOf = (chunks: readonly Uint8Array[]): number =>
  chunks.reduce((sum, { length }) => sum + length, 0);

export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return only && chunks.length === 1 ? only : Buffer.concat(chunks);
}
