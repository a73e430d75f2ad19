/**
 * The search index: for each page of devices or hosts, the beginnings of all words in the names, ids, addresses and
 * descriptions of its entities, in order. A page never changes, so its index is built once, by the first search that reads
 * it, and serves every state that shares the page. Commits do no work for the index: they only create pages that have no
 * index yet.
 *
 * An index for a whole collection would need one lookup per search, but it would change with every commit, and a word would
 * need several times the memory. A lookup in each page of 100,000 hosts takes about a millisecond.
 *
 * In memory an index is two buffers. `text` has the fields of all entities, each as one byte for its class followed by the
 * lower-case text in UTF-8. `starts` has the offsets in it at which words begin, with the entity of each, sorted by the
 * text at the offset.
 */
import { lowerBound } from "../lib/sorted.ts";
import { COST, Pause, SharedSteps, type Steps, sortInSteps } from "../lib/steps.ts";
import type { CollectionVersions } from "../log/log.ts";
import { canonicalIp, ipKey } from "../model/address.ts";
import type { Device, Host } from "../model/entity.ts";
import { type EncodedPage, MAX_PAGE_SIZE } from "./encoded-page.ts";
import { parseStored } from "./view.ts";

export const SEARCHED_KINDS = ["devices", "hosts"] as const;
export type SearchedKind = (typeof SEARCHED_KINDS)[number];

/** The last revision that changed what a search finds. */
export const searchChangedAt = ({ devices, hosts }: CollectionVersions): number => Math.max(devices, hosts);

/** The class of a field. The number is the byte before the field. */
export const FIELD_CLASS = {
  /** Names, ids, serial numbers and addresses. */
  name: 1,
  /** Texts that an entity shares with many others: maker, hardware, place. */
  description: 2,
  /** The number of an IP address with fixed length, so that a block of addresses is a range. Only its beginning is a word. */
  address: 3,
} as const;
/** Bytes below this are the class of the next field, or the end of the text. */
const FIRST_CHARACTER = 8;
const SLASH = 0x2f;
const SPACE = 0x20;

/** Longer or further fields are not found. This bounds the memory of a page, and offsets fit into 24 bits. */
const MAX_FIELD_BYTES = 256;
const MAX_FIELDS = 64;
/** Number of words that are sorted in one step. Only pages with long fields have more. */
const MAX_SORTED_AT_ONCE = 8192;
/** Number of bytes of a word that fit into a number together with the index of the word. */
const PREFIX_BYTES = 5;
/** Number of words up to which it is faster to compare them one by one. */
const MAX_INSERTED = 8;
/** Finding the words in a text takes several times as long as parsing it. */
const BYTES_PER_CHARACTER = 4;
const OWNER_BITS = 8;
const OWNER_MASK = MAX_PAGE_SIZE - 1;

type Field = readonly [fieldClass: number, text: string];

export class PageWords {
  readonly #text: Uint8Array;
  readonly #starts: Uint32Array;

  constructor(text: Uint8Array, starts: Uint32Array) {
    this.#text = text;
    this.#starts = starts;
  }

  /** The number of bytes of memory that the index needs. */
  get bytes(): number {
    return this.#text.byteLength + this.#starts.byteLength;
  }

  get length(): number {
    return this.#starts.length;
  }

  /** The index on the page of the entity that has the word. */
  owner(at: number): number {
    return (this.#starts[at] ?? 0) & OWNER_MASK;
  }

  /** The index of the first word that is not before `bytes`. */
  lowerBound(bytes: Uint8Array): number {
    return lowerBound(this.#starts.length, (at) => this.#compare(at, bytes) < 0);
  }

  /** Whether the word is before `bytes`, or begins with them. */
  isNotAfter(at: number, bytes: Uint8Array): boolean {
    return this.#compare(at, bytes) <= 0;
  }

  beginsWith(at: number, bytes: Uint8Array): boolean {
    return this.#compare(at, bytes) === 0;
  }

  /** Returns a negative number when the word is before `bytes`, and zero when it begins with them. */
  #compare(at: number, bytes: Uint8Array): number {
    const text = this.#text;
    const start = (this.#starts[at] ?? 0) >>> OWNER_BITS;
    for (let i = 0; i < bytes.length; i++) {
      const difference = (text[start + i] ?? 0) - (bytes[i] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  isFieldStart(at: number): boolean {
    const start = (this.#starts[at] ?? 0) >>> OWNER_BITS;
    return (this.#text[start - 1] ?? 0) < FIRST_CHARACTER;
  }

  /** Whether the field ends `length` bytes after the beginning of the word. The slash in a host's id counts as an end. */
  endsAfter(at: number, length: number): boolean {
    const end = this.#text[((this.#starts[at] ?? 0) >>> OWNER_BITS) + length] ?? 0;
    return end < FIRST_CHARACTER || end === SLASH;
  }

  /** The class of the field that the word is in. */
  fieldClass(at: number): number {
    return this.#text[this.#fieldStart(at) - 1] ?? 0;
  }

  /** Length of the field in bytes. */
  fieldLength(at: number): number {
    return this.#fieldEnd(at) - this.#fieldStart(at);
  }

  /** The text of the field in lower case. */
  fieldText(at: number): string {
    return Buffer.from(this.#text.subarray(this.#fieldStart(at), this.#fieldEnd(at))).toString("utf8");
  }

  #fieldStart(at: number): number {
    let start = (this.#starts[at] ?? 0) >>> OWNER_BITS;
    while ((this.#text[start - 1] ?? 0) >= FIRST_CHARACTER) start--;
    return start;
  }

  #fieldEnd(at: number): number {
    let end = (this.#starts[at] ?? 0) >>> OWNER_BITS;
    while ((this.#text[end] ?? 0) >= FIRST_CHARACTER) end++;
    return end;
  }
}

const indexes = new WeakMap<EncodedPage, PageWords>();

/** The words of a page; undefined if the page has no index yet. */
export const wordsOf = (page: EncodedPage): PageWords | undefined => indexes.get(page);

/** The bytes of an IP address, or of the first or last address of a block, as they are in a field. */
export function addressBytes(key: string): Uint8Array {
  return Buffer.from(String.fromCharCode(FIELD_CLASS.address) + hexOf(key));
}

/** The pages that are being indexed. Searches that meet the same page share the work: a user types several in a second. */
const started = new WeakMap<EncodedPage, SharedSteps<PageWords>>();

/** Indexes a page, which takes about a millisecond, and more where the fields are long. */
export function* indexPage(kind: SearchedKind, page: EncodedPage): Steps<PageWords> {
  const shared = started.get(page) ?? new SharedSteps(buildIndex(kind, page));
  started.set(page, shared);
  const built = yield* shared.result();
  started.delete(page);
  return built;
}

function* buildIndex(kind: SearchedKind, page: EncodedPage): Steps<PageWords> {
  const fields: string[] = [];
  const starts: number[] = [];
  const pause = new Pause();
  let offset = 0;
  for (let i = 0; i < page.length; i++) {
    let left = MAX_FIELDS;
    for (const [fieldClass, value] of fieldsOf(kind, page.value(i))) {
      if (left-- === 0) break;
      const text = cut(value.toLowerCase());
      fields.push(String.fromCharCode(fieldClass) + text);
      offset = addWords(text, fieldClass, offset + 1, i, starts);
      if (pause.due(COST.key, BYTES_PER_CHARACTER * text.length)) yield;
    }
  }
  const text = Buffer.from(fields.join(""));
  const built = new PageWords(text, yield* sortWords(text, starts));
  indexes.set(page, built);
  return built;
}

/** Sorts words by the text from their start to the end of the field, and equal ones by their start. */
function* sortWords(text: Uint8Array, starts: number[]): Steps<Uint32Array> {
  if (starts.length > MAX_SORTED_AT_ONCE)
    return Uint32Array.from(yield* sortInSteps(starts, (a, b) => compareWords(text, a, b, 0)));
  const sorted = Uint32Array.from(starts);
  sortRange(text, sorted, 0, sorted.length, 0, new Float64Array(sorted.length));
  return sorted;
}

/**
 * Sorts the words of a range, which are equal up to `depth`. Each word becomes a number of its next bytes and its index,
 * because numbers are sorted without a call for each comparison. Words whose bytes are equal are then sorted by their next
 * bytes. Comparing the words in a function takes several times as long.
 */
function sortRange(
  text: Uint8Array,
  starts: Uint32Array,
  from: number,
  to: number,
  depth: number,
  keys: Float64Array,
): void {
  for (let i = from; i < to; i++)
    keys[i] = prefixAt(text, (starts[i] ?? 0) >>> OWNER_BITS, depth) * MAX_SORTED_AT_ONCE + (i - from);
  const unsorted = starts.slice(from, to);
  const sorted = keys.subarray(from, to).sort();
  for (let i = 0; i < sorted.length; i++)
    starts[from + i] = unsorted[(sorted[i] ?? 0) % MAX_SORTED_AT_ONCE] ?? 0;
  let runStart = from;
  for (let i = from; i < to; i++) {
    const prefix = Math.floor((keys[i] ?? 0) / MAX_SORTED_AT_ONCE);
    if (i + 1 < to && prefix === Math.floor((keys[i + 1] ?? 0) / MAX_SORTED_AT_ONCE)) continue;
    // A prefix whose last byte is 0 contains the end of the field.
    if (i > runStart && prefix % 256 !== 0) {
      const next = depth + PREFIX_BYTES;
      if (i - runStart < MAX_INSERTED) insertionSort(text, starts, runStart, i + 1, next);
      else sortRange(text, starts, runStart, i + 1, next, keys);
    }
    runStart = i + 1;
  }
}

/** The bytes of a word from `depth` on as a number; 0 from the end of its field on. */
function prefixAt(text: Uint8Array, start: number, depth: number): number {
  let prefix = 0;
  let i = 0;
  for (; i < PREFIX_BYTES; i++) {
    const byte = byteAt(text, start, depth + i);
    if (byte === 0) break;
    prefix = prefix * 256 + byte;
  }
  for (; i < PREFIX_BYTES; i++) prefix *= 256;
  return prefix;
}

/** The byte of a word; 0 at the end of its field. The first byte of the word of an address is a class. */
function byteAt(text: Uint8Array, start: number, index: number): number {
  const byte = text[start + index] ?? 0;
  return byte >= FIRST_CHARACTER || index === 0 ? byte : 0;
}

function insertionSort(text: Uint8Array, starts: Uint32Array, from: number, to: number, depth: number): void {
  for (let i = from + 1; i < to; i++) {
    const start = starts[i] ?? 0;
    let at = i;
    for (; at > from && compareWords(text, starts[at - 1] ?? 0, start, depth) > 0; at--)
      starts[at] = starts[at - 1] ?? 0;
    starts[at] = start;
  }
}

/** Compares two words that are equal up to `depth`. */
function compareWords(text: Uint8Array, a: number, b: number, depth: number): number {
  const [p, q] = [a >>> OWNER_BITS, b >>> OWNER_BITS];
  for (let i = depth; ; i++) {
    const byte = byteAt(text, p, i);
    const difference = byte - byteAt(text, q, i);
    if (difference !== 0) return difference;
    if (byte === 0) return a - b;
  }
}

/**
 * Adds the offsets at which words in `text` begin, shifted by `OWNER_BITS`, with the index of their entity in the low bits.
 * `text` is at `offset`. Returns the offset of its end.
 */
function addWords(text: string, fieldClass: number, offset: number, owner: number, starts: number[]): number {
  // The class is part of the word, so that no text can match the number of an address.
  if (fieldClass === FIELD_CLASS.address) starts.push((((offset - 1) << OWNER_BITS) | owner) >>> 0);
  let at = offset;
  let wasWord = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const isWord = isWordCharacter(code);
    if (fieldClass !== FIELD_CLASS.address && (i === 0 || (isWord && !wasWord)))
      starts.push(((at << OWNER_BITS) | owner) >>> 0);
    wasWord = isWord;
    at += code < 0x80 ? 1 : code < 0x800 || isSurrogate(code) ? 2 : 3;
  }
  return at;
}

const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;

/** Letters and digits, and everything outside ASCII. */
const isWordCharacter = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code >= 0x80;

const UNUSUAL = /[\u0000-\u001f\ud800-\udfff]/;
const CONTROL = /[\u0000-\u001f]/g;

/** Removes lone surrogates and control characters, and truncates to `MAX_FIELD_BYTES` bytes. */
function cut(text: string): string {
  const clean = UNUSUAL.test(text) ? text.replace(CONTROL, " ").toWellFormed() : text;
  if (clean.length * 3 <= MAX_FIELD_BYTES) return clean;
  const bytes = Buffer.from(clean);
  if (bytes.length <= MAX_FIELD_BYTES) return clean;
  let end = MAX_FIELD_BYTES;
  while (((bytes[end] ?? SPACE) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

function fieldsOf(kind: SearchedKind, text: string): readonly Field[] {
  return kind === "devices" ? deviceFields(parseStored(kind, text)) : hostFields(parseStored(kind, text));
}

function deviceFields({ id, aliases = [], annotations, serial, mfr, hw }: Device): readonly Field[] {
  const { name, managementAddress, city, site } = annotations;
  const ip = managementAddress ? canonicalIp(managementAddress) : undefined;
  return [
    ...withClass(FIELD_CLASS.name, [name, id, managementAddress, serial, ...aliases]),
    ...withClass(FIELD_CLASS.address, [ip && hexOf(ipKey(ip))]),
    ...withClass(FIELD_CLASS.description, [mfr, hw, city, site]),
  ];
}

const withClass = (fieldClass: number, texts: readonly (string | undefined)[]): Field[] =>
  texts.flatMap((text): Field[] => (text ? [[fieldClass, text]] : []));

function hostFields({ id, annotations, ipAddresses }: Host): readonly Field[] {
  const fields: Field[] = annotations?.name ? [[FIELD_CLASS.name, annotations.name]] : [];
  fields.push([FIELD_CLASS.name, id]);
  // The addresses of hosts are canonical.
  for (const ip of ipAddresses) fields.push([FIELD_CLASS.name, ip], [FIELD_CLASS.address, hexOf(ipKey(ip))]);
  return fields;
}

/** Writes four digits for each unit, so that the texts have the same order as the keys. */
function hexOf(key: string): string {
  let hex = "";
  for (let i = 0; i < key.length; i++) hex += (0x10000 + key.charCodeAt(i)).toString(16).slice(1);
  return hex;
}
