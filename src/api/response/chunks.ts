/** Bodies in chunks: functions that read a bounded number of bytes of a body, and that join chunks. */
import type { Arriving, Steps } from "../../lib/steps.ts";

type ChunkIterator = Iterator<Uint8Array | undefined | Promise<unknown>>;

export interface BufferedChunks {
  readonly buffered: readonly Uint8Array[];
  /** The chunks that were not read; undefined if there are no more. */
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

/** Concatenates chunks. It is not a generator, because closing a generator that has not started would not close `rest`. */
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

/** Stops the production of chunks that are not read any further. */
export function closeChunks(chunks: string | Arriving<Uint8Array>): void {
  if (typeof chunks !== "string") chunks[Symbol.iterator]().return?.();
}

export const sizeOf = (chunks: readonly Uint8Array[]): number =>
  chunks.reduce((sum, { length }) => sum + length, 0);

/** Size from which a part is written separately, because copying it would cost more than another write. */
const SMALL_BYTES = 16 * 1024;
const MAX_JOINED_BYTES = 64 * 1024;

/**
 * Joins small parts, because copying them costs less than many writes. Other parts stay as they are. The joined parts are
 * added to `copies`.
 */
export function joinSmallParts(parts: readonly Uint8Array[], copies: WeakSet<Uint8Array>): Uint8Array[] {
  const joined: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  let bytes = 0;
  const joinCollected = () => {
    const chunk = joinBytes(small);
    if (small.length > 1) copies.add(chunk);
    if (small.length > 0) joined.push(chunk);
    small = [];
    bytes = 0;
  };
  for (const part of parts) {
    if (part.length >= SMALL_BYTES || bytes + part.length > MAX_JOINED_BYTES) joinCollected();
    if (part.length >= SMALL_BYTES) joined.push(part);
    else {
      small.push(part);
      bytes += part.length;
    }
  }
  joinCollected();
  return joined;
}

export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return only && chunks.length === 1 ? only : Buffer.concat(chunks);
}
