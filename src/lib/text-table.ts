/**
 * Texts as bytes, each with a number of 32 bits and a value of 32 bits with a sign. A string in a map takes about 130 bytes
 * besides its characters, and the garbage collector visits each one; here a text takes about 22 bytes besides its
 * characters, in a few large arrays. A text keeps its number until it is deleted; then another text may get the number.
 *
 * The texts are divided among many shards, each of which grows separately, because a table of a million entries that grows
 * as a whole would block the event loop. The hash has a random seed, so that nobody can choose texts that all collide.
 */

const SHARD_BITS = 8;
const SHARDS = 1 << SHARD_BITS;
const SEED = crypto.getRandomValues(new Int32Array(1))[0] ?? 0;

/** Ends each text in memory. No byte of an encoded text has this value. */
const END = 0xff;
const UNUSED = -1;
const NOT_FOUND = -1;

/** A slot has 0, or one more than the position of a text in the lower bits and a part of its hash in the upper ones. */
const POSITION_BITS = 20;
const POSITION_MASK = (1 << POSITION_BITS) - 1;
/** The fields of a text: where it begins in `bytes`, its hash, and its value. */
const FIELDS = 3;
const HASH = 1;
const VALUE = 2;

/** The text that is looked up, encoded. One for all tables, because a look-up does not pause. */
let encoded = new Uint8Array(1024);

/** Returns the number of bytes. */
function encode(text: string): number {
  if (encoded.length < 3 * text.length) encoded = new Uint8Array(6 * text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) length = encodeUnit(text.charCodeAt(i), encoded, length);
  return length;
}

/**
 * Encodes each unit of UTF-16 separately as in UTF-8, so that unpaired surrogates are kept and bytes sort like the text. Returns
 * the position after it.
 */
export function encodeUnit(unit: number, into: Uint8Array, position: number): number {
  let at = position;
  if (unit < 0x80) {
    into[at++] = unit;
    return at;
  }
  if (unit < 0x800) into[at++] = 0xc0 | (unit >> 6);
  else {
    into[at++] = 0xe0 | (unit >> 12);
    into[at++] = 0x80 | ((unit >> 6) & 0x3f);
  }
  into[at++] = 0x80 | (unit & 0x3f);
  return at;
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x0100_0193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a_2d39);
  return hash ^ (hash >>> 15);
}

function decode(bytes: Buffer, start: number): string {
  let end = start;
  for (let byte = bytes[end] ?? END; byte < 0x80; byte = bytes[end] ?? END) end++;
  const ascii = bytes.toString("latin1", start, end);
  if (bytes[end] === END) return ascii;
  let text = ascii;
  for (let at = end; ; ) {
    const first = bytes[at++] ?? END;
    if (first === END) return text;
    let unit = first;
    if (first >= 0xc0) unit = ((first & (first < 0xe0 ? 0x1f : 0x0f)) << 6) | ((bytes[at++] ?? 0) & 0x3f);
    if (first >= 0xe0) unit = (unit << 6) | ((bytes[at++] ?? 0) & 0x3f);
    text += String.fromCharCode(unit);
  }
}

/** Small, because half of what is added is unused on average, and memory is moved without a loop. */
const GROWTH = 1.25;

class Shard {
  count = 0;
  fields = new Int32Array(FIELDS * 6);
  bytes = Buffer.from(new ArrayBuffer(64));
  #slots = new Int32Array(8);
  #bytesUsed = 0;
  /** Number of bytes of deleted texts. */
  #garbage = 0;
  /** Number of positions that were ever used. */
  #positions = 0;
  readonly #free: number[] = [];

  start(position: number): number {
    return this.fields[position * FIELDS] ?? UNUSED;
  }

  has(position: number): boolean {
    return position < this.#positions && this.start(position) !== UNUSED;
  }

  *positions(): Generator<number> {
    for (let position = 0; position < this.#positions; position++) if (this.has(position)) yield position;
  }

  /** The position of the text that is encoded in `bytes` from `start` to `end`. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = (hash >>> SHARD_BITS) & mask; ; at = (at + 1) & mask) {
      const slot = slots[at] ?? 0;
      if (slot === 0) return NOT_FOUND;
      if ((slot ^ hash) >>> POSITION_BITS !== 0) continue;
      const position = (slot & POSITION_MASK) - 1;
      if (this.#isAt(this.start(position), bytes, start, end)) return position;
    }
  }

  #isAt(position: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.bytes;
    let at = position;
    for (let i = start; i < end; i++) if (own[at++] !== bytes[i]) return false;
    return own[at] === END;
  }

  /** Adds a text with the value 0. */
  add(bytes: Uint8Array, start: number, end: number, hash: number): number {
    if ((this.count + 1) * 4 > this.#slots.length * 3) this.#growSlots();
    const length = end - start + 1;
    if (this.#bytesUsed + length > this.bytes.length) this.#growBytes(length);
    const position = this.#free.length > 0 ? (this.#free.pop() ?? 0) : this.#positions++;
    if (this.#positions * FIELDS > this.fields.length) this.#growFields();
    const at = position * FIELDS;
    const own = this.bytes;
    let used = this.#bytesUsed;
    this.fields[at] = used;
    this.fields[at + HASH] = hash;
    this.fields[at + VALUE] = 0;
    for (let i = start; i < end; i++) own[used++] = bytes[i] ?? 0;
    own[used++] = END;
    this.#bytesUsed = used;
    this.#fillSlot(position, hash);
    this.count++;
    return position;
  }

  delete(position: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const homeOf = (of: number) => ((this.fields[of * FIELDS + HASH] ?? 0) >>> SHARD_BITS) & mask;
    const positionAt = (at: number) => ((slots[at] ?? 0) & POSITION_MASK) - 1;
    let hole = homeOf(position);
    while (positionAt(hole) !== position) hole = (hole + 1) & mask;
    // Later texts move up to the hole, unless that is before the slot where the search for them begins.
    for (let at = (hole + 1) & mask; slots[at] !== 0; at = (at + 1) & mask) {
      if (((at - homeOf(positionAt(at))) & mask) < ((at - hole) & mask)) continue;
      slots[hole] = slots[at] ?? 0;
      hole = at;
    }
    slots[hole] = 0;
    const start = this.start(position);
    this.#garbage += this.bytes.indexOf(END, start) + 1 - start;
    this.fields[position * FIELDS] = UNUSED;
    this.#free.push(position);
    this.count--;
  }

  #fillSlot(position: number, hash: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (hash >>> SHARD_BITS) & mask;
    while (slots[at] !== 0) at = (at + 1) & mask;
    slots[at] = (hash & ~POSITION_MASK) | (position + 1);
  }

  /* Memory that grows is transferred, so that its former part is free at once, and not after the next garbage collection. */

  #growSlots(): void {
    this.#slots = new Int32Array(this.#slots.buffer.transfer(2 * this.#slots.byteLength)).fill(0);
    for (const position of this.positions())
      this.#fillSlot(position, this.fields[position * FIELDS + HASH] ?? 0);
  }

  #growFields(): void {
    const length = Math.ceil(this.#positions * GROWTH) * FIELDS;
    if (length > POSITION_MASK * FIELDS) throw new Error("a table has too many texts");
    this.fields = new Int32Array(this.fields.buffer.transfer(length * Int32Array.BYTES_PER_ELEMENT));
  }

  /** Leaves the deleted texts out. */
  #growBytes(needed: number): void {
    const size = Math.ceil((this.#bytesUsed - this.#garbage + needed) * GROWTH);
    if (this.#garbage === 0) {
      this.bytes = Buffer.from(this.bytes.buffer.transfer(size));
      return;
    }
    const before = this.bytes;
    this.bytes = Buffer.from(new ArrayBuffer(size));
    let used = 0;
    for (const position of this.positions()) {
      const start = this.start(position);
      this.fields[position * FIELDS] = used;
      used += before.copy(this.bytes, used, start, before.indexOf(END, start) + 1);
    }
    this.#bytesUsed = used;
    this.#garbage = 0;
  }
}

export class TextTable {
  readonly #shards: (Shard | undefined)[] = new Array<Shard | undefined>(SHARDS).fill(undefined);
  #size = 0;
  /** The text that was looked up last, because a text is often looked up several times in a row. */
  #lastText: string | undefined;
  #lastNumber = NOT_FOUND;

  get size(): number {
    return this.#size;
  }

  /** The number of the text; -1 if it is not in the table. */
  find(text: string): number {
    if (text === this.#lastText) return this.#lastNumber;
    const length = encode(text);
    const hash = hashOf(encoded, 0, length);
    const at = hash & (SHARDS - 1);
    const position = this.#shards[at]?.find(encoded, 0, length, hash) ?? NOT_FOUND;
    return position === NOT_FOUND ? NOT_FOUND : this.#remember(text, position * SHARDS + at);
  }

  /** The number of the text, which is added with the value 0 if it is not in the table. */
  add(text: string): number {
    if (text === this.#lastText) return this.#lastNumber;
    const length = encode(text);
    return this.#remember(text, this.addBytes(encoded, 0, length));
  }

  /** The same for a text that is encoded in `bytes` from `start` to `end`, as by `encodeUnit`. ASCII is encoded so. */
  addBytes(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    const at = hash & (SHARDS - 1);
    let shard = this.#shards[at];
    if (!shard) {
      shard = new Shard();
      this.#shards[at] = shard;
    }
    let position = shard.find(bytes, start, end, hash);
    if (position === NOT_FOUND) {
      position = shard.add(bytes, start, end, hash);
      this.#size++;
    }
    return position * SHARDS + at;
  }

  #remember(text: string, number: number): number {
    this.#lastText = text;
    this.#lastNumber = number;
    return number;
  }

  /** Deletes a text that is in the table. */
  delete(number: number): void {
    const shard = this.#shardOf(number);
    shard.delete(number >>> SHARD_BITS);
    if (shard.count === 0) this.#shards[number & (SHARDS - 1)] = undefined;
    this.#size--;
    this.#lastText = undefined;
  }

  /** Whether a text has this number now. */
  has(number: number): boolean {
    return this.#shards[number & (SHARDS - 1)]?.has(number >>> SHARD_BITS) === true;
  }

  text(number: number): string {
    const shard = this.#shardOf(number);
    return decode(shard.bytes, shard.start(number >>> SHARD_BITS));
  }

  value(number: number): number {
    return this.#shardOf(number).fields[(number >>> SHARD_BITS) * FIELDS + VALUE] ?? 0;
  }

  setValue(number: number, value: number): void {
    this.#shardOf(number).fields[(number >>> SHARD_BITS) * FIELDS + VALUE] = value;
  }

  /** All numbers. The table may change meanwhile; a text that stays in it throughout is visited once. */
  *numbers(): Generator<number> {
    for (const [at, shard] of this.#shards.entries())
      if (shard) for (const position of shard.positions()) yield position * SHARDS + at;
  }

  /** Compares two texts as strings are compared. */
  compare(a: number, b: number): number {
    const [shardA, shardB] = [this.#shardOf(a), this.#shardOf(b)];
    let [at, atB] = [shardA.start(a >>> SHARD_BITS), shardB.start(b >>> SHARD_BITS)];
    for (; ; at++, atB++) {
      const byte = shardA.bytes[at] ?? END;
      const byteB = shardB.bytes[atB] ?? END;
      if (byte === byteB && byte !== END) continue;
      // A text that ends is before one that goes on.
      return (byte === END ? -1 : byte) - (byteB === END ? -1 : byteB);
    }
  }

  #shardOf(number: number): Shard {
    const shard = this.#shards[number & (SHARDS - 1)];
    if (!shard) throw new Error(`no text has the number ${number}`);
    return shard;
  }
}
