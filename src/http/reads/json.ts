/** JSON lists as chunks of bytes: never whole in memory, never a write per item. */
import { inChunks } from "../../formats/chunks.ts";

export function jsonList(open: string, items: Iterable<string>, close: string): Iterable<string> {
  return inChunks(pieces(open, items, close));
}

function* pieces(open: string, items: Iterable<string>, close: string): Generator<string> {
  yield open;
  let comma = "";
  for (const item of items) {
    yield comma + item;
    comma = ",";
  }
  yield close;
}

export function* bytesOf(chunks: Iterable<string>): Generator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
