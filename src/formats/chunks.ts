/**
 * Renderers yield small pieces of text, and undefined where they may pause. Sockets and compressors are faster with larger
 * pieces, so `joinIntoChunks` joins the pieces into chunks of about `size` characters. A list of any length needs the
 * memory of one chunk.
 */
import type { Paced } from "../lib/steps.ts";

const CHUNK_CHARS = 65_536;

/** The pieces of a document; undefined where the renderer may pause. */
export type PacedText = Generator<string | undefined, void, void>;

export function* joinIntoChunks(pieces: Paced<string>, size = CHUNK_CHARS): PacedText {
  let chunk = "";
  for (const piece of pieces) {
    if (piece === undefined) {
      yield undefined;
      continue;
    }
    chunk += piece;
    if (chunk.length < size) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** Yields `open`, the items separated by commas, and `close`: a JSON array or object that is never whole in memory. */
export function* renderJsonItems(open: string, items: Paced<string>, close: string): PacedText {
  yield open;
  let separator = "\n";
  for (const item of items) {
    if (item === undefined) {
      yield undefined;
      continue;
    }
    yield separator + item;
    separator = ",\n";
  }
  yield close;
}
