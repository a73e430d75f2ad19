/** Skips the body of a request and finds its end. Nothing of the body is kept, because no handler reads one. */
import { type BodyLength, isHeaderLine, ParseError } from "./request.ts";

/** Longer than any chunk size or trailer of a real client. */
const MAX_CHUNK_LINE_BYTES = 4096;
const CHUNK_SIZE_LINE = /^([0-9a-fA-F]{1,12})(?:[ \t]*;[^\x00-\x08\x0a-\x1f\x7f]*)?$/;
const LF = 10;

/** "chunk-end": the empty line after the bytes of a chunk. */
type SkipState = "chunk-size" | "data" | "chunk-end" | "trailer" | "done";

export class BodySkipper {
  #state: SkipState;
  /** Bytes of the body, or of the current chunk, that are still to be skipped. */
  #remainingBytes: number;
  readonly #chunked: boolean;
  #line = "";

  constructor(length: BodyLength) {
    this.#chunked = length === "chunked";
    this.#state = this.#chunked ? "chunk-size" : "data";
    this.#remainingBytes = length === "chunked" ? 0 : length;
  }

  get done(): boolean {
    return this.#state === "done";
  }

  /** Returns the bytes behind the end of the body. */
  skip(bytes: Buffer): Buffer | ParseError {
    let rest = bytes;
    while (rest.length > 0 && this.#state !== "done") {
      if (this.#state === "data") {
        const skipped = Math.min(this.#remainingBytes, rest.length);
        this.#remainingBytes -= skipped;
        rest = rest.subarray(skipped);
        if (this.#remainingBytes === 0) this.#state = this.#chunked ? "chunk-end" : "done";
        continue;
      }
      const end = rest.indexOf(LF);
      this.#line += rest.toString("latin1", 0, end < 0 ? rest.length : end + 1);
      if (this.#line.length > MAX_CHUNK_LINE_BYTES)
        return new ParseError("bad-request", "A line among the chunks is too long.");
      if (end < 0) return rest.subarray(rest.length);
      rest = rest.subarray(end + 1);
      const error = this.#parseLine();
      if (error) return error;
    }
    return rest;
  }

  #parseLine(): ParseError | undefined {
    const line = this.#line;
    this.#line = "";
    if (!line.endsWith("\r\n"))
      return new ParseError("bad-request", "A line among the chunks does not end in CR LF.");
    const text = line.slice(0, -2);
    if (this.#state === "trailer") {
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
