/**
 * Renderers yield small pieces of text; sockets and compressors are faster with larger ones. `joinIntoChunks` joins
 * pieces to chunks of about `size` characters, so that a list of any length needs the memory of one chunk.
 */
const CHUNK_CHARS = 65_536;

export function* joinIntoChunks(
  pieces: Iterable<string>,
  size = CHUNK_CHARS,
): Generator<string, void, undefined> {
  let chunk = "";
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < size) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** `open`, the items separated by commas, `close`: a JSON array or object that is never complete in memory. */
export function* renderJsonItems(open: string, items: Iterable<string>, close: string): Generator<string> {
  yield open;
  let separator = "\n";
  for (const item of items) {
    yield separator + item;
    separator = ",\n";
  }
  yield close;
}
