/**
 * What a client sends, taken apart into requests: the same ones, wherever the network cut the bytes. A body is thrown
 * away as it comes, so what is held is heads that are not whole yet, and requests that wait for their turn.
 */
import { BodySkipper } from "./body-skipper.ts";
import { ParseError, parseHead, type Request } from "./request.ts";

export interface HeadLimits {
  readonly urlBytes: number;
  readonly headBytes: number;
}

/** A longer head is read anew each time. */
const MAX_REPEATED = 2048;
/** Method, version, line end. */
const MAX_AROUND_TARGET = 64;
const EMPTY = Buffer.alloc(0);
const HEAD_END = Buffer.from("\r\n\r\n");
const CR = 13;
const LF = 10;

export class RequestParser {
  readonly #limits: HeadLimits;
  #bytes: Buffer = EMPTY;
  /** So many of them were looked at, and have no end of a head. */
  #seen = 0;
  #skipper: BodySkipper | undefined;
  #lastHead: Buffer | undefined;
  #last: Request | undefined;

  constructor(limits: HeadLimits) {
    this.#limits = limits;
  }

  /** How many bytes wait here. */
  get size(): number {
    return this.#bytes.length;
  }

  /** Whether the rest of a body is still to come. */
  get inBody(): boolean {
    return this.#skipper !== undefined;
  }

  /** A client that asks the same again, word for word, is spared the reading of it. */
  repeated(bytes: Buffer): Request | undefined {
    const head = this.#lastHead;
    return head?.length === bytes.length && this.#bytes.length === 0 && head.equals(bytes)
      ? this.#last
      : undefined;
  }

  /** A fault is one of the body of the request that was given last: what follows it has no beginning to be trusted. */
  add(bytes: Buffer): ParseError | undefined {
    const rest = this.#skipper ? this.#skipper.take(bytes) : bytes;
    if (this.#skipper?.over) this.#skipper = undefined;
    if (rest instanceof ParseError) return rest;
    this.#bytes = this.#bytes.length === 0 ? rest : Buffer.concat([this.#bytes, rest]);
    return undefined;
  }

  /** The next request; undefined while it is not whole. After a fault there is none. */
  next(): Request | ParseError | undefined {
    this.#skipEmptyLines();
    const bytes = this.#bytes;
    if (bytes.length === 0) return undefined;
    const end = bytes.indexOf(HEAD_END, Math.max(0, this.#seen - HEAD_END.length));
    const fault = this.#tooLong(bytes, end);
    if (fault) return fault;
    if (end < 0) return this.#notYet(bytes);
    const request = parseHead(bytes.toString("latin1", 0, end), this.#last);
    if (request instanceof ParseError) return request;
    const length = end + HEAD_END.length;
    this.#remember(request, bytes, length);
    this.#seen = 0;
    this.#bytes = EMPTY;
    if (request.bodyLength !== 0) this.#skipper = new BodySkipper(request.bodyLength);
    if (length === bytes.length) return request;
    return this.add(bytes.subarray(length)) ?? request;
  }

  /** Left over from some client's last request. */
  #skipEmptyLines(): void {
    const bytes = this.#bytes;
    let at = 0;
    while (bytes[at] === CR && bytes[at + 1] === LF) at += 2;
    if (at === 0) return;
    this.#bytes = bytes.subarray(at);
    this.#seen = 0;
  }

  #tooLong(bytes: Buffer, end: number): ParseError | undefined {
    const { headBytes, urlBytes } = this.#limits;
    const size = end < 0 ? bytes.length : end;
    // All but the last byte of the end may be here.
    if (size <= headBytes || (end < 0 && size < headBytes + HEAD_END.length)) return undefined;
    const lineEnd = bytes.indexOf(LF);
    // A shorter one is refused by whoever answers, and only to who may know.
    if ((lineEnd < 0 ? size : lineEnd) > urlBytes + MAX_AROUND_TARGET)
      return new ParseError(
        "uri-too-long",
        `The address is longer than the ${urlBytes} bytes that are taken.`,
      );
    return new ParseError(
      "headers-too-large",
      `The headers are longer than the ${headBytes} bytes that are taken.`,
    );
  }

  /** Looks at new bytes only: a head that comes byte by byte costs no more than one that comes at once. */
  #notYet(bytes: Buffer): ParseError | undefined {
    for (let at = bytes.indexOf(LF, this.#seen); at >= 0; at = bytes.indexOf(LF, at + 1)) {
      if (bytes[at - 1] !== CR)
        return new ParseError("bad-request", "A line of the head does not end in CR LF.");
    }
    this.#seen = bytes.length;
    // A few bytes must not hold on to all that came with them.
    if (bytes.buffer.byteLength > 4 * bytes.length) this.#bytes = Buffer.from(bytes);
    return undefined;
  }

  #remember(request: Request, bytes: Buffer, length: number): void {
    const short = length <= MAX_REPEATED;
    this.#last = short ? request : undefined;
    this.#lastHead =
      short && request.bodyLength === 0 && length === bytes.length ? Buffer.from(bytes) : undefined;
  }
}
