import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/property.ts";
import { ParseError } from "./request.ts";
import { RequestParser } from "./request-parser.ts";

const LIMITS = { maxUrlBytes: 300, maxHeadBytes: 1000 };
const GET = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";

/** The result for the pieces: targets of requests, `?` for an incomplete head, or the code of the error. */
function read(pieces: readonly string[], limits = LIMITS): string[] {
  const parser = new RequestParser(limits);
  const read: string[] = [];
  for (const piece of pieces) {
    parser.push(Buffer.from(piece, "latin1"));
    while (parser.bufferedBytes > 0) {
      if (parser.inBody) {
        const error = parser.skipBody();
        if (error) return [...read, `body ${error.code}`];
        continue;
      }
      const request = parser.next();
      if (request === undefined) break;
      if (request instanceof ParseError) return [...read, request.code];
      read.push(request.target);
    }
  }
  return parser.bufferedBytes > 0 ? [...read, "?"] : read;
}

/** Expects the same result wherever the bytes are cut. */
function readAnyhow(text: string, limits = LIMITS): string[] {
  const whole = read([text], limits);
  expect(read([...text], limits)).toEqual(whole);
  for (let at = 1; at < text.length; at++)
    expect(read([text.slice(0, at), text.slice(at)], limits)).toEqual(whole);
  return whole;
}

test.each([
  ["", []],
  [GET, ["/x"]],
  [GET + GET, ["/x", "/x"]],
  [GET.slice(0, -1), ["?"]],
  [`\r\n${GET}`, ["/x"]],
  [`\r\n\r\n\r\n${GET}\r\n\r\n${GET}`, ["/x", "/x"]],
  ["\r\n", []],
  ["\r", ["?"]],
  ["PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", ["/a"]],
  [`PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello${GET}`, ["/a", "/x"]],
  [`PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello\r\n${GET}`, ["/a", "/x"]],
  [`PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: ${GET.length}\r\n\r\n${GET}${GET}`, ["/a", "/x"]],
  [
    `PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n${GET}`,
    ["/a", "/x"],
  ],
])("%p", (text, expected) => {
  expect(readAnyhow(text)).toEqual(expected);
});

test.each([
  ["GET /x HTTP/1.1\nHost: x\n\n", "bad-request"],
  ["\nGET /x HTTP/1.1\r\nHost: x\r\n\r\n", "bad-request"],
  ["GET /x HTTP/1.1\r\nHost: x\n\r\n", "bad-request"],
  ["GET /x HTTP/1.1\r\nHost: x\r\n\n", "bad-request"],
  ["\rGET /x HTTP/1.1\r\nHost: x\r\n\r\n", "bad-request"],
  ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "http-version"],
])("%p is refused, and nothing after it is read", (text, code) => {
  expect(readAnyhow(text + GET)).toEqual([code]);
});

test("repeated header lines are interpreted anew with another request line", () => {
  const lines = "Connection: keep-alive\r\n\r\n";
  const chunks = "Host: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect(readAnyhow(`GET /a HTTP/1.0\r\n${lines}GET /b HTTP/1.1\r\n${lines}`)).toEqual(["/a", "bad-request"]);
  expect(readAnyhow(`PUT /a HTTP/1.1\r\n${chunks}0\r\n\r\nPUT /b HTTP/1.0\r\n${chunks}`)).toEqual([
    "/a",
    "bad-request",
  ]);
  expect(
    readAnyhow(`PUT /a HTTP/1.1\r\n${chunks}0\r\n\r\nPUT /b HTTP/1.1\r\n${chunks}0\r\n\r\n${GET}`),
  ).toEqual(["/a", "/b", "/x"]);
});

test("a bare line feed is an error at once", () => {
  expect(read(["GET /x HTTP/1.1\nHost"])).toEqual(["bad-request"]);
  expect(read(["GET /x HTTP/1.1\r\nHost: x\r\n", "X: y\n"])).toEqual(["bad-request"]);
  expect(read(["GET /x HTTP/1.1\r", "\nHost: x\r\n", "\r\n"])).toEqual(["/x"]);
});

test("a malformed body ends parsing, whether it arrives with its head or after it", () => {
  const head = "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect(read([`${head}x\r\n`, GET])).toEqual(["bad-request"]);
  expect(read([head, "x\r\n", GET])).toEqual(["/a", "body bad-request"]);
});

describe("limits", () => {
  const line = (bytes: number) => `GET /${"x".repeat(bytes - 1)} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const headOf = (bytes: number) => {
    const start = "GET /x HTTP/1.1\r\nHost: x\r\nX: ";
    return `${start}${"y".repeat(bytes - start.length)}\r\n\r\n`;
  };

  test("a URL over its limit is left to the handler; one over the limit of the head is an error at once", () => {
    expect(readAnyhow(line(300))[0]).toHaveLength(300);
    expect(readAnyhow(line(400))[0]).toHaveLength(400);
    expect(read([line(5000)])).toEqual(["uri-too-long"]);
    expect(read([line(5000).slice(0, 2000)])).toEqual(["uri-too-long"]);
  });

  test("a head of exactly the limit is parsed, one byte more is an error", () => {
    expect(readAnyhow(headOf(1000))).toEqual(["/x"]);
    expect(readAnyhow(headOf(1001))).toEqual(["headers-too-large"]);
    expect(read([headOf(100_000)])).toEqual(["headers-too-large"]);
    expect(read([headOf(100_000).slice(0, 2000)])).toEqual(["headers-too-large"]);
  });

  test("the smaller of the two limits counts", () => {
    const limits = { maxUrlBytes: 5000, maxHeadBytes: 1000 };
    expect(readAnyhow(headOf(1001), limits)).toEqual(["headers-too-large"]);
    expect(readAnyhow(line(1000), limits)).toEqual(["headers-too-large"]);
    expect(readAnyhow(headOf(1000), limits)).toEqual(["/x"]);
  });
});

describe("a repeated request", () => {
  const bytes = (text: string) => Buffer.from(text, "latin1");
  const after = (...pieces: string[]) => {
    const parser = new RequestParser(LIMITS);
    let last: unknown;
    for (const piece of pieces) {
      parser.push(bytes(piece));
      for (let request = parser.next(); request; request = parser.next()) last = request;
    }
    return { parser, last };
  };

  test("is the same object", () => {
    const { parser, last } = after(GET);
    expect(parser.matchRepeat(bytes(GET)) as unknown).toBe(last);
    expect(parser.matchRepeat(bytes(GET)) as unknown).toBe(last);
    // Also where it was buffered, because the connection had to wait for its turn.
    parser.push(bytes(GET));
    expect(parser.next() as unknown).toBe(last);
    expect(parser.hasWork).toBe(false);
  });

  test("is recognised after one that arrived in pieces or last of several", () => {
    expect(after(GET.slice(0, 9), GET.slice(9)).parser.matchRepeat(bytes(GET))).toBeDefined();
    expect(after(`GET /y HTTP/1.1\r\nHost: x\r\n\r\n${GET}`).parser.matchRepeat(bytes(GET))).toBeDefined();
  });

  test("is not recognised when a byte differs, or inside something else", () => {
    const body = "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n";
    const { parser } = after(GET);
    expect(parser.matchRepeat(bytes(GET.replace("/x", "/y")))).toBeUndefined();
    expect(parser.matchRepeat(bytes(GET + GET))).toBeUndefined();
    expect(parser.matchRepeat(bytes(GET.slice(0, -1)))).toBeUndefined();
    expect(after().parser.matchRepeat(bytes(""))).toBeUndefined();
    expect(after(GET, "GET /z HTTP/1.1\r\nX: ").parser.matchRepeat(bytes(GET))).toBeUndefined();
    expect(after(GET, body).parser.matchRepeat(bytes(GET))).toBeUndefined();
    expect(after(GET, body).parser.matchRepeat(bytes(body))).toBeUndefined();
  });
});

test("any requests, cut anywhere, are parsed as when each arrives alone", () => {
  const counted = fc
    .string({ unit: "binary-ascii" })
    .map((body) => `PUT /counted HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const chunked = fc
    .array(fc.string({ unit: "binary-ascii", minLength: 1 }))
    .map((chunks) =>
      [
        "PUT /chunked HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        ...chunks.map((data) => `${data.length.toString(16)}\r\n${data}\r\n`),
        "0\r\n\r\n",
      ].join(""),
    );
  const plain = fc.webPath().map((path) => `GET /${path.slice(1)} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const emptyLine = fc.constant("\r\n");
  fc.assert(
    fc.property(
      fc.array(fc.oneof(counted, chunked, plain, emptyLine), { maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      (requests, at) => {
        const text = requests.join("");
        const cuts = [0, ...at.map((n) => n % (text.length + 1)).sort((a, b) => a - b), text.length];
        const pieces = cuts.slice(1).map((end, i) => text.slice(cuts[i], end));
        expect(read(pieces)).toEqual(requests.flatMap((request) => read([request])));
      },
    ),
    { numRuns: runs(300) },
  );
});

describe("a head that repeats the previous one except for its target", () => {
  const HEADERS = "Host: x\r\nAuthorization: Basic x\r\n\r\n";
  const parsed = (...texts: readonly string[]) => {
    const parser = new RequestParser(LIMITS);
    parser.push(Buffer.from(texts.join(""), "latin1"));
    return texts.map(() => parser.next());
  };
  const pair = (first: string, second: string) => {
    const [one, two] = parsed(first, second);
    if (!one || !two || one instanceof ParseError || two instanceof ParseError) throw new Error("not parsed");
    return { one, two };
  };
  const GET_A = `GET /a HTTP/1.1\r\n${HEADERS}`;

  test("shares its headers", () => {
    const { one, two } = pair(GET_A, `GET /longer?x=1 HTTP/1.1\r\n${HEADERS}`);
    expect([two.method, two.target, two.keepAlive]).toEqual(["GET", "/longer?x=1", true]);
    expect(two.headers as unknown).toBe(one.headers);
  });

  test("has the same rules for its target", () => {
    const { two } = pair(GET_A, `GET http://other/p"q HTTP/1.1\r\n${HEADERS}`);
    expect([two.target, two.authority]).toEqual(["/p%22q", "other"]);
    for (const target of ["a", "", "/a#b", "/a b", "http://"])
      expect(parsed(GET_A, `GET ${target} HTTP/1.1\r\n${HEADERS}`)[1]).toBeInstanceOf(ParseError);
  });

  test("may have bytes in its target that must be encoded", () => {
    const get = (target: string) => `GET ${target} HTTP/1.1\r\n${HEADERS}`;
    const { one, two } = pair(get('/a"b'), get('/c"b'));
    expect([one.target, two.target]).toEqual(["/a%22b", "/c%22b"]);
    expect(pair(get("/a\x80"), get("/b")).two.target).toBe("/b");
    expect(pair(get("/a"), get("/b\x80")).two.target).toBe("/b%80");
  });

  test.each([
    ["another method", `HEAD /b HTTP/1.1\r\n${HEADERS}`],
    ["another version", `GET /b HTTP/1.0\r\n${HEADERS}`],
    ["another header", `GET /b HTTP/1.1\r\n${HEADERS.replace("Basic x", "Basic y")}`],
    ["one header more", `GET /b HTTP/1.1\r\nAccept: y\r\n${HEADERS}`],
  ])("%s is parsed", (_, second) => {
    const { one, two } = pair(GET_A, second);
    expect(two.target).toBe("/b");
    expect(two.headers as unknown).not.toBe(one.headers);
  });

  test("has a body of its own", () => {
    const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi`;
    expect(read([post("/a") + post("/b") + GET])).toEqual(["/a", "/b", "/x"]);
  });

  test("may be no longer than any other", () => {
    const long = `GET /${"a".repeat(LIMITS.maxHeadBytes)} HTTP/1.1\r\n${HEADERS}`;
    expect(parsed(GET_A, long)[1]).toBeInstanceOf(ParseError);
  });
});
