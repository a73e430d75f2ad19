/**
 * Encodes the entries of a batch: one line of tab-separated fields each, compressed with zstd. JSON text contains neither
 * tabs nor newlines, and ids contain no white space, so nothing is escaped, and no JSON is parsed to store or read it.
 * The values before and after are nearly the same text, so both together compress to little more than one of them.
 *
 * The thread that has the entries encodes them, a part at a time; the writer compresses the bytes. Compressed data has
 * zstd's checksum, so that a damaged disk block causes an error and not a wrong value. In a cluster the compressed blocks of a
 * batch travel as its payload, and every node stores them as they are.
 */
import { constants, zstdCompressSync } from "node:zlib";
import { COST, type Paced, Pause } from "../lib/steps.ts";
import { yieldToLoop } from "../lib/yield-to-loop.ts";
import { type LogEntry, STORE_KINDS } from "./log.ts";

/** Limits of a part, which is encoded in one step. Its entries are decoded in several steps where they are large. */
const ENTRIES_PER_PART = 500;
const BYTES_PER_PART = 512 * 1024;
const COMPRESSION = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};

/** Bytes of the length before each block of a payload. */
const LENGTH_BYTES = 4;

const kindByLetter = new Map(STORE_KINDS.map((kind) => [kind.charAt(0), kind]));
const encoder = new TextEncoder();

/** Splits the entries into parts, which are encoded one by one. */
export function* partsOf(entries: readonly LogEntry[]): Generator<readonly LogEntry[], void, void> {
  let from = 0;
  let bytes = 0;
  for (const [i, { before, after }] of entries.entries()) {
    bytes += (before?.length ?? 0) + (after?.length ?? 0);
    if (i + 1 - from < ENTRIES_PER_PART && bytes < BYTES_PER_PART) continue;
    yield entries.slice(from, i + 1);
    from = i + 1;
    bytes = 0;
  }
  if (from < entries.length) yield entries.slice(from);
}

/** The parts of a batch. The event loop runs between them. */
export async function* pacedParts(entries: readonly LogEntry[]): AsyncGenerator<readonly LogEntry[]> {
  let isFirst = true;
  for (const part of partsOf(entries)) {
    if (!isFirst) await yieldToLoop();
    isFirst = false;
    yield part;
  }
}

/** Returns bytes with a buffer of their own, so that they can be transferred to another thread. */
export function encodeEntries(entries: Iterable<LogEntry>): Uint8Array<ArrayBuffer> {
  const lines: string[] = [];
  for (const { kind, id, before, after, changed } of entries) {
    lines.push(`${kind.charAt(0)}\t${id}\t${before ?? ""}\t${after ?? ""}\t${changed.join(",")}`);
  }
  return encoder.encode(lines.join("\n"));
}

/** Adds the entries of compressed `data` to `entries`. Pauses between steps. */
export function* decodeEntries(data: Uint8Array, entries: LogEntry[]): Paced<never> {
  const text = decompress(data).toString();
  const pause = new Pause();
  for (let at = 0; at < text.length; ) {
    const newLine = text.indexOf("\n", at);
    const end = newLine < 0 ? text.length : newLine;
    if (pause.due(COST.item, end - at)) yield undefined;
    entries.push(decodeEntry(text.slice(at, end)));
    at = end + 1;
  }
}

function decodeEntry(line: string): LogEntry {
  const [letter = "", id = "", before = "", after = "", changed = ""] = line.split("\t");
  const kind = kindByLetter.get(letter);
  if (kind === undefined)
    throw new Error(`a batch in the log has an unknown kind: ${JSON.stringify(letter)}`);
  return {
    kind,
    id,
    before: before === "" ? null : before,
    after: after === "" ? null : after,
    changed: changed === "" ? [] : changed.split(","),
  };
}

/** Joins compressed blocks to a payload. */
export function joinBlocks(blocks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const payload = new Uint8Array(blocks.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0));
  const lengths = new DataView(payload.buffer);
  let at = 0;
  for (const block of blocks) {
    lengths.setUint32(at, block.length);
    payload.set(block, at + LENGTH_BYTES);
    at += LENGTH_BYTES + block.length;
  }
  return payload;
}

/** The blocks of a payload. Throws where the last one is incomplete. */
export function blocksOf(payload: Uint8Array): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  const lengths = new DataView(payload.buffer, payload.byteOffset, payload.length);
  for (let at = 0; at < payload.length; ) {
    const start = at + LENGTH_BYTES;
    const end = start + lengths.getUint32(at);
    if (end > payload.length) throw new Error("a block of a batch is incomplete");
    blocks.push(payload.subarray(start, end));
    at = end;
  }
  return blocks;
}

export const compress = (bytes: Uint8Array): Uint8Array => zstdCompressSync(bytes, COMPRESSION);

export const decompress = (data: Uint8Array): Buffer => Bun.zstdDecompressSync(data);
