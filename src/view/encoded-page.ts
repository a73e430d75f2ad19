/**
 * A page: about a hundred consecutive values of one collection, or fewer where they are large, as the bytes that a response
 * sends. A page is immutable. A change creates a new page and copies the runs of bytes that did not change. So snapshots,
 * historical states and caches of compressed bytes can share pages and keep them as long as they need.
 */
import { lowerBound } from "../lib/sorted.ts";
import type { IdNumbers } from "../lib/sorted-index.ts";
import type { PageRecord } from "../log/log.ts";

/** Number of values on a page. */
export const TARGET_PAGE_SIZE = 128;
export const MAX_PAGE_SIZE = 256;
/** Size of a page, which is searched, copied or compressed in one step. Only a page of a single value may be larger. */
export const MAX_PAGE_BYTES = 256 * 1024;
export const TARGET_PAGE_BYTES = MAX_PAGE_BYTES / 2;

const COMMA = 0x2c;
const NEW_LINE = 0x0a;
const FIRST_NOT_ASCII = 0x80;
/** Separates the ids from the values on a stored page. */
const EMPTY_LINE = "\n\n";

/** The ends of the lines that are split now, because an array of numbers for each of many pages is much garbage. */
let lineEnds = new Uint32Array(MAX_PAGE_SIZE);

/** Texts as bytes, joined by a separator. In memory, the separator also follows the last one. */
class JoinedTexts {
  readonly bytes: Buffer;
  /** The end of each text in `bytes`. */
  readonly ends: Uint32Array;

  constructor(bytes: Buffer, ends: Uint32Array) {
    this.bytes = bytes;
    this.ends = ends;
  }

  get length(): number {
    return this.ends.length;
  }

  start(i: number): number {
    return i === 0 ? 0 : (this.ends[i - 1] ?? 0) + 1;
  }

  text(i: number): string {
    return this.bytes.toString("utf8", this.start(i), this.ends[i]);
  }

  /** The bytes of the texts from index `from` to `until`. */
  run(from: number, until: number): Buffer {
    return this.bytes.subarray(this.start(from), this.ends[until - 1]);
  }

  /** The index of the text that contains the byte at `offset`. */
  indexAtByte(offset: number): number {
    return lowerBound(this.ends.length, (i) => (this.ends[i] ?? 0) <= offset);
  }

  /** Returns a negative number if text `i` is before `other`, and 0 if both are equal. In ASCII nothing is decoded. */
  compare(i: number, other: string): number {
    const start = this.start(i);
    const length = (this.ends[i] ?? 0) - start;
    const common = Math.min(length, other.length);
    for (let at = 0; at < common; at++) {
      const byte = this.bytes[start + at] ?? 0;
      const unit = other.charCodeAt(at);
      if (byte === unit && byte < FIRST_NOT_ASCII) continue;
      if (byte < FIRST_NOT_ASCII && unit < FIRST_NOT_ASCII) return byte - unit;
      const text = this.text(i);
      return text === other ? 0 : text < other ? -1 : 1;
    }
    return length - other.length;
  }

  /** Compares from the end, because neighbours begin alike. A text outside ASCII has more bytes than characters. */
  equals(i: number, other: string): boolean {
    const start = this.start(i);
    const length = (this.ends[i] ?? 0) - start;
    if (length !== other.length) return length > other.length && this.text(i) === other;
    for (let at = length - 1; at >= 0; at--) {
      const byte = this.bytes[start + at] ?? 0;
      if (byte !== other.charCodeAt(at) || byte >= FIRST_NOT_ASCII) return false;
    }
    return true;
  }

  /** A part with memory of its own, because a small slice would keep the large buffer alive. */
  slice(from: number, until: number, separator: number): JoinedTexts {
    const start = this.start(from);
    const ends = this.ends.slice(from, until).map((end) => end - start);
    return new JoinedTexts(copyOf(this.run(from, until), separator), ends);
  }

  /** Splits lines, in the memory of `bytes`. */
  static ofLines(bytes: Buffer, separator: number): JoinedTexts {
    let count = 0;
    const addEnd = (end: number) => {
      if (count === lineEnds.length) lineEnds = new Uint32Array(lineEnds.buffer.transfer(8 * count));
      lineEnds[count++] = end;
    };
    for (let end = bytes.indexOf(NEW_LINE); end >= 0; end = bytes.indexOf(NEW_LINE, end + 1)) {
      bytes[end] = separator;
      addEnd(end);
    }
    if (bytes.length > 0) addEnd(bytes.length);
    return new JoinedTexts(bytes, lineEnds.slice(0, count));
  }

  static of(texts: Iterable<string>, separator: number): JoinedTexts {
    const joiner = new TextJoiner(separator);
    for (const text of texts) joiner.add(text);
    return joiner.join();
  }
}

/** Joins texts and runs of joined texts. None of the texts may be empty. */
class TextJoiner {
  readonly #separator: number;
  readonly #pieces: (Buffer | string)[] = [];
  /** The texts since the last run. They are written together, because a call for each costs more than its bytes. */
  #texts: string[] = [];
  readonly #ends: number[] = [];
  #next = 0;

  constructor(separator: number) {
    this.#separator = separator;
  }

  add(text: string): void {
    this.#texts.push(text);
  }

  addRun(texts: JoinedTexts, from: number, until: number): void {
    this.#joinTexts();
    this.#pieces.push(texts.run(from, until));
    const moved = this.#next - texts.start(from);
    for (let i = from; i < until; i++) this.#ends.push((texts.ends[i] ?? 0) + moved);
    this.#next = (this.#ends.at(-1) ?? 0) + 1;
  }

  #joinTexts(): void {
    const texts = this.#texts;
    if (texts.length === 0) return;
    const joined = texts.length === 1 ? (texts[0] ?? "") : texts.join(String.fromCharCode(this.#separator));
    const isAscii = Buffer.byteLength(joined) === joined.length;
    for (const text of texts) {
      this.#next += isAscii ? text.length : Buffer.byteLength(text);
      this.#ends.push(this.#next++);
    }
    this.#pieces.push(joined);
    this.#texts = [];
  }

  join(): JoinedTexts {
    this.#joinTexts();
    const bytes = allocate(Math.max(0, this.#next - 1), this.#separator);
    let at = 0;
    for (const piece of this.#pieces) {
      if (at > 0) bytes[at++] = this.#separator;
      at += typeof piece === "string" ? bytes.write(piece, at) : piece.copy(bytes, at);
    }
    return new JoinedTexts(bytes, new Uint32Array(this.#ends));
  }
}

export class EncodedPage implements PageRecord {
  static readonly empty = new EncodedPage(JoinedTexts.of([], NEW_LINE), JoinedTexts.of([], COMMA));

  storedId: number | undefined;
  /** The ids as bytes, because a string for each of a million ids takes twice the memory. */
  readonly #ids: JoinedTexts;
  readonly #values: JoinedTexts;
  /** One byte per id; computed at the first lookup. */
  #hashes: Uint8Array | undefined;
  #bytesWithComma: Buffer | undefined;

  private constructor(ids: JoinedTexts, values: JoinedTexts, storedId?: number) {
    this.#ids = ids;
    this.#values = values;
    this.storedId = storedId;
  }

  get length(): number {
    return this.#ids.length;
  }

  /** The values' JSON, joined by commas: the inside of a JSON array. */
  get bytes(): Buffer {
    return this.#values.bytes;
  }

  /** The end of each value in `bytes`. */
  get ends(): Uint32Array {
    return this.#values.ends;
  }

  /** The bytes with the comma that separates them from the next page, as one buffer, so that one write sends both. */
  get bytesWithComma(): Buffer {
    this.#bytesWithComma ??= Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length + 1);
    return this.#bytesWithComma;
  }

  get firstId(): string {
    return this.length === 0 ? "" : this.id(0);
  }

  /** All ids. They are decoded at each call. */
  ids(): string[] {
    return this.length === 0 ? [] : this.#ids.bytes.toString().split("\n");
  }

  id(i: number): string {
    return this.#ids.text(i);
  }

  /** Adds an id that is in ASCII. Returns its number. */
  addId(i: number, ids: IdNumbers): number {
    return ids.addBytes(this.#ids.bytes, this.#ids.start(i), this.#ids.ends[i] ?? 0);
  }

  start(i: number): number {
    return this.#values.start(i);
  }

  value(i: number): string {
    return this.#values.text(i);
  }

  /** The index of `id`, or the index at which it would be inserted. It must not be before `from`. */
  insertionIndex(id: string, from = 0): number {
    return from + lowerBound(this.length - from, (i) => this.#ids.compare(from + i, id) < 0);
  }

  get(id: string): string | undefined {
    const i = this.indexOf(id);
    return i < 0 ? undefined : this.value(i);
  }

  has(id: string): boolean {
    return this.indexOf(id) >= 0;
  }

  /** The index of `id`, or -1. Compares one-byte hashes, which are adjacent in memory, and an id only to confirm it. */
  indexOf(id: string): number {
    this.#hashes ??= hashesOf(this.#ids);
    const hashes = this.#hashes;
    const wanted = hashOf(id);
    let i = hashes.indexOf(wanted);
    while (i >= 0 && !this.#ids.equals(i, id)) i = hashes.indexOf(wanted, i + 1);
    return i;
  }

  toMap(): Map<string, string> {
    return new Map(this.ids().map((id, i) => [id, this.value(i)]));
  }

  /** The index of the value that contains the byte at `offset`. */
  indexAtByte(offset: number): number {
    return this.#values.indexAtByte(offset);
  }

  /** Encodes the page for the log: the ids, an empty line, the values; one per line. JSON and ids contain no newlines. */
  encode(): Uint8Array {
    const all = Buffer.concat([this.#ids.bytes, Buffer.from(EMPTY_LINE), this.bytes]);
    const start = all.length - this.bytes.length;
    for (let i = 0; i < this.length - 1; i++) all[start + (this.ends[i] ?? 0)] = NEW_LINE;
    return all;
  }

  /** The inverse of `encode`. The page takes over the memory of `encoded`, unless that is larger than its content. */
  static decode(encoded: Uint8Array, storedId?: number): EncodedPage {
    const isExact = encoded.buffer.byteLength === encoded.byteLength;
    const all = isExact ? Buffer.from(encoded.buffer) : Buffer.from(encoded);
    const end = all.indexOf(EMPTY_LINE);
    // The values move over the second new line, so that there is a byte for the comma after them.
    all.copyWithin(end + 1, end + EMPTY_LINE.length);
    all[all.length - 1] = COMMA;
    const ids = JoinedTexts.ofLines(all.subarray(0, Math.max(0, end)), NEW_LINE);
    const values = JoinedTexts.ofLines(all.subarray(end + 1, -1), COMMA);
    if (end < 0 || ids.length !== values.length)
      throw new Error("a page of the log does not have one value for each id");
    return new EncodedPage(ids, values, storedId);
  }

  /** A page with the same ids and other values. None of the values may be empty. */
  mapValues(map: (value: string) => string): EncodedPage {
    const values = this.ends.keys().map((i) => map(this.value(i)));
    return new EncodedPage(this.#ids, JoinedTexts.of(values, COMMA));
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
    const ids = new TextJoiner(NEW_LINE);
    const values = new TextJoiner(COMMA);
    let at = from;
    const copyUntil = (end: number) => {
      if (end <= at) return;
      ids.addRun(this.#ids, at, end);
      values.addRun(this.#values, at, end);
      at = end;
    };
    for (const [id, value] of sorted) {
      copyUntil(this.insertionIndex(id, at));
      if (at < this.length && this.#ids.compare(at, id) === 0) at++;
      if (value === null) continue;
      ids.add(id);
      values.add(value);
    }
    copyUntil(until);
    return EncodedPage.#split(ids.join(), values.join());
  }

  /**
   * Splits the values into one page, or several of equal size near the target, because fixed-size pages would leave a very
   * small last one. Where a page of equal size would have too many bytes, it ends earlier.
   */
  static #split(ids: JoinedTexts, values: JoinedTexts): EncodedPage[] {
    const { length } = ids;
    if (length === 0) return [];
    if (length <= MAX_PAGE_SIZE && (values.bytes.length <= MAX_PAGE_BYTES || length === 1))
      return [new EncodedPage(ids, values)];
    const parts = length <= MAX_PAGE_SIZE ? 1 : Math.round(length / TARGET_PAGE_SIZE);
    const step = Math.ceil(length / parts);
    const pages: EncodedPage[] = [];
    for (let from = 0, until = 0; from < length; from = until) {
      const end = values.start(from) + TARGET_PAGE_BYTES;
      for (until = from + 1; until < Math.min(from + step, length); until++)
        if ((values.ends[until] ?? 0) > end) break;
      pages.push(new EncodedPage(ids.slice(from, until, NEW_LINE), values.slice(from, until, COMMA)));
    }
    return pages;
  }
}

/** All values on the pages in order of id, as additions to an empty collection. */
export function* additionsOn(
  pages: readonly EncodedPage[],
): Generator<{ readonly id: string; readonly before: null; readonly after: string }, void, void> {
  for (const page of pages)
    for (let i = 0; i < page.length; i++) yield { id: page.id(i), before: null, after: page.value(i) };
}

/* A hash of one byte. It is that of the characters in ASCII, so that it can be computed from bytes too. */

const addToHash = (sum: number, code: number): number =>
  code < FIRST_NOT_ASCII ? (Math.imul(sum, 31) + code) | 0 : sum;
const foldHash = (sum: number): number => (sum ^ (sum >>> 8)) & 0xff;

function hashOf(id: string): number {
  let sum = 0;
  for (let i = 0; i < id.length; i++) sum = addToHash(sum, id.charCodeAt(i));
  return foldHash(sum);
}

function hashesOf({ bytes, ends }: JoinedTexts): Uint8Array {
  const hashes = new Uint8Array(ends.length);
  let at = 0;
  for (let i = 0; i < ends.length; i++) {
    const end = ends[i] ?? 0;
    let sum = 0;
    for (; at < end; at++) sum = addToHash(sum, bytes[at] ?? 0);
    at++;
    hashes[i] = foldHash(sum);
  }
  return hashes;
}

function copyOf(bytes: Buffer, separator: number): Buffer {
  const copy = allocate(bytes.length, separator);
  bytes.copy(copy);
  return copy;
}

/** A buffer of `length` bytes, followed in memory by the separator. */
function allocate(length: number, separator: number): Buffer {
  const memory = Buffer.allocUnsafeSlow(length + 1);
  memory[length] = separator;
  return memory.subarray(0, length);
}
