/**
 * Cuts a byte stream into OpenFlow messages (§7.1): version, type, length, transaction. Holds at most one
 * unfinished message (64 KiB, as the length has 16 bits) and copies nothing when messages arrive whole.
 */
import { HEADER_BYTES } from "./messages.ts";
import { WireError } from "./wire.ts";

export class Framing {
  /** The longest message taken now. Before its hello nobody has a reason to send much. */
  longest = 0xffff;
  #store = new Uint8Array(0);
  #held = 0;

  /** Bytes of a message that is not whole yet. */
  get held(): number {
    return this.#held;
  }

  /**
   * The whole messages that `chunk` completes, as views that are good until the next call. Throws `WireError` when
   * the stream cannot be cut any further.
   */
  *push(chunk: Uint8Array): Generator<Uint8Array> {
    const bytes = this.#held > 0 ? this.#append(chunk) : chunk;
    this.#held = 0;
    let at = 0;
    while (bytes.length - at >= HEADER_BYTES) {
      const length = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
      if (length < HEADER_BYTES || length > this.longest) throw new WireError(`a message of ${length} bytes`);
      if (bytes.length - at < length) break;
      const message = bytes.subarray(at, at + length);
      at += length;
      yield message;
    }
    this.#hold(bytes.subarray(at));
  }

  /** Grows by doubling, so that a message sent byte by byte costs what its bytes cost, not their square. */
  #append(chunk: Uint8Array): Uint8Array {
    const length = this.#held + chunk.length;
    if (length > this.#store.length) {
      const larger = new Uint8Array(Math.max(length, this.#store.length * 2));
      larger.set(this.#store.subarray(0, this.#held));
      this.#store = larger;
    }
    this.#store.set(chunk, this.#held);
    return this.#store.subarray(0, length);
  }

  #hold(rest: Uint8Array): void {
    if (rest.length === 0) {
      this.#store = new Uint8Array(0);
    } else if (rest.buffer !== this.#store.buffer || rest.byteOffset !== 0) {
      this.#store = rest.slice();
    }
    this.#held = rest.length;
  }
}
