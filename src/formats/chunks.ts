/**
 * Renderers yield small pieces; sockets and compressors want larger ones. `inChunks` joins pieces up to about
 * `size` characters, so that a list of any length costs one chunk of memory and no call per cell.
 */
const CHUNK_CHARS = 65_536;

export function* inChunks(pieces: Iterable<string>, size = CHUNK_CHARS): Generator<string, void, undefined> {
  let chunk = "";
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < size) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** `open`, the items with commas between them, `close`: a JSON array or object that is never whole in memory. */
export function* jsonItems(open: string, items: Iterable<string>, close: string): Generator<string> {
  yield open;
  let separator = "\n";
  for (const item of items) {
    yield separator + item;
    separator = ",\n";
  }
  yield close;
}
