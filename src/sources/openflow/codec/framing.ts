/**
 * Cuts a byte stream into OpenFlow messages (§7.1): version, type, length, transaction. Holds at most one
 * unfinished message (64 KiB, as the length has 16 bits) and copies nothing when messages arrive whole.
 */
import { HEADER_BYTES } from "./messages.ts";
import { WireError } from "./wire.ts";

const EMPTY = new Uint8Array(0);

export class MessageFramer {
  /** The longest message taken now. Before its hello nobody has a reason to send much. */
  maxMessageBytes = 0xffff;
  #bytes: Uint8Array = EMPTY;
  #at = 0;
  /** Where a message that is not whole yet is put together. */
  #buffer: Uint8Array = EMPTY;

  /** Bytes of a message that is not whole yet. */
  get bufferedBytes(): number {
    return this.#bytes.length - this.#at;
  }

  /** Takes in the next bytes; `next` then gives the messages they complete, and must be asked until it has none. */
  push(chunk: Uint8Array): void {
    this.#bytes = this.bufferedBytes > 0 ? this.#append(chunk) : chunk;
    this.#at = 0;
  }

  /**
   * The next whole message, as a view that is good until the next `push`, or undefined: then what is left is kept.
   * Throws `WireError` when the stream cannot be cut any further.
   */
  next(): Uint8Array | undefined {
    const bytes = this.#bytes;
    const at = this.#at;
    const left = bytes.length - at;
    if (left >= HEADER_BYTES) {
      const length = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
      if (length < HEADER_BYTES || length > this.maxMessageBytes)
        throw new WireError(`a message of ${length} bytes`);
      if (left >= length) {
        this.#at = at + length;
        return bytes.subarray(at, at + length);
      }
    }
    this.#retain(left);
    return undefined;
  }

  /** Grows by doubling, so that a message sent byte by byte costs what its bytes cost, not their square. */
  #append(chunk: Uint8Array): Uint8Array {
    const held = this.bufferedBytes;
    const length = held + chunk.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, this.#buffer.length * 2));
      larger.set(this.#bytes.subarray(this.#at));
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, held);
    return this.#buffer.subarray(0, length);
  }

  /** The chunk belongs to the socket, so what is left of it is copied; once it is, it stays where it is. */
  #retain(left: number): void {
    if (left === 0) {
      this.#bytes = EMPTY;
      this.#buffer = EMPTY;
    } else if (this.#bytes.buffer !== this.#buffer.buffer || this.#at > 0) {
      this.#buffer = this.#bytes.slice(this.#at);
      this.#bytes = this.#buffer;
    }
    this.#at = 0;
  }
}
