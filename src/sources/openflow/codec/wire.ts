/**
 * Reads and writes network byte order, with every bound checked. Input is untrusted: a length that exceeds the available
 * bytes throws `WireError`, and so does a list item of length zero, so that no loop over a list runs forever. The writer
 * grows as needed and fills in lengths once they are known.
 */

/** The error for malformed input. Its message is meant for the log and quotes no bytes. */
export class WireError extends Error {
  override readonly name = "WireError";
}

const HEX_UPPER = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, "0"));

/** Formats a MAC as `AA:BB:CC:DD:EE:FF`, the canonical form of the model. */
export function macText(bytes: Uint8Array): string {
  let text = HEX_UPPER[bytes[0] ?? 0] ?? "";
  for (let i = 1; i < bytes.length; i++) text += `:${HEX_UPPER[bytes[i] ?? 0]}`;
  return text;
}

export const macNumber = (text: string): number => Number.parseInt(text.replaceAll(":", ""), 16);

export const macBytes = (text: string): Uint8Array => Uint8Array.fromHex(text.replaceAll(":", ""));

/** Reads a number of `size` bytes, whose bounds the caller has checked. The result is exact up to 2^53. */
export function uint(bytes: Uint8Array, at: number, size: number): number {
  let value = 0;
  for (let i = at; i < at + size; i++) value = value * 256 + (bytes[i] ?? 0);
  return value;
}

/** Writes a number into `size` existing bytes. */
function putUint(bytes: Uint8Array, at: number, size: number, value: number): void {
  let rest = value;
  for (let i = at + size - 1; i >= at; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}

const utf8 = new TextDecoder("utf-8");

/** Reads a text field up to the first NUL. Invalid UTF-8 becomes U+FFFD. */
export function paddedText(bytes: Uint8Array): string {
  const nul = bytes.indexOf(0);
  return utf8.decode(nul < 0 ? bytes : bytes.subarray(0, nul));
}

// The reader combines bytes without a DataView, because creating one per message and frame costs more than the reads.
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, from = 0, to = bytes.length) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
  }

  get remaining(): number {
    return this.#end - this.#at;
  }

  #advance(count: number): number {
    const at = this.#at;
    if (count < 0 || count > this.#end - at)
      throw new WireError(`${count} bytes expected, ${this.remaining} left`);
    this.#at = at + count;
    return at;
  }

  u8(): number {
    return this.#bytes[this.#advance(1)] ?? 0;
  }

  u16(): number {
    const at = this.#advance(2);
    const bytes = this.#bytes;
    return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  }

  u32(): number {
    return this.u16() * 0x10000 + this.u16();
  }

  uint(size: number): number {
    return uint(this.#bytes, this.#advance(size), size);
  }

  u64(): bigint {
    return (BigInt(this.u32()) << 32n) | BigInt(this.u32());
  }

  /** Returns a view, not a copy. A caller that stores it must copy it. */
  bytes(count: number): Uint8Array {
    const at = this.#advance(count);
    return this.#bytes.subarray(at, at + count);
  }

  rest(): Uint8Array {
    return this.bytes(this.remaining);
  }

  skip(count: number): void {
    this.#advance(count);
  }

  mac(): string {
    return macText(this.bytes(6));
  }

  /** Returns a reader of the next `count` bytes and skips them here. */
  part(count: number): ByteReader {
    const at = this.#advance(count);
    return new ByteReader(this.#bytes, at, at + count);
  }

  /** Reads items until the end. Rejects an item that consumes no bytes, because the loop would not end. */
  list<T>(maxItems: number, item: (reader: ByteReader) => T): T[] {
    const items: T[] = [];
    while (this.remaining > 0) {
      if (items.length >= maxItems) throw new WireError(`more than ${maxItems} items`);
      const before = this.remaining;
      items.push(item(this));
      if (this.remaining === before) throw new WireError("an item without length");
    }
    return items;
  }
}

export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #at = 0;

  constructor(size = 128) {
    this.#bytes = new Uint8Array(size);
  }

  get length(): number {
    return this.#at;
  }

  /** Reserves bytes and returns their offset. Growing replaces the buffer, so callers use `#bytes` only afterwards. */
  #grow(count: number): number {
    const at = this.#at;
    if (at + count > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, at + count));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#at = at + count;
    return at;
  }

  u8(value: number): this {
    const at = this.#grow(1);
    this.#bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    const at = this.#grow(2);
    this.#bytes[at] = value >>> 8;
    this.#bytes[at + 1] = value;
    return this;
  }

  u32(value: number): this {
    return this.u16(value >>> 16).u16(value & 0xffff);
  }

  uint(value: number, size: number): this {
    const at = this.#grow(size);
    putUint(this.#bytes, at, size, value);
    return this;
  }

  u64(value: bigint): this {
    return this.u32(Number(value >> 32n)).u32(Number(value & 0xffffffffn));
  }

  bytes(bytes: Uint8Array): this {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  mac(text: string): this {
    return this.bytes(macBytes(text));
  }

  zeros(count: number): this {
    const at = this.#grow(count);
    this.#bytes.fill(0, at, this.#at);
    return this;
  }

  /** Writes text into a field of `size` bytes, terminated by a NUL. */
  padded(text: string, size: number): this {
    const bytes = new TextEncoder().encode(text).subarray(0, size - 1);
    return this.bytes(bytes).zeros(size - bytes.length);
  }

  /** Runs `body`, then writes the number of bytes since `from` into the u16 at `at`. */
  sized(at: number, from: number, body: () => void): this {
    body();
    const size = this.#at - from;
    this.#bytes[at] = size >>> 8;
    this.#bytes[at + 1] = size;
    return this;
  }

  /** Pads with zeros to a multiple of eight bytes counted from `from`. */
  alignFrom(from: number): this {
    return this.zeros((8 - ((this.#at - from) % 8)) % 8);
  }

  done(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#at);
  }
}
