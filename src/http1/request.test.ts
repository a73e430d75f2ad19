import { describe, expect, test } from "bun:test";
import { ParseError, parseHead, type Request } from "./request.ts";

/** A head with one character a byte. `Host` is added unless the lines contain it. */
const head = (lines: readonly string[], line = "GET /x HTTP/1.1", host = "Host: x") =>
  [line, ...(host === "" ? [] : [host]), ...lines].join("\r\n");

function good(text: string): Request {
  const request = parseHead(text);
  if (request instanceof ParseError) throw new Error(request.detail);
  return request;
}

function errorCodeOf(text: string): ParseError["code"] | undefined {
  const request = parseHead(text);
  return request instanceof ParseError ? request.code : undefined;
}

describe("the request line", () => {
  test.each([
    ["GET /x HTTP/1.1", "GET", "/x"],
    ["GET /x?a=b&c=%20 HTTP/1.1", "GET", "/x?a=b&c=%20"],
    ["get /x HTTP/1.1", "get", "/x"],
    ["M-SEARCH /x HTTP/1.1", "M-SEARCH", "/x"],
    ["GET //x/../y HTTP/1.1", "GET", "//x/../y"],
    ["GET /x HTTP/1.2", "GET", "/x"],
    ["GET /x HTTP/1.9", "GET", "/x"],
    ["OPTIONS * HTTP/1.1", "OPTIONS", "*"],
    ["GET http://elsewhere/x?y HTTP/1.1", "GET", "/x?y"],
    ["GET HTTPS://elsewhere:8181/x HTTP/1.1", "GET", "/x"],
    ["GET http://elsewhere HTTP/1.1", "GET", "/"],
    ["GET http://elsewhere?y HTTP/1.1", "GET", "/?y"],
    ["GET http://[::1]:8/x HTTP/1.1", "GET", "/x"],
    ["GET /\xc3\xa9 HTTP/1.1", "GET", "/%C3%A9"],
    ['GET /"<>\\^`{|} HTTP/1.1', "GET", "/%22%3C%3E%5C^`{|}"],
  ])("%p", (line, method, target) => {
    expect(good(head([], line))).toMatchObject({ method, target, bodyLength: 0, keepAlive: true });
  });

  test.each([
    ["", "nothing"],
    ["GET /x", "HTTP/0.9"],
    ["GET /x HTTP/0.9", "http-version"],
    ["GET /x HTTP/2.0", "http-version"],
    ["PRI * HTTP/2.0", "http-version"],
    ["GET /x HTTP/1", "half a version"],
    ["GET /x HTTP/1.", "half a version"],
    ["GET /x HTTP/11.1", "eleven"],
    ["GET /x HTTP/1.10", "ten"],
    ["GET /x http/1.1", "lower case"],
    ["GET /x HTTP/1.1 ", "space at the end"],
    [" GET /x HTTP/1.1", "space before"],
    ["GET  /x HTTP/1.1", "two spaces"],
    ["GET /x  HTTP/1.1", "two spaces"],
    ["GET\t/x\tHTTP/1.1", "tabs"],
    ["GET\x0b/x HTTP/1.1", "a vertical tab"],
    ["GET /x\x0cHTTP/1.1", "a form feed"],
    ["GET /x HTTP/1.1\r", "a bare CR"],
    ["GET /x\rHTTP/1.1", "a bare CR"],
    ["GET /x\nX: y HTTP/1.1", "a bare LF"],
    ["GET /x y HTTP/1.1", "a space in the target"],
    ["GET /x\x00 HTTP/1.1", "NUL"],
    ["GET /x\x7f HTTP/1.1", "DEL"],
    ["GET /x\x1b HTTP/1.1", "ESC"],
    ["GET /x#y HTTP/1.1", "a fragment"],
    ["GET x HTTP/1.1", "no slash"],
    ["GET * HTTP/1.1", "an asterisk"],
    ["GET ?x HTTP/1.1", "a query alone"],
    ["CONNECT elsewhere:443 HTTP/1.1", "an authority"],
    ["GET elsewhere:443 HTTP/1.1", "an authority"],
    ["GET ftp://elsewhere/x HTTP/1.1", "another scheme"],
    ["GET http:/x HTTP/1.1", "one slash"],
    ["GET http:///x HTTP/1.1", "no host"],
    ["GET http://?x HTTP/1.1", "no host"],
    ["GET http://user@elsewhere/x HTTP/1.1", "a user"],
    ["GET http://else\\where/x HTTP/1.1", "a backslash"],
    ["GET: /x HTTP/1.1", "a colon"],
    ["G(T /x HTTP/1.1", "no token"],
    ["G\xc9T /x HTTP/1.1", "no token"],
    [`${"G".repeat(33)} /x HTTP/1.1`, "a long method"],
    ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "TLS"],
  ])("%p is refused: %s", (line, why) => {
    expect(errorCodeOf(head([], line))).toBe(why === "http-version" ? why : "bad-request");
  });
});

describe("header lines", () => {
  test("names in lower case, values trimmed, repeated headers joined with commas", () => {
    const lines = ["X-A: 1", "x-a:\t 2 \t", "B:", "C: a  b\tc", "D: \xff\x80", "E::", "!#$%&'*+-.^_`|~: ok"];
    const request = good(head(lines));
    const read = ["x-a", "b", "c", "d", "e", "!#$%&'*+-.^_`|~", "nothing"].map((name) =>
      request.header(name),
    );
    expect(read).toEqual(["1, 2", "", "a  b\tc", "\xff\x80", ":", "ok", null]);
  });

  test("names of object properties are not found", () => {
    expect(good(head(["__proto__: x"])).header("constructor")).toBeNull();
  });

  test.each([
    "X : y",
    "X\t: y",
    " X: y",
    "\tX: y",
    ": y",
    "X",
    "X y: z",
    "X: a\x00b",
    "X: a\x0bb",
    "X: a\x0cb",
    "X: a\x1bb",
    "X: a\x7fb",
    "X: a\rb",
    "X: a\nY: b",
    "X: a\n b",
    "X: y\r",
    "\x00X: y",
    "X\x00: y",
    "X\xe9: y",
    "X(: y",
    'X": y',
    "X[]: y",
  ])("%p is refused", (line) => {
    expect(errorCodeOf(head(["A: b", line, "C: d"]))).toBe("bad-request");
    expect(errorCodeOf(head(["A: b", line]))).toBe("bad-request");
  });

  test("a folded line is an error", () => {
    expect(errorCodeOf(head(["X: a", " b"]))).toBe("bad-request");
    expect(errorCodeOf(head(["X: a", "\tb"]))).toBe("bad-request");
  });

  test("a hundred are accepted, one more is an error", () => {
    const lines = Array.from({ length: 99 }, (_, n) => `X-${n}: y`);
    expect(good(head(lines)).header("x-98")).toBe("y");
    expect(errorCodeOf(head([...lines, "Y: z"]))).toBe("headers-too-large");
  });

  // Regular expressions that backtrack over spaces took minutes for 16 kB of them.
  test.each([" ", "\t", " \t", "a ", "\t,"])("a long line of %p takes linear time", (part) => {
    const much = part.repeat(500_000);
    expect(errorCodeOf(head([`X:${much}\x01`]))).toBe("bad-request");
    expect(errorCodeOf(head([`${much}:`]))).toBe("bad-request");
    expect(good(head([`Connection:${much}x`])).keepAlive).toBe(true);
    expect(errorCodeOf(head([`Content-Length:${much}x`]))).toBe("bad-request");
  });
});

describe("the Host header", () => {
  const withHost = (...hosts: string[]) => head(hosts, undefined, "");

  test.each(["Host: x", "Host: x:8181", "Host: [::1]:8181", "Host:", "HOST: a-b_c.example", "Host: a%20b"])(
    "%p is one",
    (line) => expect(errorCodeOf(withHost(line))).toBeUndefined(),
  );

  test.each([
    [],
    ["Host: x", "Host: x"],
    ["Host: x", "Host: y"],
    ["Host: x", "host: y"],
    ["Host: x/path"],
    ["Host: x?"],
    ["Host: x#"],
    ["Host: x y"],
    ["Host: x\ty"],
    ["Host: user@x"],
    ["Host: x\\y"],
    ["Host: <x>"],
    ["Host: \xe9"],
  ])("%p %p is refused", (...lines) => {
    expect(errorCodeOf(withHost(...lines))).toBe("bad-request");
  });

  test("HTTP/1.0 may omit it, but not repeat it", () => {
    expect(errorCodeOf(head([], "GET / HTTP/1.0", ""))).toBeUndefined();
    expect(errorCodeOf(head(["Host: y"], "GET / HTTP/1.0"))).toBe("bad-request");
    expect(errorCodeOf(head([], "GET http://x/ HTTP/1.1", ""))).toBe("bad-request");
  });
});

describe("the length of the body", () => {
  test.each([
    [["Content-Length: 0"], 0],
    [["Content-Length: 5"], 5],
    [["content-length:005"], 5],
    [["Content-Length: 999999999999999"], 999_999_999_999_999],
    [["Transfer-Encoding: chunked"], "chunked"],
    [["transfer-encoding:\tCHUNKED\t"], "chunked"],
  ] as const)("%p: %p", (lines, length) => {
    expect(good(head(lines)).bodyLength).toBe(length);
  });

  test.each<[string[]]>([
    [["Content-Length: 5", "Transfer-Encoding: chunked"]],
    [["Transfer-Encoding: chunked", "Content-Length: 5"]],
    [["Content-Length: 0", "Transfer-Encoding: chunked"]],
    [["Content-Length: 5", "Content-Length: 6"]],
    [["Content-Length: 5", "Content-Length: 5"]],
    [["Content-Length: 5", "content-length: 5"]],
    [["Content-Length: 5, 5"]],
    [["Content-Length: 5,6"]],
    [["Content-Length: +5"]],
    [["Content-Length: -5"]],
    [["Content-Length: -0"]],
    [["Content-Length: 5 5"]],
    [["Content-Length: 5\x0b"]],
    [["Content-Length: 0x5"]],
    [["Content-Length: 5e1"]],
    [["Content-Length: 5.0"]],
    [["Content-Length: 5;"]],
    [["Content-Length: five"]],
    [["Content-Length:"]],
    [["Content-Length: \xb2"]],
    [["Content-Length: 1000000000000000"]],
    [["Content-Length: 18446744073709551617"]],
    [["Transfer-Encoding:"]],
    [["Transfer-Encoding: identity"]],
    [["Transfer-Encoding: gzip"]],
    [["Transfer-Encoding: gzip, chunked"]],
    [["Transfer-Encoding: chunked, gzip"]],
    [["Transfer-Encoding: chunked, chunked"]],
    [["Transfer-Encoding: chunked,"]],
    [["Transfer-Encoding: ,chunked"]],
    [["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"]],
    [["Transfer-Encoding: chunked", "Transfer-Encoding: identity"]],
    [["Transfer-Encoding: chunked;x=y"]],
    [["Transfer-Encoding: x chunked"]],
    [["Transfer-Encoding: xchunked"]],
    [["Transfer-Encoding: chunkedx"]],
    [['Transfer-Encoding: "chunked"']],
    [["Transfer-Encoding: \x0bchunked"]],
    [["Transfer-Encoding: chunked\x0c"]],
    [["Transfer-Encoding: chunked\x00"]],
    [["Transfer-Encoding : chunked"]],
    [["Transfer-Encoding: chun\xe4ed"]],
  ])("%p is refused", (lines) => {
    expect(errorCodeOf(head(lines))).toBe("bad-request");
  });

  test("HTTP/1.0 has no chunks", () => {
    expect(errorCodeOf(head(["Transfer-Encoding: chunked"], "GET / HTTP/1.0"))).toBe("bad-request");
    expect(good(head(["Content-Length: 7"], "GET / HTTP/1.0")).bodyLength).toBe(7);
  });

  test("Expect: 100-continue", () => {
    const awaits = (lines: string[], version = "1.1") =>
      good(head(lines, `GET / HTTP/${version}`)).expectsContinue;
    expect(awaits(["Content-Length: 5", "Expect: 100-Continue"])).toBe(true);
    expect(awaits(["Content-Length: 5"])).toBe(false);
    expect(awaits(["Expect: 100-continue"])).toBe(false);
    expect(awaits(["Content-Length: 5", "Expect: something"])).toBe(false);
    expect(awaits(["Content-Length: 5", "Expect: 100-continue"], "1.0")).toBe(false);
  });
});

test.each([
  ["1.1", [], true],
  ["1.1", ["Connection: close"], false],
  ["1.1", ["Connection: CLOSE"], false],
  ["1.1", ["Connection: keep-alive"], true],
  ["1.1", ["Connection: x ,\tclose, y"], false],
  ["1.1", ["Connection: x", "Connection: close"], false],
  ["1.1", ["Connection: closed"], true],
  ["1.1", ["Connection:"], true],
  ["1.0", [], false],
  ["1.0", ["Connection: keep-alive"], true],
  ["1.0", ["Connection: Keep-Alive, x"], true],
  ["1.0", ["Connection: keep-alive, close"], false],
  ["1.0", ["Keep-Alive: 5"], false],
] as const)("HTTP/%s with %p keeps the connection open: %p", (version, lines, open) => {
  expect(good(head(lines, `GET / HTTP/${version}`)).keepAlive).toBe(open);
});
