/**
 * A request as it came: the head's text taken apart, strictly (RFC 9112). Whatever two readers of the same bytes might
 * take for different requests is refused: bare line feeds, folded lines, space before a colon, two lengths.
 */

/** What is wrong with a head, for whoever sent it. */
export class ParseError {
  readonly code: "bad-request" | "headers-too-large" | "uri-too-long" | "http-version" | "request-timeout";
  readonly detail: string;

  constructor(code: ParseError["code"], detail: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** How many bytes follow the head: so many, or chunks until there is an empty one. */
export type BodyLength = number | "chunked";

/** The lines after the first: most clients send the same with each request. */
export class Headers {
  readonly text: string;
  /** Lower-case names and values, in turn. */
  readonly list: readonly string[];
  /** A place for whoever answers: a connection that repeats these lines word for word hands over this same object. */
  memo: unknown = undefined;

  constructor(text: string, list: readonly string[]) {
    this.text = text;
    this.list = list;
  }
}

export class Request {
  readonly method: string;
  /** Path and query, without scheme and host. */
  readonly target: string;
  readonly headers: Headers;
  readonly bodyLength: BodyLength;
  /** Of HTTP/1.0, which knows no chunks and closes unless asked not to. */
  readonly isHttp10: boolean;
  readonly keepAlive: boolean;
  /** As that of the fields, for a request that is repeated as a whole. */
  memo: unknown = undefined;

  constructor(method: string, target: string, headers: Headers, bodyLength: BodyLength, isHttp10: boolean) {
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.bodyLength = bodyLength;
    this.isHttp10 = isHttp10;
    const connection = this.header("connection");
    this.keepAlive =
      connection === null
        ? !isHttp10
        : !hasOption(connection, "close") && (!isHttp10 || hasOption(connection, "keep-alive"));
  }

  /** Whether the client holds its body back until it is told to send it (RFC 9110, 10.1.1). */
  get expectsContinue(): boolean {
    return this.bodyLength !== 0 && !this.isHttp10 && this.header("expect")?.toLowerCase() === "100-continue";
  }

  /** By lower-case name; what stands there more than once is joined, as a list is. */
  header(name: string): string | null {
    const { list } = this.headers;
    let found: string | null = null;
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] === name) found = found === null ? (list[i + 1] ?? "") : `${found}, ${list[i + 1]}`;
    }
    return found;
  }
}

const MAX_FIELDS = 100;
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([^\x00-\x20\x7f#]+) HTTP\/(\d)\.(\d)$/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([^\x00-\x08\x0a-\x1f\x7f]*)$/;
const HOST = /^[A-Za-z0-9.\-_~%!$&'()*+,;=:[\]]*$/;
const SCHEME = /^https?:\/\//i;
/** What should have come percent-encoded, and means the same so: addresses are handed back in `Link`, between angles. */
const UNENCODED = /["<>\\\x80-\xff]/g;

const bad = (detail: string): ParseError => new ParseError("bad-request", detail);

/** Whether a line, of the head or after the last chunk, is NAME: VALUE. */
export const isField = (line: string): boolean => FIELD.test(line);

const hasOption = (list: string, option: string): boolean =>
  list.split(",").some((one) => trimmed(one).toLowerCase() === option);

/** `head` is one character a byte, without the empty line that ends it; `before` came on the same connection. */
export function parseHead(head: string, before?: Request): Request | ParseError {
  const lineEnd = head.indexOf("\r\n");
  const line = REQUEST_LINE.exec(lineEnd < 0 ? head : head.slice(0, lineEnd));
  if (!line) return bad("The first line is not METHOD TARGET HTTP/1.1.");
  const [, method = "", rawTarget = "", major, minor] = line;
  if (major !== "1") return new ParseError("http-version", "Only HTTP/1.1 and HTTP/1.0 are spoken here.");
  const old = minor === "0";
  const target = originForm(method, rawTarget);
  if (target === undefined) return bad("The target of the request is neither a path nor http://HOST/PATH.");
  const text = lineEnd < 0 ? "" : head.slice(lineEnd + 2);
  if (before && before.isHttp10 === old && before.headers.text === text)
    return new Request(method, target, before.headers, before.bodyLength, old);
  const fields = parseHeaderLines(text);
  if (fields instanceof ParseError) return fields;
  const bodyLength = lengthOf(fields, old);
  if (bodyLength instanceof ParseError) return bodyLength;
  return new Request(method, target, new Headers(text, fields), bodyLength, old);
}

function parseHeaderLines(text: string): string[] | ParseError {
  const fields: string[] = [];
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf("\r\n", at);
    const end = next < 0 ? text.length : next;
    const field = FIELD.exec(text.slice(at, end));
    if (!field) return bad(`Header line ${fields.length / 2 + 1} is not NAME: VALUE.`);
    if (fields.length === 2 * MAX_FIELDS)
      return new ParseError("headers-too-large", `There are more than ${MAX_FIELDS} header lines.`);
    const [, name = "", value = ""] = field;
    fields.push(name.toLowerCase(), trimmed(value));
    at = end + 2;
  }
  return fields;
}

/** Without spaces and tabs around it. Not by a pattern: those take time squared for a line of spaces. */
function trimmed(value: string): string {
  let from = 0;
  let to = value.length;
  while (from < to && isBlank(value.charCodeAt(from))) from++;
  while (to > from && isBlank(value.charCodeAt(to - 1))) to--;
  return value.slice(from, to);
}

const isBlank = (code: number): boolean => code === 32 || code === 9;

function originForm(method: string, target: string): string | undefined {
  if (target === "*" && method === "OPTIONS") return target;
  const path = target.startsWith("/") ? target : afterHost(target);
  return path?.replace(UNENCODED, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The path of `http://HOST/PATH`, as a client sends it that takes us for a proxy. */
function afterHost(target: string): string | undefined {
  const scheme = SCHEME.exec(target)?.[0];
  if (scheme === undefined) return undefined;
  const found = target.slice(scheme.length).search(/[/?]/);
  const end = found < 0 ? target.length : scheme.length + found;
  const host = target.slice(scheme.length, end);
  if (host === "" || !HOST.test(host)) return undefined;
  const path = target.slice(end);
  return path.startsWith("/") ? path : `/${path}`;
}

function lengthOf(fields: readonly string[], old: boolean): BodyLength | ParseError {
  let hosts = 0;
  let length: string | undefined;
  let coding: string | undefined;
  for (let i = 0; i < fields.length; i += 2) {
    const value = fields[i + 1] ?? "";
    switch (fields[i]) {
      case "host":
        hosts++;
        if (!HOST.test(value)) return bad("The Host header is not a host.");
        break;
      case "content-length":
        if (length !== undefined || !/^\d{1,15}$/.test(value))
          return bad("Content-Length must be one whole number.");
        length = value;
        break;
      case "transfer-encoding":
        coding = coding === undefined ? value.toLowerCase() : "several";
    }
  }
  if (hosts > 1 || (hosts === 0 && !old)) return bad("There must be exactly one Host header.");
  if (coding === undefined) return Number(length ?? 0);
  if (coding !== "chunked" || length !== undefined || old)
    return bad("Transfer-Encoding must be chunked, without Content-Length and not in HTTP/1.0.");
  return "chunked";
}
