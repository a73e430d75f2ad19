/**
 * Splits a byte stream into OpenFlow messages (§7.1: version, type, length, transaction id). The framer buffers one
 * incomplete message (up to 64 KiB, because the length has 16 bits), or the rest of a chunk whose messages are handled
 * later. It copies nothing when messages arrive complete and are handled at once.
 */
import { HEADER_BYTES } from "./openflow-messages.ts";
import { WireError } from "./wire.ts";

const EMPTY = new Uint8Array(0);

export class MessageFramer {
  /** The maximum length of a message. The session lowers it until the hello, before which no long message is expected. */
  maxMessageBytes = 0xffff;
  #bytes: Uint8Array = EMPTY;
  #at = 0;
  /** The buffer of the bytes that were not read yet. */
  #buffer: Uint8Array = EMPTY;

  /** Number of bytes that were pushed and not read yet. */
  get bufferedBytes(): number {
    return this.#bytes.length - this.#at;
  }

  /** Adds received bytes. The caller must then call `next` until it returns undefined, or call `hold`. */
  push(chunk: Uint8Array): void {
    this.#bytes = this.bufferedBytes > 0 ? this.#append(chunk) : chunk;
    this.#at = 0;
  }

  /**
   * Returns the next complete message as a view that is valid until the next `push`, or undefined. Throws `WireError`
   * when the length in the header is invalid.
   */
  next(): Uint8Array | undefined {
    const bytes = this.#bytes;
    const at = this.#at;
    const available = bytes.length - at;
    if (available >= HEADER_BYTES) {
      const length = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
      if (length < HEADER_BYTES || length > this.maxMessageBytes)
        throw new WireError(`a message of ${length} bytes`);
      if (available >= length) {
        this.#at = at + length;
        return bytes.subarray(at, at + length);
      }
    }
    this.#retain(available);
    return undefined;
  }

  /** Copies the bytes that were not read yet: the chunk is valid only until the socket reads again. */
  hold(): void {
    this.#retain(this.bufferedBytes);
  }

  /** The buffer grows by doubling, so that a message that is sent byte by byte costs linear time. */
  #append(chunk: Uint8Array): Uint8Array {
    // Drops the messages that were read.
    if (this.#at > 0) this.#retain(this.bufferedBytes);
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

  /** Copies the unread bytes, at most once, because the chunk belongs to the socket. */
  #retain(byteCount: number): void {
    if (byteCount === 0) {
      this.#bytes = EMPTY;
      this.#buffer = EMPTY;
    } else if (this.#bytes.buffer !== this.#buffer.buffer || this.#at > 0) {
      this.#buffer = this.#bytes.slice(this.#at);
      this.#bytes = this.#buffer;
    }
    this.#at = 0;
  }
}
