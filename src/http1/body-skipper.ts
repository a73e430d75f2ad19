/** Finds the end of a request's body and throws away everything before it: no read here takes a body. */
import { type BodyLength, isField, ParseError } from "./request.ts";

/** Longer than any size or trailer that means well. */
const MAX_LINE = 4096;
const SIZE = /^([0-9a-fA-F]{1,12})(?:[ \t]*;[^\x00-\x08\x0a-\x1f\x7f]*)?$/;

type Part = "size" | "data" | "gap" | "trailer" | "over";

export class BodySkipper {
  #part: Part;
  /** Bytes to skip, of the body or of a chunk. */
  #left: number;
  readonly #chunked: boolean;
  #line = "";

  constructor(length: BodyLength) {
    this.#chunked = length === "chunked";
    this.#part = this.#chunked ? "size" : "data";
    this.#left = length === "chunked" ? 0 : length;
  }

  get over(): boolean {
    return this.#part === "over";
  }

  /** What is left of the bytes after the body. */
  take(bytes: Buffer): Buffer | ParseError {
    let rest = bytes;
    while (rest.length > 0 && this.#part !== "over") {
      if (this.#part === "data") {
        const skipped = Math.min(this.#left, rest.length);
        this.#left -= skipped;
        rest = rest.subarray(skipped);
        if (this.#left === 0) this.#part = this.#chunked ? "gap" : "over";
        continue;
      }
      const end = rest.indexOf(10);
      this.#line += rest.toString("latin1", 0, end < 0 ? rest.length : end + 1);
      if (this.#line.length > MAX_LINE)
        return new ParseError("bad-request", "A line among the chunks is too long.");
      if (end < 0) return rest.subarray(rest.length);
      rest = rest.subarray(end + 1);
      const fault = this.#endOfLine();
      if (fault) return fault;
    }
    return rest;
  }

  #endOfLine(): ParseError | undefined {
    const line = this.#line;
    this.#line = "";
    if (!line.endsWith("\r\n"))
      return new ParseError("bad-request", "A line among the chunks does not end in CR LF.");
    const text = line.slice(0, -2);
    if (this.#part === "trailer") {
      if (text === "") this.#part = "over";
      else if (!isField(text))
        return new ParseError("bad-request", "A line after the last chunk is not NAME: VALUE.");
      return undefined;
    }
    if (this.#part === "gap") {
      if (text !== "") return new ParseError("bad-request", "A chunk is longer than it says.");
      this.#part = "size";
      return undefined;
    }
    const size = SIZE.exec(text)?.[1];
    if (size === undefined)
      return new ParseError("bad-request", "The size of a chunk is not a hexadecimal number.");
    const length = Number.parseInt(size, 16);
    this.#part = length === 0 ? "trailer" : "data";
    this.#left = length;
    return undefined;
  }
}
