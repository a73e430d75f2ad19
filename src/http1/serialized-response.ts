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

/** A line break in a value would end the header and start another one: response splitting. */
const INVALID_HEADER_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Status line and headers, without those that depend on the time and without the empty line at the end. */
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
  // All at once: a test of each value takes longer than the rest of this function.
  if (INVALID_HEADER_VALUE.test(values)) throw invalidHeader(headers);
  const commonLines = hasCommon ? common.linesFor(headers) : common.lines;
  return `HTTP/1.1 ${status} ${REASONS[status] ?? ""}\r\n${commonLines}${lines}`;
}

function invalidHeader(headers: Readonly<Record<string, string>>): Error {
  const [name, value] = Object.entries(headers).find(([, text]) => INVALID_HEADER_VALUE.test(text)) ?? [];
  return new Error(`the header ${name} cannot be sent: ${JSON.stringify(value)}`);
}

/** The same with the headers that depend on the time. */
export const serializeTimedHead = (
  status: number,
  headers: Readonly<Record<string, string>>,
  nowMs: number,
  common: CommonHeaders = NO_SNIFF,
): string => serializeHead(status, headers, common) + common.timedLines(nowMs);

export const statusAllowsBody = (status: number): boolean => status !== 204 && status !== 304;

/** Up to this size a body is copied behind its head, so that both are one write. A larger body is sent from where it is. */
const MAX_COPIED_BODY_BYTES = 256 * 1024;
/** Whether a body of this length is copied each time it is sent. */
export const isCopied = (bytes: number): boolean => bytes <= MAX_COPIED_BODY_BYTES;
/** The beginning of a large body goes out with the head: a packet with the head alone wakes the client for nothing. */
const FIRST_WRITE_BODY_BYTES = 64 * 1024;

/** A response to a GET that keeps the connection open, to be sent many times. */
export class SerializedResponse implements SharedMemory {
  readonly status: number;
  /** Whether a cache has it, so that it costs no memory of its own. */
  isCached = true;
  readonly #head: string;
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
    this.#head = serializeHead(status, headers, common) + length;
    this.#body = body;
    this.#common = common;
    this.status = status;
  }

  get bodyBytes(): number {
    return this.#body?.length ?? 0;
  }

  /** What its unsent bytes are a part of. A body that is copied for every second in which it is sent is not shared. */
  get shared(): SharedMemory | undefined {
    return isCopied(this.bodyBytes) ? undefined : this;
  }

  /** The memory that exists because clients still read it. */
  get heldBytes(): number {
    return this.isCached ? 0 : this.bodyBytes;
  }

  serialize(nowMs: number): readonly Uint8Array[] {
    const lines = this.#common.timedLines(nowMs);
    if (lines === this.#timedLines) return this.#buffers;
    this.#timedLines = lines;
    this.#buffers = joinHeadAndBody(`${this.#head}${lines}\r\n`, this.#body);
    return this.#buffers;
  }
}

export const byteLength = (body: string | Uint8Array): number =>
  typeof body === "string" ? Buffer.byteLength(body) : body.length;

/**
 * Returns head and body as one buffer, or as two where copying the body would cost more than a second write. `length` is
 * that of the body in bytes.
 */
export function joinHeadAndBody(
  head: string,
  body?: string | Uint8Array,
  length = body === undefined ? 0 : byteLength(body),
): readonly Uint8Array[] {
  if (!(body instanceof Uint8Array) || isCopied(length)) return [copyIntoOneBuffer(head, body, length)];
  return [
    copyIntoOneBuffer(head, body.subarray(0, FIRST_WRITE_BODY_BYTES), FIRST_WRITE_BODY_BYTES),
    body.subarray(FIRST_WRITE_BODY_BYTES),
  ];
}

function copyIntoOneBuffer(head: string, body: string | Uint8Array | undefined, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(head.length + length);
  bytes.write(head, "latin1");
  if (typeof body === "string") bytes.write(body, head.length);
  else if (body) bytes.set(body, head.length);
  return bytes;
}
