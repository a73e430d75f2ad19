/**
 * The instances of one shader in levels: a higher level is drawn over a lower one. Items are written and deleted by key;
 * an item whose level changes moves. Counts what is encoded, so that a test can see that only changed items are.
 */
import { InstanceBuffer } from "./instance-buffer.ts";

export class InstanceLayer {
  readonly levels: readonly InstanceBuffer[];
  /** The number of items that were written or deleted so far. */
  encoded = 0;
  readonly #levelOf = new Map<string, number>();

  constructor(stride: number, points: 1 | 2, levels: number) {
    this.levels = Array.from({ length: levels }, () => new InstanceBuffer(stride, points));
  }

  set(key: string, level: number, words: Uint32Array): void {
    const previous = this.#levelOf.get(key);
    if (previous !== undefined && previous !== level) this.levels[previous]?.delete(key);
    this.#levelOf.set(key, level);
    if (this.levels[level]?.set(key, words) || previous !== level) this.encoded++;
  }

  delete(key: string): void {
    const level = this.#levelOf.get(key);
    if (level === undefined) return;
    this.#levelOf.delete(key);
    this.levels[level]?.delete(key);
    this.encoded++;
  }

  /** The number of items. */
  get size(): number {
    return this.#levelOf.size;
  }
}

/** Writes the words of an item: numbers as floats, colours and small integers as four bytes. */
export class WordWriter {
  #floats = new Float32Array(64);
  #words = new Uint32Array(this.#floats.buffer);
  #length = 0;

  begin(): this {
    this.#length = 0;
    return this;
  }

  floats(...values: number[]): this {
    this.#reserve(values.length);
    for (const value of values) this.#floats[this.#length++] = value;
    return this;
  }

  bytes(a: number, b = 0, c = 0, d = 0): this {
    this.#reserve(1);
    this.#words[this.#length++] = (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
    return this;
  }

  color(color: string): this {
    this.#reserve(1);
    this.#words[this.#length++] = parseColor(color);
    return this;
  }

  /** Valid until the next `begin`. */
  end(): Uint32Array {
    return this.#words.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#floats.length) return;
    const grown = new Float32Array(this.#floats.length * 2);
    grown.set(this.#floats);
    this.#floats = grown;
    this.#words = new Uint32Array(grown.buffer);
  }
}

const parsedColors = new Map<string, number>();

/** `#rrggbb` as the bytes red, green, blue and an opaque alpha. */
function parseColor(color: string): number {
  let parsed = parsedColors.get(color);
  if (parsed === undefined) {
    const rgb = Number.parseInt(color.slice(1), 16);
    parsed = (((rgb >> 16) & 255) | (rgb & 0xff00) | ((rgb & 255) << 16) | (255 << 24)) >>> 0;
    parsedColors.set(color, parsed);
  }
  return parsed;
}
