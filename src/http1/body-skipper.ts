/**
 * Skips the body of a request and finds its end. Nothing of the body is kept, because no handler reads one. The bytes of
 * the framing (sizes of chunks, trailers) count as bytes of the body, so that a body of tiny chunks is bounded like any
 * other, and one call parses a bounded number of lines.
 */
import { type BodyLength, isHeaderLine, ParseError } from "./request.ts";

/** Maximum length of a chunk-size line or a trailer line. No real client sends longer ones. */
const MAX_CHUNK_LINE_BYTES = 4096;
/** Number of lines (chunk sizes, chunk ends and trailers) that one call of `skip` parses. */
const MAX_LINES_PER_CALL = 256;
const CHUNK_SIZE_LINE = /^([0-9a-fA-F]{1,12})(?:[ \t]*;[^\x00-\x08\x0a-\x1f\x7f]*)?$/;
const LF = 10;

/** The part of the body that is skipped next. "chunk-end" is the line end after the bytes of a chunk. */
type SkipState = "chunk-size" | "data" | "chunk-end" | "trailer" | "done";

export class BodySkipper {
  /** Number of bytes that may be skipped, framing included. The owner may raise it. */
  maxBytes: number;
  readonly #maxTrailerBytes: number;
  readonly #chunked: boolean;
  #state: SkipState;
  /** Bytes of the body, or of the current chunk, that are still to be skipped. */
  #remainingBytes: number;
  #skippedBytes = 0;
  #trailerBytes = 0;
  #line = "";

  constructor(length: BodyLength, maxBytes: number, maxTrailerBytes: number) {
    this.maxBytes = maxBytes;
    this.#maxTrailerBytes = maxTrailerBytes;
    this.#chunked = length === "chunked";
    this.#state = this.#chunked ? "chunk-size" : "data";
    this.#remainingBytes = length === "chunked" ? 0 : length;
  }

  get done(): boolean {
    return this.#state === "done";
  }

  /** Whether `maxBytes` have been skipped and the body has not ended. */
  get exceeded(): boolean {
    return this.#skippedBytes >= this.maxBytes && !this.done;
  }

  /** Returns the bytes that it did not skip: those after the end of the body, or beyond a limit of this call. */
  skip(bytes: Buffer): Buffer | ParseError {
    let at = 0;
    const end = Math.min(bytes.length, this.maxBytes - this.#skippedBytes);
    for (let lines = 0; at < end && this.#state !== "done" && lines < MAX_LINES_PER_CALL; ) {
      if (this.#state === "data") {
        at += this.#skipData(end - at);
        continue;
      }
      lines++;
      const found = bytes.indexOf(LF, at);
      const lineEnd = found < 0 || found >= end ? end : found + 1;
      this.#line += bytes.toString("latin1", at, lineEnd);
      if (this.#line.length > MAX_CHUNK_LINE_BYTES)
        return new ParseError("bad-request", "A line among the chunks is too long.");
      at = lineEnd;
      if (!this.#line.endsWith("\n")) break;
      const error = this.#parseLine();
      if (error) return error;
    }
    this.#skippedBytes += at;
    return at === 0 ? bytes : bytes.subarray(at);
  }

  #skipData(available: number): number {
    const skipped = Math.min(this.#remainingBytes, available);
    this.#remainingBytes -= skipped;
    if (this.#remainingBytes === 0) this.#state = this.#chunked ? "chunk-end" : "done";
    return skipped;
  }

  #parseLine(): ParseError | undefined {
    const line = this.#line;
    this.#line = "";
    if (!line.endsWith("\r\n"))
      return new ParseError("bad-request", "A line among the chunks does not end in CR LF.");
    const text = line.slice(0, -2);
    if (this.#state === "trailer") {
      this.#trailerBytes += line.length;
      if (this.#trailerBytes > this.#maxTrailerBytes)
        return new ParseError("headers-too-large", "The lines after the last chunk are too long.");
      if (text === "") this.#state = "done";
      else if (!isHeaderLine(text))
        return new ParseError("bad-request", "A line after the last chunk is not NAME: VALUE.");
      return undefined;
    }
    if (this.#state === "chunk-end") {
      if (text !== "") return new ParseError("bad-request", "A chunk is longer than it says.");
      this.#state = "chunk-size";
      return undefined;
    }
    const size = CHUNK_SIZE_LINE.exec(text)?.[1];
    if (size === undefined)
      return new ParseError("bad-request", "The size of a chunk is not a hexadecimal number.");
    const length = Number.parseInt(size, 16);
    this.#state = length === 0 ? "trailer" : "data";
    this.#remainingBytes = length;
    return undefined;
  }
}
