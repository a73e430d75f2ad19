/**
 * A page: about a hundred consecutive values of one collection, or fewer where they are large, as the bytes that a response
 * sends. A page is immutable. A change creates a new page and copies the runs of bytes that did not change. So snapshots,
 * historical states and caches of compressed bytes can share pages and keep them as long as they need.
 */
import { lowerBound } from "../lib/sorted.ts";
import type { PageRecord } from "../log/log.ts";

/** Number of values on a page. */
export const TARGET_PAGE_SIZE = 128;
export const MAX_PAGE_SIZE = 256;
/** Size of a page, which is searched, copied or compressed in one step. Only a page of a single value may be larger. */
export const MAX_PAGE_BYTES = 256 * 1024;
export const TARGET_PAGE_BYTES = MAX_PAGE_BYTES / 2;

const COMMA = 0x2c;
const NEW_LINE = 0x0a;

export class EncodedPage implements PageRecord {
  static readonly empty = new EncodedPage([], allocateWithComma(0), new Uint32Array());

  readonly ids: readonly string[];
  /** The values' JSON, joined by commas: the inside of a JSON array. The byte after it in memory is a comma. */
  readonly bytes: Buffer;
  /** The end of each value in `bytes`. */
  readonly ends: Uint32Array;
  storedId: number | undefined;
  /** One byte per id; computed at the first lookup. */
  #hashes: Uint8Array | undefined;
  #bytesWithComma: Buffer | undefined;

  constructor(ids: readonly string[], bytes: Buffer, ends: Uint32Array, storedId?: number) {
    this.ids = ids;
    this.bytes = bytes;
    this.ends = ends;
    this.storedId = storedId;
  }

  get length(): number {
    return this.ids.length;
  }

  /** The bytes with the comma that separates them from the next page, as one buffer, so that one write sends both. */
  get bytesWithComma(): Buffer {
    this.#bytesWithComma ??= Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length + 1);
    return this.#bytesWithComma;
  }

  get firstId(): string {
    return this.ids[0] ?? "";
  }

  start(i: number): number {
    return i === 0 ? 0 : (this.ends[i - 1] ?? 0) + 1;
  }

  value(i: number): string {
    return this.bytes.toString("utf8", this.start(i), this.ends[i]);
  }

  /** The index of `id`, or the index at which it would be inserted. */
  insertionIndex(id: string): number {
    return lowerBound(this.ids.length, (i) => (this.ids[i] ?? "") < id);
  }

  get(id: string): string | undefined {
    const i = this.indexOf(id);
    return i < 0 ? undefined : this.value(i);
  }

  has(id: string): boolean {
    return this.indexOf(id) >= 0;
  }

  /**
   * The index of `id`, or -1. Compares one-byte hashes, which are adjacent in memory: a binary search would load seven
   * strings from different places, and these cache misses would cost more than the rest of a lookup.
   */
  indexOf(id: string): number {
    const { ids } = this;
    this.#hashes ??= Uint8Array.from(ids, hashOf);
    const hashes = this.#hashes;
    const wanted = hashOf(id);
    for (let i = 0; i < hashes.length; i++) if (hashes[i] === wanted && ids[i] === id) return i;
    return -1;
  }

  toMap(): Map<string, string> {
    return new Map(this.ids.map((id, i) => [id, this.value(i)]));
  }

  /** The index of the value that contains the byte at `offset`. */
  indexAtByte(offset: number): number {
    return lowerBound(this.ends.length, (i) => (this.ends[i] ?? 0) <= offset);
  }

  /** Encodes the page for the log: the ids, an empty line, the values; one per line. JSON and ids contain no newlines. */
  encode(): Uint8Array {
    const ids = Buffer.from(`${this.ids.join("\n")}\n\n`);
    const all = Buffer.concat([ids, this.bytes]);
    for (let i = 0; i < this.ends.length - 1; i++) all[ids.length + (this.ends[i] ?? 0)] = NEW_LINE;
    return all;
  }

  /**
   * The inverse of `encode`. Bytes and ids are copied: a decompressed buffer is larger than its content, and an id that is
   * a substring would keep the whole text in memory.
   */
  static decode(encoded: Uint8Array, storedId?: number): EncodedPage {
    const all = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
    const ids: string[] = [];
    let at = 0;
    for (let end = all.indexOf(NEW_LINE); end > at; end = all.indexOf(NEW_LINE, at)) {
      ids.push(all.toString("utf8", at, end));
      at = end + 1;
    }
    const bytes = copyOf(all.subarray(ids.length === 0 ? all.length : at + 1));
    const ends = new Uint32Array(ids.length);
    let from = 0;
    for (let i = 0; i < ids.length - 1; i++) {
      const end = bytes.indexOf(NEW_LINE, from);
      if (end < 0) throw new Error("a page of the log has fewer values than ids");
      bytes[end] = COMMA;
      ends[i] = end;
      from = end + 1;
    }
    if (ids.length > 0) ends[ids.length - 1] = bytes.length;
    return new EncodedPage(ids, bytes, ends, storedId);
  }

  /** A page with the same ids and other values. None of the values may be empty. */
  mapValues(map: (value: string) => string): EncodedPage {
    const values = this.ids.map((_, i) => map(this.value(i)));
    const ends = new Uint32Array(values.length);
    let at = 0;
    for (const [i, value] of values.entries()) {
      at += Buffer.byteLength(value);
      ends[i] = at++;
    }
    return new EncodedPage(this.ids, joinWithCommas(values, at - 1), ends);
  }

  /** This page with `changes` applied (null removes a value), as zero, one or several pages. */
  withChanges(changes: ReadonlyMap<string, string | null>): EncodedPage[] {
    const sorted = [...changes].sort(([a], [b]) => (a < b ? -1 : 1));
    return this.withSortedChanges(sorted, 0, this.length);
  }

  /** Applies changes in order of id, and only to the values from index `from` to `until`. */
  withSortedChanges(
    sorted: readonly (readonly [id: string, value: string | null])[],
    from: number,
    until: number,
  ): EncodedPage[] {
    const ids: string[] = [];
    const pieces: (Buffer | string)[] = [];
    const lengths: number[] = [];
    let at = from;
    const copyUntil = (end: number) => {
      if (end <= at) return;
      pieces.push(this.bytes.subarray(this.start(at), this.ends[end - 1]));
      for (; at < end; at++) {
        ids.push(this.ids[at] ?? "");
        lengths.push((this.ends[at] ?? 0) - this.start(at));
      }
    };
    for (const [id, value] of sorted) {
      copyUntil(this.insertionIndex(id));
      if (this.ids[at] === id) at++;
      if (value === null) continue;
      ids.push(id);
      pieces.push(value);
      lengths.push(Buffer.byteLength(value));
    }
    copyUntil(until);
    const total = lengths.reduce((sum, length) => sum + length + 1, 0);
    return splitIntoPages(ids, joinWithCommas(pieces, total - 1), lengths);
  }
}

/** All values on the pages in order of id, as additions to an empty collection. */
export function* additionsOn(
  pages: readonly EncodedPage[],
): Generator<{ readonly id: string; readonly before: null; readonly after: string }, void, void> {
  for (const page of pages)
    for (let i = 0; i < page.length; i++) yield { id: page.ids[i] ?? "", before: null, after: page.value(i) };
}

function joinWithCommas(pieces: readonly (Buffer | string)[], total: number): Buffer {
  const bytes = allocateWithComma(Math.max(0, total));
  let at = 0;
  for (const piece of pieces) {
    if (at > 0) bytes[at++] = COMMA;
    at += typeof piece === "string" ? bytes.write(piece, at) : piece.copy(bytes, at);
  }
  return bytes;
}

/**
 * Splits the values into one page, or several of equal size near the target, because fixed-size pages would leave a very
 * small last one. Where a page of equal size would have too many bytes, it ends earlier.
 */
function splitIntoPages(ids: string[], bytes: Buffer, lengths: readonly number[]): EncodedPage[] {
  if (ids.length === 0) return [];
  const isOne = ids.length <= MAX_PAGE_SIZE && (bytes.length <= MAX_PAGE_BYTES || ids.length === 1);
  const maxBytes = isOne ? Number.POSITIVE_INFINITY : TARGET_PAGE_BYTES;
  const parts = ids.length <= MAX_PAGE_SIZE ? 1 : Math.round(ids.length / TARGET_PAGE_SIZE);
  const step = Math.ceil(ids.length / parts);
  const pages: EncodedPage[] = [];
  let offset = 0;
  for (let from = 0; from < ids.length; ) {
    const ends: number[] = [];
    let at = 0;
    for (const most = Math.min(step, ids.length - from); ends.length < most; at++) {
      const end = at + (lengths[from + ends.length] ?? 0);
      if (ends.length > 0 && end > maxBytes) break;
      ends.push(end);
      at = end;
    }
    const size = at - 1;
    const part = isOne ? bytes : copyOf(bytes.subarray(offset, offset + size));
    const partIds = isOne ? ids : ids.slice(from, from + ends.length);
    pages.push(new EncodedPage(partIds, part, new Uint32Array(ends)));
    offset += size + 1;
    from += ends.length;
  }
  return pages;
}

/** A one-byte hash of all characters. */
function hashOf(id: string): number {
  let sum = 0;
  for (let i = 0; i < id.length; i++) sum = (sum * 31 + id.charCodeAt(i)) | 0;
  return (sum ^ (sum >>> 8)) & 0xff;
}

/** A copy with its own memory, because a small slice would keep the large buffer alive. */
function copyOf(bytes: Buffer): Buffer {
  const copy = allocateWithComma(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** A buffer of `length` bytes, followed in memory by a comma. */
function allocateWithComma(length: number): Buffer {
  const memory = Buffer.allocUnsafeSlow(length + 1);
  memory[length] = COMMA;
  return memory.subarray(0, length);
}
