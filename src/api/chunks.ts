/** Bodies in chunks: reads a bounded number of bytes of one, and puts the parts together again. */
import type { Paced, Steps } from "../lib/steps.ts";

export interface BufferedChunks {
  readonly buffered: readonly Uint8Array[];
  /** The chunks that were not read; undefined when there are no more. */
  readonly rest: Iterator<Uint8Array | undefined> | undefined;
}

/** Reads until more than `maxBytes` are buffered. */
export function* bufferChunks(chunks: Paced<Uint8Array>, maxBytes: number): Steps<BufferedChunks> {
  const buffered: Uint8Array[] = [];
  const iterator = chunks[Symbol.iterator]();
  let bytes = 0;
  for (let next = iterator.next(); !next.done; next = iterator.next()) {
    const chunk = next.value;
    if (chunk === undefined) {
      yield;
      continue;
    }
    buffered.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) return { buffered, rest: iterator };
  }
  return { buffered, rest: undefined };
}

export function* concatChunks(
  buffered: readonly Uint8Array[],
  rest: Iterator<Uint8Array | undefined>,
): Generator<Uint8Array | undefined, void, void> {
  yield* buffered;
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value;
}

export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return only && chunks.length === 1 ? only : Buffer.concat(chunks);
}
