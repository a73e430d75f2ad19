/** Encodes JSON and other text as chunks of bytes, so that a body is never whole in memory and no item is a write. */
const CHUNK_CHARS = 65_536;
const encoder = new TextEncoder();

export function* jsonList(open: string, items: Iterable<string>, close: string): Generator<Uint8Array> {
  let chunk = open;
  let comma = "";
  for (const item of items) {
    chunk += comma + item;
    comma = ",";
    if (chunk.length < CHUNK_CHARS) continue;
    yield encoder.encode(chunk);
    chunk = "";
  }
  yield encoder.encode(chunk + close);
}

export function* encodeChunks(chunks: Iterable<string>): Generator<Uint8Array> {
  for (const chunk of chunks) yield encoder.encode(chunk);
}
