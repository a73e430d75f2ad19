/**
 * Turns the bytes of a connection into requests, regardless of how the network split them. Each call does a bounded
 * piece of work: it parses one head, or skips a slice of a body.
 */
import { BodySkipper } from "./body-skipper.ts";
import { findTargetEnd, ParseError, parseHead, type Request, withTarget } from "./request.ts";

export interface HeadLimits {
  readonly maxUrlBytes: number;
  readonly maxHeadBytes: number;
}

/** Maximum size of a body that is skipped if its request is not authenticated. `allowBody` raises it. */
export const MAX_REFUSED_BODY_BYTES = 64 * 1024;
/** Maximum size of a body that is skipped if its request is authenticated. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Maximum size of a head that is kept to recognize a repetition. It is small so that idle connections hold little memory. */
const MAX_REPEAT_HEAD_BYTES = 2048;
/** Room for the method, the version and the line end around the target of a request line. */
const REQUEST_LINE_OVERHEAD_BYTES = 64;
const EMPTY = Buffer.alloc(0);
const HEAD_END = Buffer.from("\r\n\r\n");
const CR = 13;
const LF = 10;
const SLASH = 0x2f;
const SPACE = 0x20;

export class RequestParser {
  readonly #limits: HeadLimits;
  #bytes: Buffer = EMPTY;
  /** Number of buffered bytes that were searched and contain no end of a head. */
  #scannedBytes = 0;
  /** Bytes of empty lines before the next head. They are limited like the bytes of a head. */
  #emptyLineBytes = 0;
  #bodySkipper: BodySkipper | undefined;
  /** The bytes of the previous head, if it was short, and the end of the target in them. */
  #previousHead: Buffer | undefined;
  #previousTargetEnd = 0;
  #previousRequest: Request | undefined;

  constructor(limits: HeadLimits) {
    this.#limits = limits;
  }

  get bufferedBytes(): number {
    return this.#bytes.length;
  }

  /** The memory of the buffered bytes, which may be a part of a larger buffer. */
  get heldBytes(): number {
    return this.#bytes.length === 0 ? 0 : this.#bytes.buffer.byteLength;
  }

  /** Whether the rest of a request body is still to come. */
  get inBody(): boolean {
    return this.#bodySkipper !== undefined;
  }

  /** Returns the previous request if `bytes` are exactly its bytes, so that a repeated request is not parsed again. */
  matchRepeat(bytes: Buffer): Request | undefined {
    return this.#bytes.length === 0 ? this.#repeatedBy(bytes) : undefined;
  }

  #repeatedBy(bytes: Buffer): Request | undefined {
    const head = this.#previousHead;
    const isSame =
      head?.length === bytes.length && this.#previousRequest?.bodyLength === 0 && head.equals(bytes);
    return isSame ? this.#previousRequest : undefined;
  }

  /** Adds received bytes. */
  push(bytes: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
  }

  /** Drops the buffered bytes. The parser must not be used after it. */
  clear(): void {
    this.#bytes = EMPTY;
  }

  /** Raises the maximum size of the body of the request that `next` returned last. */
  allowBody(maxBytes: number): void {
    if (this.#bodySkipper) this.#bodySkipper.maxBytes = maxBytes;
  }

  /** Whether a call of `next` or `skipBody` can make progress without further bytes. */
  get hasWork(): boolean {
    return this.#bodySkipper
      ? this.#bytes.length > 0 || this.#bodySkipper.exceeded
      : this.#bytes.length > this.#scannedBytes;
  }

  /** Whether the body is longer than allowed, so that the next request cannot be found after it. */
  get bodyExceeded(): boolean {
    return this.#bodySkipper?.exceeded === true;
  }

  /** Skips buffered bytes of the body, at most one slice. After an error the parser must not be used. */
  skipBody(): ParseError | undefined {
    const rest = this.#bodySkipper?.skip(this.#bytes);
    if (rest instanceof ParseError) return rest;
    if (rest) this.#bytes = rest.length === 0 ? EMPTY : rest;
    if (this.#bodySkipper?.done) this.#bodySkipper = undefined;
    return undefined;
  }

  /**
   * Returns the next request, or undefined while it is incomplete. It must not be called while `inBody`. After an error the
   * parser must not be used. A malformed part of the body that arrived with the head is an error too.
   */
  next(): Request | ParseError | undefined {
    this.#skipEmptyLines();
    const bytes = this.#bytes;
    if (bytes.length === 0 && this.#emptyLineBytes <= this.#limits.maxHeadBytes) return undefined;
    // A repeated request arrives here, and not in `matchRepeat`, when it had to wait for its turn.
    const repeated = this.#repeatedBy(bytes);
    if (repeated) return this.#take(repeated, bytes.length);
    const similar = this.#nextSimilar(bytes);
    if (similar) return similar;
    const end = bytes.indexOf(HEAD_END, Math.max(0, this.#scannedBytes - HEAD_END.length));
    const tooLarge = this.#checkSize(bytes, end);
    if (tooLarge) return tooLarge;
    if (end < 0) return this.#waitForHeadEnd(bytes);
    return this.#begin(parseHead(bytes.toString("latin1", 0, end)), bytes, end + HEAD_END.length);
  }

  /**
   * Returns the next request if its head has the method of the previous one and repeats everything after the target, as nearly
   * all heads on a connection do. Comparing the bytes takes a fraction of the time of parsing them.
   */
  #nextSimilar(bytes: Buffer): Request | ParseError | undefined {
    const head = this.#previousHead;
    const previous = this.#previousRequest;
    if (!head || !previous || this.#emptyLineBytes > 0) return undefined;
    const start = previous.method.length + 1;
    for (let i = 0; i < start; i++) if (bytes[i] !== head[i]) return undefined;
    // Any other target is parsed with its whole head.
    if (bytes[start] !== SLASH) return undefined;
    const targetEnd = findTargetEnd(bytes, start);
    const length = targetEnd + head.length - this.#previousTargetEnd;
    const isSimilar =
      bytes[targetEnd] === SPACE &&
      length <= bytes.length &&
      length - HEAD_END.length <= this.#limits.maxHeadBytes &&
      bytes.compare(head, this.#previousTargetEnd, head.length, targetEnd, length) === 0;
    if (!isSimilar) return undefined;
    const request = withTarget(previous, bytes.toString("latin1", start, targetEnd));
    return this.#begin(request, bytes, length, targetEnd);
  }

  /** Begins a request, whose head has `length` bytes. */
  #begin(
    request: Request | ParseError,
    bytes: Buffer,
    length: number,
    targetEnd?: number,
  ): Request | ParseError {
    if (request instanceof ParseError) return request;
    this.#rememberPrevious(request, bytes, length, targetEnd);
    this.#take(request, length);
    if (request.bodyLength === 0) return request;
    const { maxHeadBytes } = this.#limits;
    this.#bodySkipper = new BodySkipper(request.bodyLength, MAX_REFUSED_BODY_BYTES, maxHeadBytes);
    return this.skipBody() ?? request;
  }

  /** Removes the head of the request from the buffer. */
  #take(request: Request, headBytes: number): Request {
    const bytes = this.#bytes;
    this.#scannedBytes = 0;
    this.#emptyLineBytes = 0;
    this.#bytes = headBytes === bytes.length ? EMPTY : bytes.subarray(headBytes);
    return request;
  }

  /** Skips empty lines, because some clients send one after a request (RFC 9112, 2.2). */
  #skipEmptyLines(): void {
    const bytes = this.#bytes;
    let at = 0;
    while (bytes[at] === CR && bytes[at + 1] === LF) at += 2;
    if (at === 0) return;
    this.#bytes = bytes.subarray(at);
    this.#scannedBytes = 0;
    this.#emptyLineBytes += at;
  }

  #checkSize(bytes: Buffer, end: number): ParseError | undefined {
    const { maxHeadBytes, maxUrlBytes } = this.#limits;
    if (this.#emptyLineBytes > maxHeadBytes)
      return new ParseError("bad-request", "There are too many empty lines before the request.");
    const size = end < 0 ? bytes.length : end;
    // While the end of the head is not found, the buffer may contain all of its bytes except the last one.
    if (size <= maxHeadBytes || (end < 0 && size < maxHeadBytes + HEAD_END.length)) return undefined;
    const lineEnd = bytes.indexOf(LF);
    // The handler rejects a URL that is too long but fits into the head, after it has checked the credentials.
    if ((lineEnd < 0 ? size : lineEnd) > maxUrlBytes + REQUEST_LINE_OVERHEAD_BYTES)
      return new ParseError("uri-too-long", `The URL is longer than the limit of ${maxUrlBytes} bytes.`);
    return new ParseError(
      "headers-too-large",
      `The headers are longer than the limit of ${maxHeadBytes} bytes.`,
    );
  }

  /** Scans only new bytes, so that a head that arrives byte by byte costs no more than one that arrives at once. */
  #waitForHeadEnd(bytes: Buffer): ParseError | undefined {
    for (let at = bytes.indexOf(LF, this.#scannedBytes); at >= 0; at = bytes.indexOf(LF, at + 1)) {
      if (bytes[at - 1] !== CR)
        return new ParseError("bad-request", "A line of the head does not end in CR LF.");
    }
    this.#scannedBytes = bytes.length;
    // The copy keeps a few buffered bytes from holding the large buffer that they arrived in.
    if (bytes.buffer.byteLength > 4 * bytes.length) this.#bytes = Buffer.from(bytes);
    return undefined;
  }

  #rememberPrevious(
    request: Request,
    bytes: Buffer,
    length: number,
    targetEnd = findTargetEnd(bytes, request.method.length + 1),
  ): void {
    const isShort = length <= MAX_REPEAT_HEAD_BYTES;
    this.#previousRequest = isShort ? request : undefined;
    // Nearly all heads are received alone, in a buffer of their own, which needs no copy. The rest of a buffer has an offset.
    const isAlone = length === bytes.length && bytes.byteOffset === 0;
    this.#previousHead = isShort ? (isAlone ? bytes : Buffer.from(bytes.subarray(0, length))) : undefined;
    this.#previousTargetEnd = targetEnd;
  }
}
