/**
 * A request, and the strict parser of its head (RFC 9112). Everything that two parsers of the same bytes could interpret
 * differently is an error, because it makes request smuggling possible: bare line feeds, folded lines, space before a
 * colon, two lengths.
 */

/** The reason why bytes are not a valid request. `detail` is sent to the client. */
export class ParseError {
  readonly code: "bad-request" | "headers-too-large" | "uri-too-long" | "http-version" | "request-timeout";
  readonly detail: string;

  constructor(code: ParseError["code"], detail: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** The number of bytes of a body, or "chunked" for a sequence of chunks that ends with an empty one. */
export type BodyLength = number | "chunked";

/** The header lines of a request. Requests on one connection share this object while they repeat the same lines. */
export class Headers {
  /** Lower-case names and values, alternating. */
  readonly list: readonly string[];
  /** A value that the handler derived from these lines. It is valid for all requests that repeat them on the connection. */
  handlerCache: unknown = undefined;

  constructor(list: readonly string[]) {
    this.list = list;
  }
}

export class Request {
  readonly method: string;
  /** Path and query, without scheme and host. */
  readonly target: string;
  readonly headers: Headers;
  readonly bodyLength: BodyLength;
  /** Whether the request is HTTP/1.0, which has no chunks and closes the connection by default. */
  readonly isHttp10: boolean;
  readonly keepAlive: boolean;
  /** The host of a target `http://HOST/PATH`. */
  readonly #targetHost: string | undefined;
  /** A value that the handler derived from the whole request. It is valid while the connection repeats the same bytes. */
  handlerCache: unknown = undefined;

  /** `previous` is a request with the same headers in the same version of HTTP. */
  constructor(
    method: string,
    target: string,
    headers: Headers,
    bodyLength: BodyLength,
    isHttp10: boolean,
    targetHost?: string,
    previous?: Request,
  ) {
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.bodyLength = bodyLength;
    this.isHttp10 = isHttp10;
    this.#targetHost = targetHost;
    this.keepAlive = previous ? previous.keepAlive : keepsAlive(this.header("connection"), isHttp10);
  }

  /** The host that the request is for. The host in the target takes precedence over the `Host` header (RFC 9112, 3.2.2). */
  get authority(): string | null {
    return this.#targetHost ?? this.header("host");
  }

  /** Whether it is a GET without a body that keeps its connection open, so that nothing but the target determines the framing. */
  get isPlainGet(): boolean {
    return this.method === "GET" && this.keepAlive && !this.isHttp10 && this.bodyLength === 0;
  }

  /** Whether the client waits for a 100 response before it sends the body (RFC 9110, 10.1.1). */
  get expectsContinue(): boolean {
    return this.bodyLength !== 0 && !this.isHttp10 && this.header("expect")?.toLowerCase() === "100-continue";
  }

  /** Returns the value of a header. `name` is in lower case. The values of several lines with one name are joined with commas. */
  header(name: string): string | null {
    const { list } = this.headers;
    let found: string | null = null;
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] === name) found = found === null ? (list[i + 1] ?? "") : `${found}, ${list[i + 1]}`;
    }
    return found;
  }
}

function keepsAlive(connection: string | null, isHttp10: boolean): boolean {
  if (connection === null) return !isHttp10;
  return !listIncludes(connection, "close") && (!isHttp10 || listIncludes(connection, "keep-alive"));
}

/** Used in place of a request that could not be parsed, to decide how its error response is framed. */
export const UNPARSED_REQUEST = new Request("GET", "/", new Headers([]), 0, false);

const GET = "GET";
const MAX_HEADER_LINES = 100;
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([^\x00-\x20\x7f#]+) HTTP\/(\d)\.(\d)$/;
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([^\x00-\x08\x0a-\x1f\x7f]*)$/;
const HOST = /^[A-Za-z0-9.\-_~%!$&'()*+,;=:[\]]*$/;
const SCHEME = /^https?:\/\//i;
/** Characters that must be percent-encoded in a URL. They are encoded here, because targets are repeated in `Link: <…>`. */
const UNENCODED = /["<>\\\x80-\xff]/;
const UNENCODED_ALL = new RegExp(UNENCODED, "g");

const badRequest = (detail: string): ParseError => new ParseError("bad-request", detail);

/** Whether a line is NAME: VALUE, in a head or among the trailers of a chunked body. */
export const isHeaderLine = (line: string): boolean => HEADER_LINE.test(line);

const listIncludes = (list: string, option: string): boolean =>
  list.split(",").some((item) => trimBlanks(item).toLowerCase() === option);

/** Parses a request head. `head` has one character for each byte and ends before the empty line. */
export function parseHead(head: string): Request | ParseError {
  const lineEnd = head.indexOf("\r\n");
  const line = REQUEST_LINE.exec(lineEnd < 0 ? head : head.slice(0, lineEnd));
  if (!line) return badRequest("The first line is not METHOD TARGET HTTP/1.1.");
  const [, name = "", rawTarget = "", major, minor] = line;
  // Nearly all methods are compared with this one, which is fast for the same string.
  const method = name === GET ? GET : name;
  if (major !== "1") return new ParseError("http-version", "Only HTTP/1.1 and HTTP/1.0 are supported.");
  const isHttp10 = minor === "0";
  const target = originForm(method, rawTarget);
  if (target === undefined)
    return badRequest("The target of the request is neither a path nor http://HOST/PATH.");
  const lines = parseHeaderLines(lineEnd < 0 ? "" : head.slice(lineEnd + 2));
  if (lines instanceof ParseError) return lines;
  const bodyLength = parseBodyLength(lines, isHttp10);
  if (bodyLength instanceof ParseError) return bodyLength;
  return new Request(method, target, new Headers(lines), bodyLength, isHttp10, hostOf(rawTarget));
}

/** The end of the target that begins at `start`, if it has no byte that must be encoded; otherwise the first such byte. */
export function findTargetEnd(bytes: Uint8Array, start: number): number {
  let end = start;
  while (end < bytes.length && isPlainByte[bytes[end] ?? 0] === 1) end++;
  return end;
}

/** Whether a target may contain each byte, and as it is. `REQUEST_LINE` and `UNENCODED` have the same rules. */
const isPlainByte = Uint8Array.from({ length: 256 }, (_, byte) => {
  const text = String.fromCharCode(byte);
  return REQUEST_LINE.test(`GET ${text} HTTP/1.1`) && !UNENCODED.test(text) ? 1 : 0;
});

/** A request that has another target and otherwise repeats the head of `previous`, whose headers it shares. */
export const withTarget = (previous: Request, target: string): Request =>
  new Request(
    previous.method,
    target,
    previous.headers,
    previous.bodyLength,
    previous.isHttp10,
    undefined,
    previous,
  );

function parseHeaderLines(text: string): string[] | ParseError {
  const lines: string[] = [];
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf("\r\n", at);
    const end = next < 0 ? text.length : next;
    const line = HEADER_LINE.exec(text.slice(at, end));
    if (!line) return badRequest(`Header line ${lines.length / 2 + 1} is not NAME: VALUE.`);
    if (lines.length === 2 * MAX_HEADER_LINES)
      return new ParseError("headers-too-large", `There are more than ${MAX_HEADER_LINES} header lines.`);
    const [, name = "", value = ""] = line;
    lines.push(name.toLowerCase(), trimBlanks(value));
    at = end + 2;
  }
  return lines;
}

/** Uses no regular expression, because that would take quadratic time for a line of spaces. */
function trimBlanks(value: string): string {
  let from = 0;
  let to = value.length;
  while (from < to && isBlank(value.charCodeAt(from))) from++;
  while (to > from && isBlank(value.charCodeAt(to - 1))) to--;
  return value.slice(from, to);
}

const isBlank = (code: number): boolean => code === 32 || code === 9;

function originForm(method: string, target: string): string | undefined {
  if (target === "*" && method === "OPTIONS") return target;
  const path = target.startsWith("/") ? target : pathOfAbsoluteForm(target);
  if (path === undefined || !UNENCODED.test(path)) return path;
  return path.replaceAll(UNENCODED_ALL, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The path of `http://HOST/PATH`, the form that clients send to proxies. */
function pathOfAbsoluteForm(target: string): string | undefined {
  const scheme = SCHEME.exec(target)?.[0];
  if (scheme === undefined) return undefined;
  const found = target.slice(scheme.length).search(/[/?]/);
  const end = found < 0 ? target.length : scheme.length + found;
  const host = target.slice(scheme.length, end);
  if (host === "" || !HOST.test(host)) return undefined;
  const path = target.slice(end);
  return path.startsWith("/") ? path : `/${path}`;
}

/** The host of `http://HOST/PATH`; undefined for a path. */
const hostOf = (target: string): string | undefined =>
  target.startsWith("/") ? undefined : /^https?:\/\/([^/?]*)/i.exec(target)?.[1];

function parseBodyLength(headers: readonly string[], isHttp10: boolean): BodyLength | ParseError {
  let hosts = 0;
  let length: string | undefined;
  let encoding: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] ?? "";
    switch (headers[i]) {
      case "host":
        hosts++;
        if (!HOST.test(value)) return badRequest("The Host header is not a host.");
        break;
      case "content-length":
        if (length !== undefined || !/^\d{1,15}$/.test(value))
          return badRequest("Content-Length must be one whole number.");
        length = value;
        break;
      case "transfer-encoding":
        encoding = encoding === undefined ? value.toLowerCase() : "several";
    }
  }
  if (hosts > 1 || (hosts === 0 && !isHttp10)) return badRequest("There must be exactly one Host header.");
  if (encoding === undefined) return Number(length ?? 0);
  if (encoding !== "chunked" || length !== undefined || isHttp10)
    return badRequest("Transfer-Encoding must be chunked, without Content-Length and not in HTTP/1.0.");
  return "chunked";
}
