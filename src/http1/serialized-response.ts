/**
 * Answers as bytes: the head of an answer, and answers that are sent again and again as they are. A head tells the
 * time, so what is kept of it is good for a second.
 */
const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  410: "Gone",
  414: "URI Too Long",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
  505: "HTTP Version Not Supported",
};

/** Never in a header: it would end the line, and begin another of somebody else's making. */
const UNSAFE = /[^\t\x20-\x7e\x80-\xff]/;

/** Every answer has it: what we say a thing is, it is. */
const ALWAYS = "X-Content-Type-Options: nosniff\r\n";

/** Status line and headers, without the date and without the empty line at the end. */
export function headText(status: number, headers: Readonly<Record<string, string>>): string {
  let text = `HTTP/1.1 ${status} ${REASONS[status] ?? ""}\r\n${ALWAYS}`;
  for (const name in headers) {
    const value = headers[name] ?? "";
    if (UNSAFE.test(value)) throw new Error(`the header ${name} cannot be sent: ${JSON.stringify(value)}`);
    text += `${name}: ${value}\r\n`;
  }
  return text;
}

let dated = -1;
let date = "";

/** The line that tells the time, made once a second. */
export function dateLine(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== dated) {
    dated = second;
    date = `Date: ${new Date(second * 1000).toUTCString()}\r\n`;
  }
  return date;
}

export const hasBody = (status: number): boolean => status !== 204 && status !== 304;

/** Copied behind its head up to this size, to be one write; a larger one is sent from where it is, but for its beginning. */
const MAX_COPIED = 256 * 1024;
/** A head alone would be a packet that wakes the reader for nothing. */
const BEGINNING = 64 * 1024;

/** An answer to a GET that keeps the connection open, to be sent many times. */
export class SerializedResponse {
  readonly #head: string;
  readonly #body: Uint8Array | undefined;
  #date = "";
  #bytes: readonly Uint8Array[] = [];

  constructor(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array | undefined) {
    const length = hasBody(status) ? `Content-Length: ${body?.length ?? 0}\r\n` : "";
    this.#head = headText(status, headers) + length;
    this.#body = body;
  }

  bytes(nowMs: number): readonly Uint8Array[] {
    const line = dateLine(nowMs);
    if (line === this.#date) return this.#bytes;
    this.#date = line;
    this.#bytes = together(`${this.#head}${line}\r\n`, this.#body);
    return this.#bytes;
  }
}

export const lengthOf = (body: string | Uint8Array): number =>
  typeof body === "string" ? Buffer.byteLength(body) : body.length;

/** A head and a body that is at hand, as few writes as it is worth. */
export function together(head: string, body?: string | Uint8Array): readonly Uint8Array[] {
  const length = body === undefined ? 0 : lengthOf(body);
  if (!(body instanceof Uint8Array) || length <= MAX_COPIED) return [copied(head, body, length)];
  return [copied(head, body.subarray(0, BEGINNING), BEGINNING), body.subarray(BEGINNING)];
}

function copied(head: string, body: string | Uint8Array | undefined, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(head.length + length);
  bytes.write(head, "latin1");
  if (typeof body === "string") bytes.write(body, head.length);
  else if (body) bytes.set(body, head.length);
  return bytes;
}
