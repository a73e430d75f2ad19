/**
 * Texts as bytes, each with a number of 32 bits and a value of 32 bits. A string in a map takes about 130 bytes besides its
 * characters, and the garbage collector visits each one; here a text takes about 25 bytes besides its characters, in a few
 * large arrays. A text keeps its number until it is deleted; then another text may get the number.
 *
 * The texts are divided among many shards, each of which grows separately, because a table of a million entries that grows
 * as a whole would block the event loop. The hash has a random seed, so that nobody can choose texts that all collide.
 */

const SHARD_BITS = 8;
const SHARDS = 1 << SHARD_BITS;
const SEED = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

/** Ends each text in memory. No byte of an encoded text has this value. */
const END = 0xff;
const UNUSED = 0xffff_ffff;
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
let encodedLength = 0;

/**
 * Encodes each unit of UTF-16 separately as in UTF-8, so that unpaired surrogates are kept and bytes sort like the text. Returns
 * the hash.
 */
function encode(text: string): number {
  if (encoded.length < 3 * text.length + 1) encoded = new Uint8Array(6 * text.length);
  const bytes = encoded;
  let hash = SEED;
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    hash = Math.imul(hash ^ unit, 0x0100_0193);
    if (unit < 0x80) bytes[length++] = unit;
    else {
      if (unit < 0x800) bytes[length++] = 0xc0 | (unit >> 6);
      else {
        bytes[length++] = 0xe0 | (unit >> 12);
        bytes[length++] = 0x80 | ((unit >> 6) & 0x3f);
      }
      bytes[length++] = 0x80 | (unit & 0x3f);
    }
  }
  bytes[length] = END;
  encodedLength = length + 1;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a_2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
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

class Shard {
  count = 0;
  fields = new Uint32Array(FIELDS * 6);
  bytes = Buffer.allocUnsafeSlow(64);
  #slots = new Uint32Array(8);
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

  /** The position of the text that was encoded last. */
  find(hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = (hash >>> SHARD_BITS) & mask; ; at = (at + 1) & mask) {
      const slot = slots[at] ?? 0;
      if (slot === 0) return NOT_FOUND;
      if ((slot ^ hash) >>> POSITION_BITS !== 0) continue;
      const position = (slot & POSITION_MASK) - 1;
      if (this.#isEncoded(this.start(position))) return position;
    }
  }

  #isEncoded(start: number): boolean {
    for (let i = 0; i < encodedLength; i++) if (this.bytes[start + i] !== encoded[i]) return false;
    return true;
  }

  /** Adds the text that was encoded last, with the value 0. */
  add(hash: number): number {
    if ((this.count + 1) * 4 > this.#slots.length * 3) this.#growSlots();
    if (this.#bytesUsed + encodedLength > this.bytes.length) this.#growBytes();
    const position = this.#free.pop() ?? this.#positions++;
    if (this.#positions * FIELDS > this.fields.length) this.#growFields();
    const at = position * FIELDS;
    this.fields[at] = this.#bytesUsed;
    this.fields[at + HASH] = hash;
    this.fields[at + VALUE] = 0;
    for (let i = 0; i < encodedLength; i++) this.bytes[this.#bytesUsed++] = encoded[i] ?? 0;
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

  #growSlots(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (const position of this.positions())
      this.#fillSlot(position, this.fields[position * FIELDS + HASH] ?? 0);
  }

  #growFields(): void {
    const fields = new Uint32Array(Math.ceil(this.#positions * 1.4) * FIELDS);
    if (fields.length > POSITION_MASK * FIELDS) throw new Error("a table has too many texts");
    fields.set(this.fields);
    this.fields = fields;
  }

  /** Leaves the deleted texts out. */
  #growBytes(): void {
    const before = this.bytes;
    this.bytes = Buffer.allocUnsafeSlow(Math.ceil((this.#bytesUsed - this.#garbage + encodedLength) * 1.4));
    if (this.#garbage === 0) {
      before.copy(this.bytes);
      return;
    }
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
    const hash = encode(text);
    const shard = hash & (SHARDS - 1);
    const position = this.#shards[shard]?.find(hash) ?? NOT_FOUND;
    return position === NOT_FOUND ? NOT_FOUND : this.#remember(text, position, shard);
  }

  /** The number of the text, which is added with the value 0 if it is not in the table. */
  add(text: string): number {
    if (text === this.#lastText) return this.#lastNumber;
    const hash = encode(text);
    const at = hash & (SHARDS - 1);
    let shard = this.#shards[at];
    if (!shard) {
      shard = new Shard();
      this.#shards[at] = shard;
    }
    const found = shard.find(hash);
    if (found !== NOT_FOUND) return this.#remember(text, found, at);
    this.#size++;
    return this.#remember(text, shard.add(hash), at);
  }

  #remember(text: string, position: number, shard: number): number {
    this.#lastText = text;
    this.#lastNumber = position * SHARDS + shard;
    return this.#lastNumber;
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
