/**
 * Encodes JSON and other text as chunks of bytes, so that a body is never completely in memory and items need no separate
 * writes. Pauses are passed on.
 */
import { mapPaced, type Paced } from "../../lib/steps.ts";

const CHUNK_CHARS = 65_536;
const encoder = new TextEncoder();

export function* jsonList(
  open: string,
  items: Paced<string>,
  close: string,
): Generator<Uint8Array | undefined, void, void> {
  let chunk = open;
  let comma = "";
  for (const item of items) {
    if (item === undefined) {
      yield undefined;
      continue;
    }
    chunk += comma + item;
    comma = ",";
    if (chunk.length < CHUNK_CHARS) continue;
    yield encoder.encode(chunk);
    chunk = "";
  }
  yield encoder.encode(chunk + close);
}

export const encodeChunks = (chunks: Paced<string>): Paced<Uint8Array> =>
  mapPaced(chunks, (chunk) => encoder.encode(chunk));
