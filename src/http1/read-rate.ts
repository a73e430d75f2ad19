/**
 * Finds clients that read a response too slowly. Bytes count when the socket accepts them, over windows of 30 s in which
 * the socket was full at every check. Shorter windows would be wrong: a client's kernel announces free space in steps of
 * several kB.
 */
import type { ResponseWriter } from "./response-writer.ts";

const WINDOW_MS = 30_000;

export class ReadRate {
  readonly #writer: ResponseWriter;
  #windowStart: number | undefined;
  #bytesBefore = 0;

  constructor(writer: ResponseWriter) {
    this.#writer = writer;
  }

  /**
   * To be called periodically while the socket is full. Returns what the window that ends now has shown, if one does, and
   * nothing when there is no minimum.
   */
  check(now: number, minBytesPerSecond: number): "slow" | "progress" | undefined {
    if (minBytesPerSecond === 0) return undefined;
    if (this.#windowStart === undefined) this.#startWindow(now);
    const elapsedMs = now - (this.#windowStart ?? now);
    if (elapsedMs < WINDOW_MS) return undefined;
    // The runtime reports a socket as writable only when much of its buffer is free, so a slow client may have read
    // something without a report.
    this.#writer.flush();
    const bytes = this.#writer.acceptedBytes - this.#bytesBefore;
    this.#startWindow(now);
    if (!this.#writer.blocked) return "progress";
    return (bytes * 1000) / elapsedMs < minBytesPerSecond ? "slow" : "progress";
  }

  /** The socket was not full. */
  reset(): void {
    this.#windowStart = undefined;
  }

  #startWindow(now: number): void {
    this.#windowStart = now;
    this.#bytesBefore = this.#writer.acceptedBytes;
  }
}
