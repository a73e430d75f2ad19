/**
 * The instances of one shader in levels: a higher level is drawn over a lower one. Items are written and deleted by key; an
 * item whose level changes moves. The layer counts encoded items, so that tests can check that only changed ones are.
 */
import type { Bounds } from "./geometry.ts";

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

  /** The words since `begin`. They are valid until the next `begin`. */
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

/** Parses `#rrggbb` to the bytes red, green, blue and an opaque alpha. */
function parseColor(color: string): number {
  let parsed = parsedColors.get(color);
  if (parsed === undefined) {
    const rgb = Number.parseInt(color.slice(1), 16);
    parsed = (((rgb >> 16) & 255) | (rgb & 0xff00) | ((rgb & 255) << 16) | (255 << 24)) >>> 0;
    parsedColors.set(color, parsed);
  }
  return parsed;
}

const INITIAL_SLOTS = 256;

/**
 * The instances of one draw call in one array; those in view are sent to the GPU. An item is one or more instances under a
 * key: a device is one instance, a line has one for each of its segments. Slots are dense: the last instance moves into the
 * slot of a removed one, so that the cost of a change depends on the size of the item, not on the size of the map.
 *
 * The first words of an instance are the floats x and y of its points: a node has one point, a segment has two.
 */
export class InstanceBuffer {
  /** The number of 32-bit words of one instance. */
  readonly stride: number;
  readonly #points: 1 | 2;
  #words: Uint32Array<ArrayBuffer>;
  /** The words of the instances in view. */
  #inView = new Uint32Array();
  #count = 0;
  readonly #slots = new Map<string, number[]>();
  /** The key of the item of each slot, and the index of the instance in the item. */
  readonly #owners: { key: string; index: number }[] = [];

  constructor(stride: number, points: 1 | 2) {
    this.stride = stride;
    this.#points = points;
    this.#words = new Uint32Array(INITIAL_SLOTS * stride);
  }

  get count(): number {
    return this.#count;
  }

  /** Writes an item of `words.length / stride` instances. Returns false if the item already has these words. */
  set(key: string, words: Uint32Array): boolean {
    const wanted = words.length / this.stride;
    const slots = this.#slots.get(key) ?? [];
    if (slots.length === wanted && this.#isEqual(slots, words)) return false;
    if (slots.length === 0) this.#slots.set(key, slots);
    while (slots.length > wanted) this.#removeSlot(slots.pop() ?? 0);
    while (slots.length < wanted) slots.push(this.#addSlot({ key, index: slots.length }));
    for (const [index, slot] of slots.entries()) {
      const start = index * this.stride;
      this.#words.set(words.subarray(start, start + this.stride), slot * this.stride);
    }
    return true;
  }

  delete(key: string): boolean {
    const slots = this.#slots.get(key);
    if (!slots) return false;
    this.#slots.delete(key);
    // Each slot leaves the list before it is removed, because removing it may move another slot of the same item.
    for (let slot = slots.pop(); slot !== undefined; slot = slots.pop()) this.#removeSlot(slot, slots);
    return true;
  }

  /**
   * The words of the instances that may be in view. Others are left out, because a software renderer takes as long for an
   * instance outside the view as for one inside. The result is valid until the next call.
   */
  inView({ left, right, bottom, top }: Bounds): Uint32Array {
    if (this.#inView.length < this.#words.length) this.#inView = new Uint32Array(this.#words.length);
    const floats = new Float32Array(this.#words.buffer);
    const other = (this.#points - 1) * 2;
    let length = 0;
    let runStart = 0;
    const end = this.#count * this.stride;
    // Adjacent instances in view are copied together.
    const copyRun = (runEnd: number) => {
      if (runStart < runEnd) this.#inView.set(this.#words.subarray(runStart, runEnd), length);
      length += Math.max(0, runEnd - runStart);
    };
    for (let at = 0; at < end; at += this.stride) {
      const [x1 = 0, y1 = 0] = [floats[at], floats[at + 1]];
      const [x2 = 0, y2 = 0] = [floats[at + other], floats[at + other + 1]];
      const isOutside =
        (x1 < left && x2 < left) ||
        (x1 > right && x2 > right) ||
        (y1 < bottom && y2 < bottom) ||
        (y1 > top && y2 > top);
      if (!isOutside) continue;
      copyRun(at);
      runStart = at + this.stride;
    }
    copyRun(end);
    return this.#inView.subarray(0, length);
  }

  #isEqual(slots: readonly number[], words: Uint32Array): boolean {
    for (const [index, slot] of slots.entries()) {
      const [start, own] = [index * this.stride, slot * this.stride];
      for (let i = 0; i < this.stride; i++) if (this.#words[own + i] !== words[start + i]) return false;
    }
    return true;
  }

  #addSlot(owner: { key: string; index: number }): number {
    const slot = this.#count++;
    this.#owners[slot] = owner;
    if (this.#count * this.stride > this.#words.length) {
      const grown = new Uint32Array(this.#words.length * 2);
      grown.set(this.#words);
      this.#words = grown;
    }
    return slot;
  }

  /** `remaining` are the slots of the item that is being deleted, which has no entry in `#slots` any more. */
  #removeSlot(slot: number, remaining?: number[]): void {
    const last = --this.#count;
    const owner = this.#owners[last];
    this.#owners.length = last;
    if (slot === last || !owner) return;
    this.#words.copyWithin(slot * this.stride, last * this.stride, (last + 1) * this.stride);
    this.#owners[slot] = owner;
    const slots = this.#slots.get(owner.key) ?? remaining;
    if (slots) slots[owner.index] = slot;
  }
}
