/**
 * Responses as bytes: the text of a head, and responses that are serialized once and sent many times. A head contains the
 * date, so a serialized response is valid for one second and then gets a new date line.
 */
import type { SharedMemory } from "../lib/memory-budget.ts";
import { type CommonHeaders, NO_SNIFF } from "./common-headers.ts";

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  410: "Gone",
  414: "URI Too Long",
  421: "Misdirected Request",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  505: "HTTP Version Not Supported",
};

const STATUS_LINES: ReadonlyMap<number, string> = new Map(
  Object.entries(REASONS).map(([status, reason]) => [Number(status), `HTTP/1.1 ${status} ${reason}\r\n`]),
);

/** Matches characters that a header value must not contain. A line break would start another header (response splitting). */
const INVALID_HEADER_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Returns the status line and headers, without those that depend on the time and without the empty line at the end. */
function serializeHead(
  status: number,
  headers: Readonly<Record<string, string>>,
  common: CommonHeaders,
): string {
  let lines = "";
  let values = "";
  let hasCommon = false;
  for (const name in headers) {
    const value = headers[name] ?? "";
    values += value;
    lines += `${name}: ${value}\r\n`;
    hasCommon ||= common.has(name);
  }
  // All values are tested at once, because a test of each would take longer than the rest of this function.
  if (INVALID_HEADER_VALUE.test(values)) throw invalidHeader(headers);
  const commonLines = hasCommon ? common.linesFor(headers) : common.lines;
  return `${statusLine(status)}${commonLines}${lines}`;
}

const statusLine = (status: number): string => STATUS_LINES.get(status) ?? `HTTP/1.1 ${status} \r\n`;

function invalidHeader(headers: Readonly<Record<string, string>>): Error {
  const [name, value] = Object.entries(headers).find(([, text]) => INVALID_HEADER_VALUE.test(text)) ?? [];
  return new Error(`the header ${name} cannot be sent: ${JSON.stringify(value)}`);
}

/** Returns the status line and all headers, without the empty line at the end. */
export const serializeTimedHead = (
  status: number,
  headers: Readonly<Record<string, string>>,
  nowMs: number,
  common: CommonHeaders = NO_SNIFF,
): string => serializeHead(status, headers, common) + common.timedLines(nowMs);

export const statusAllowsBody = (status: number): boolean => status !== 204 && status !== 304;

const DIGIT_0 = 0x30;
const LETTER_A = 0x61;
const LINE_END = "\r\n";
const HEAD_END = "\r\n\r\n";

/** A text in ASCII that is written without a string. */
export interface WritableText {
  /** Returns the position after it. */
  write(into: Buffer, start: number): number;
  toString(): string;
}

/**
 * Heads that differ only in two header values, the date, and the length of the body. The other bytes are copied, which takes
 * a fraction of the time of writing a text of many pieces.
 */
export class HeadTemplate {
  readonly #beforeText: Buffer;
  readonly #beforeNumber: Buffer;
  /** The lines after the number, without those that depend on the time. */
  readonly #lastLines: string;
  readonly #hasBody: boolean;
  readonly #common: CommonHeaders;
  #timedLines = "";
  #afterNumber = Buffer.alloc(0);

  /**
   * `lines` are the header lines before, between and after the two values, which are a text and a whole number. None of them may
   * be one of the common headers.
   */
  constructor(
    status: number,
    [beforeText, beforeNumber, lastLines]: readonly [string, string, string],
    common: CommonHeaders,
  ) {
    this.#beforeText = Buffer.from(`${statusLine(status)}${common.lines}${beforeText}`, "latin1");
    this.#beforeNumber = Buffer.from(beforeNumber, "latin1");
    this.#lastLines = lastLines;
    this.#hasBody = statusAllowsBody(status);
    this.#common = common;
  }

  /** Writes a head. `text` is ASCII. Returns its length. */
  write(into: Buffer, text: string | WritableText, number: number, length: number, nowMs: number): number {
    const timedLines = this.#common.timedLines(nowMs);
    if (timedLines !== this.#timedLines) this.#setTimedLines(timedLines);
    let at = this.#beforeText.copy(into);
    at = typeof text === "string" ? writeAscii(into, at, text) : text.write(into, at);
    at += this.#beforeNumber.copy(into, at);
    at = writeNumber(into, at, number);
    at += this.#afterNumber.copy(into, at);
    return this.#hasBody ? writeAscii(into, writeNumber(into, at, length), HEAD_END) : at;
  }

  #setTimedLines(timedLines: string): void {
    this.#timedLines = timedLines;
    const end = this.#hasBody ? "Content-Length: " : LINE_END;
    this.#afterNumber = Buffer.from(`${this.#lastLines}${timedLines}${end}`, "latin1");
  }
}

/** Writes a text of ASCII characters. Returns the position after it, as the functions below do. */
export function writeAscii(into: Buffer, start: number, text: string): number {
  for (let i = 0; i < text.length; i++) into[start + i] = text.charCodeAt(i);
  return start + text.length;
}

/** Writes a whole number, as `number.toString(radix)` does. */
export function writeNumber(into: Buffer, start: number, number: number, radix = 10): number {
  let end = start;
  for (let rest = number; end === start || rest > 0; rest = Math.floor(rest / radix)) end++;
  for (let at = end - 1, rest = number; at >= start; at--, rest = Math.floor(rest / radix)) {
    const digit = rest % radix;
    into[at] = digit < 10 ? DIGIT_0 + digit : LETTER_A + digit - 10;
  }
  return end;
}

/** Size up to which a body is copied behind its head, so that both need one write. A larger body is not copied. */
const MAX_COPIED_BODY_BYTES = 256 * 1024;
/** Whether a body of this length is copied each time it is sent. */
export const isCopied = (bytes: number): boolean => bytes <= MAX_COPIED_BODY_BYTES;
/** Bytes of a large body that are sent with the head, because a packet with the head alone would be useless to the client. */
const FIRST_WRITE_BODY_BYTES = 64 * 1024;

/** A response to a GET that keeps the connection open. It is serialized once and sent many times. */
export class SerializedResponse implements SharedMemory {
  readonly status: number;
  /** Whether a cache holds the response, so that a client that still reads it costs no additional memory. */
  isCached = true;
  /** The head without the lines that depend on the time. Bytes are copied faster than a text of many pieces is written. */
  readonly #head: Buffer;
  readonly #body: Uint8Array | undefined;
  readonly #common: CommonHeaders;
  #timedLines = "";
  #buffers: readonly Uint8Array[] = [];

  constructor(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array | undefined,
    common = NO_SNIFF,
  ) {
    const length = statusAllowsBody(status) ? `Content-Length: ${body?.length ?? 0}\r\n` : "";
    this.#head = Buffer.from(serializeHead(status, headers, common) + length, "latin1");
    this.#body = body;
    this.#common = common;
    this.status = status;
  }

  get bodyBytes(): number {
    return this.#body?.length ?? 0;
  }

  /** The memory that unsent bytes belong to; undefined for a small body, which is copied each second in which it is sent. */
  get shared(): SharedMemory | undefined {
    return isCopied(this.bodyBytes) ? undefined : this;
  }

  /** Number of bytes that are in memory only because clients still read them. */
  get heldBytes(): number {
    return this.isCached ? 0 : this.bodyBytes;
  }

  serialize(nowMs: number): readonly Uint8Array[] {
    const lines = this.#common.timedLines(nowMs);
    if (lines === this.#timedLines) return this.#buffers;
    this.#timedLines = lines;
    const head = Buffer.concat([this.#head, Buffer.from(`${lines}\r\n`, "latin1")]);
    this.#buffers = joinHeadAndBody(head, this.#body);
    return this.#buffers;
  }
}

export const byteLength = (body: string | Uint8Array): number =>
  typeof body === "string" ? Buffer.byteLength(body) : body.length;

/**
 * Returns head and body as one buffer, or as two if copying the body would cost more than a second write. `length` is the
 * length of the body in bytes.
 */
export function joinHeadAndBody(
  head: string | Buffer,
  body?: string | Uint8Array,
  length = body === undefined ? 0 : byteLength(body),
): readonly Uint8Array[] {
  if (!(body instanceof Uint8Array) || isCopied(length)) return [copyIntoOneBuffer(head, body, length)];
  return [
    copyIntoOneBuffer(head, body.subarray(0, FIRST_WRITE_BODY_BYTES), FIRST_WRITE_BODY_BYTES),
    body.subarray(FIRST_WRITE_BODY_BYTES),
  ];
}

function copyIntoOneBuffer(
  head: string | Buffer,
  body: string | Uint8Array | undefined,
  length: number,
): Uint8Array {
  const bytes = Buffer.allocUnsafe(head.length + length);
  if (typeof head === "string") bytes.write(head, "latin1");
  else head.copy(bytes);
  if (typeof body === "string") bytes.write(body, head.length);
  else if (body) bytes.set(body, head.length);
  return bytes;
}
