/**
 * Adds stored values to the indexes, at a start, without parsing most of them: to make objects of a million hosts takes
 * longer than to read and to index them.
 *
 * Most values of a kind have one of a few shapes, which is their JSON without the contents of strings and numbers. The
 * first value of a shape is parsed. The keys of an example, whose strings are marks, show which strings of the value are
 * its keys. In the other values of the shape these strings are found by comparing bytes, and are added as bytes. A value
 * that matches no shape, such as one with strings that are not in ASCII, is parsed.
 */
import type { EncodedPage } from "./encoded-page.ts";
import type { Indexes, NamedIndex, StoredTypes } from "./indexes.ts";

/**
 * The kinds that have many values, and whose keys are strings of the value, unchanged or in lower case, or depend only on
 * its shape. Each string that is not empty must have the same effect.
 */
const SHAPED_KINDS: ReadonlySet<keyof StoredTypes> = new Set(["devices", "ports", "hosts"]);
/** Number of shapes that a value is compared with, and of values from which shapes are made. */
const MAX_SHAPES = 16;
const MAX_EXAMPLES = 256;

const BACKSLASH = 0x5c;
const SPACE = 0x20;
const QUOTE = 0x22;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const FIRST_NOT_ASCII = 0x80;

/** Whether a byte may be inside of a string that matches. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= SPACE && byte < FIRST_NOT_ASCII && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** Stand for the content of a string and for a number. JSON contains no such bytes. */
const ANY_TEXT = 1;
const ANY_NUMBER = 2;
/** A string of an example. No colon follows it, unlike the name of a field. */
const MARKS = /"S\d+"(?!:)/g;
const MARK = /^S(\d+)$/i;
const HAS_MARK = /S\d/i;
/** So that a key that contains the id has a mark, which is that of no string. */
const EXAMPLE_ID = "id:S0";
const NUMBERS = /:\d+(?=[,}])/g;

/** A key that the values of a shape have in an index. */
interface ShapeKey<T> extends Pick<NamedIndex<T>, "index" | "keysOf"> {
  /** The number of the string that is the key; undefined if the key is `text` in all values. */
  readonly string: number | undefined;
  readonly text: string;
  readonly isLowerCase: boolean;
}

/** The longest key that a function writes is that of an IP address. */
const written = new Uint8Array(64);

class Shape<T> {
  keys: readonly ShapeKey<T>[] = [];
  readonly example: string;
  readonly #template: Uint8Array;
  /** The start and the end of each string of the value that matched last. */
  readonly #bounds: Uint32Array;

  constructor(json: string) {
    let strings = 0;
    const toMark = (_: string, value: unknown) =>
      typeof value === "string" && value !== "" ? `S${strings++}` : value;
    this.example = JSON.stringify(JSON.parse(json, toMark));
    const withoutTexts = this.example.replace(MARKS, `"${String.fromCharCode(ANY_TEXT)}"`);
    this.#template = Buffer.from(withoutTexts.replace(NUMBERS, `:${String.fromCharCode(ANY_NUMBER)}`));
    this.#bounds = new Uint32Array(2 * strings);
  }

  matches(bytes: Uint8Array, start: number, end: number): boolean {
    const template = this.#template;
    const bounds = this.#bounds;
    let at = start;
    let bound = 0;
    for (let i = 0; i < template.length; i++) {
      const expected = template[i];
      if (bytes[at] === expected) at++;
      else if (expected === ANY_TEXT) {
        bounds[bound++] = at;
        while (IS_PLAIN[bytes[at] ?? 0] === 1) at++;
        bounds[bound++] = at;
        if (bounds[bound - 2] === at) return false;
      } else if (expected === ANY_NUMBER && isDigit(bytes[at])) while (isDigit(bytes[at])) at++;
      else return false;
    }
    return at === end;
  }

  /** Adds the keys of the value that matched last. */
  addKeys(bytes: Buffer, id: number): void {
    for (const { index, keysOf, string, text, isLowerCase } of this.keys) {
      if (string === undefined) {
        index.addNumber(text, id);
        continue;
      }
      const start = this.#bounds[2 * string] ?? 0;
      const end = this.#bounds[2 * string + 1] ?? 0;
      const { keyOf, writeKey } = keysOf;
      const length = writeKey?.(bytes, start, end, written) ?? 0;
      if (length > 0) index.addBytes(written, 0, length, id);
      else if (keyOf) index.addNumber(keyOf(bytes.toString("latin1", start, end)), id);
      else if (isLowerCase && hasUpperCase(bytes, start, end))
        index.addNumber(bytes.toString("latin1", start, end).toLowerCase(), id);
      else index.addBytes(bytes, start, end, id);
    }
  }
}

const isDigit = (byte = 0): boolean => byte >= DIGIT_0 && byte <= DIGIT_9;

function hasUpperCase(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte >= UPPER_A && byte <= UPPER_Z) return true;
  }
  return false;
}

export class PageIndexer<K extends keyof StoredTypes> {
  readonly #indexes: Indexes<K>;
  /** Roughly those first that occur most often. */
  readonly #shapes: Shape<StoredTypes[K]>[] = [];
  #examplesLeft: number;

  /** The indexes must be empty. */
  constructor(indexes: Indexes<K>) {
    this.#indexes = indexes;
    this.#examplesLeft = SHAPED_KINDS.has(indexes.kind) ? MAX_EXAMPLES : 0;
  }

  /**
   * Adds the values of a page. Calls `onParsed` with each that was parsed, as a host at several devices always is. Returns
   * the length of their texts.
   */
  add(page: EncodedPage, onParsed?: (value: StoredTypes[K]) => void): number {
    let parsedLength = 0;
    for (let i = 0; i < page.length; i++) {
      const shape = this.#shapeOf(page, i);
      if (shape) {
        // The id consists of strings of the value, so it is in ASCII too.
        shape.addKeys(page.bytes, page.addId(i, this.#indexes.ids));
        continue;
      }
      const json = page.value(i);
      const value: StoredTypes[K] = JSON.parse(json);
      this.#indexes.update(page.id(i), undefined, value);
      onParsed?.(value);
      parsedLength += json.length;
      if (this.#examplesLeft > 0 && this.#shapes.length < MAX_SHAPES) this.#learn(page, i);
    }
    return parsedLength;
  }

  #shapeOf(page: EncodedPage, i: number): Shape<StoredTypes[K]> | undefined {
    const shapes = this.#shapes;
    for (let at = 0; at < shapes.length; at++) {
      const shape = shapes[at];
      if (!shape?.matches(page.bytes, page.start(i), page.ends[i] ?? 0)) continue;
      const previous = shapes[at - 1];
      if (previous) [shapes[at - 1], shapes[at]] = [shape, previous];
      return shape;
    }
    return undefined;
  }

  #learn(page: EncodedPage, i: number): void {
    this.#examplesLeft--;
    const shape = new Shape<StoredTypes[K]>(page.value(i));
    // Fails where the JSON is not as `JSON.stringify` writes it.
    if (!shape.matches(page.bytes, page.start(i), page.ends[i] ?? 0)) return;
    const example: StoredTypes[K] = JSON.parse(shape.example);
    const keys = this.#indexes.all().flatMap(({ index, keysOf }) =>
      keysOf(example, EXAMPLE_ID).map((text) => {
        const mark = MARK.exec(text)?.[1];
        const string = mark === undefined ? undefined : Number(mark);
        return { index, keysOf, string, text, isLowerCase: mark !== undefined && text.startsWith("s") };
      }),
    );
    // A key that only contains a string of the value is none of those that can be read from bytes.
    if (keys.some(({ string, text }) => string === undefined && HAS_MARK.test(text))) return;
    // Two devices may be the same one, which must be added once.
    const lowerCase = keys.filter(({ isLowerCase }) => isLowerCase).map(({ index }) => index);
    if (new Set(lowerCase).size < lowerCase.length) return;
    shape.keys = keys;
    this.#shapes.push(shape);
  }
}
