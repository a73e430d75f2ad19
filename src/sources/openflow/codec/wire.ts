/**
 * Reading and writing network byte order, with every bound checked. What arrives is hostile: a length that does not
 * fit what is there raises `WireError`, never reads past the end and never reads nothing, so that no loop over a
 * list can stand still. The writer grows by itself and patches lengths once they are known.
 */

/** Bytes that do not mean what they claim to. The message is for the log; it quotes no bytes. */
export class WireError extends Error {
  override readonly name = "WireError";
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const HEX_UPPER = HEX.map((pair) => pair.toUpperCase());

export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** `AA:BB:CC:DD:EE:FF`, the canonical form of the model. */
export function macText(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += text === "" ? HEX_UPPER[byte] : `:${HEX_UPPER[byte]}`;
  return text;
}

export function macBytes(text: string): Uint8Array {
  return Uint8Array.from(text.split(":"), (pair) => Number.parseInt(pair, 16));
}

const utf8 = new TextDecoder("utf-8");

/** A fixed-size text field: up to the first NUL; bytes that are no UTF-8 become U+FFFD. */
export function paddedText(bytes: Uint8Array): string {
  const nul = bytes.indexOf(0);
  return utf8.decode(nul < 0 ? bytes : bytes.subarray(0, nul));
}

export class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, from = 0, to = bytes.length) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = from;
    this.#end = to;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  #take(count: number): number {
    const at = this.#at;
    if (count < 0 || count > this.#end - at) throw new WireError(`${count} bytes wanted, ${this.left} left`);
    this.#at = at + count;
    return at;
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2));
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8));
  }

  /** A view of the next bytes, not a copy: whoever keeps it copies it. */
  bytes(count: number): Uint8Array {
    const at = this.#take(count);
    return this.#bytes.subarray(at, at + count);
  }

  rest(): Uint8Array {
    return this.bytes(this.left);
  }

  skip(count: number): void {
    this.#take(count);
  }

  mac(): string {
    return macText(this.bytes(6));
  }

  /** A reader of just the next `count` bytes; this one goes on behind them. */
  part(count: number): Reader {
    const at = this.#take(count);
    return new Reader(this.#bytes, at, at + count);
  }

  /** Reads items until nothing is left. An item that reads nothing would never end, so it is refused. */
  list<T>(most: number, item: (reader: Reader) => T): T[] {
    const items: T[] = [];
    while (this.left > 0) {
      if (items.length >= most) throw new WireError(`more than ${most} items`);
      const before = this.left;
      items.push(item(this));
      if (this.left === before) throw new WireError("an item without length");
    }
    return items;
  }
}

export class Writer {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #at = 0;

  constructor(size = 128) {
    this.#bytes = new Uint8Array(size);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#at;
  }

  /** Makes room and answers where it is. Called on a line of its own: growing replaces the buffer. */
  #grow(count: number): number {
    const at = this.#at;
    if (at + count > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, at + count));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    this.#at = at + count;
    return at;
  }

  u8(value: number): this {
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
    return this;
  }

  u16(value: number): this {
    const at = this.#grow(2);
    this.#view.setUint16(at, value);
    return this;
  }

  u32(value: number): this {
    const at = this.#grow(4);
    this.#view.setUint32(at, value);
    return this;
  }

  u64(value: bigint): this {
    const at = this.#grow(8);
    this.#view.setBigUint64(at, value);
    return this;
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

  /** Text in a field of `size` bytes, always ended by a NUL. */
  padded(text: string, size: number): this {
    const bytes = new TextEncoder().encode(text).subarray(0, size - 1);
    return this.bytes(bytes).zeros(size - bytes.length);
  }

  /** Runs `body` and then writes how many bytes it added, counting from `from`, into the u16 at `at`. */
  sized(at: number, from: number, body: () => void): this {
    body();
    this.#view.setUint16(at, this.#at - from);
    return this;
  }

  /** Zeros up to the next multiple of eight bytes counted from `from`. */
  alignFrom(from: number): this {
    return this.zeros((8 - ((this.#at - from) % 8)) % 8);
  }

  done(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#at);
  }
}
