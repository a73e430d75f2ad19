import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ParseError } from "./request.ts";
import { RequestParser } from "./request-parser.ts";

const LIMITS = { urlBytes: 300, headBytes: 1000 };
const GET = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";

/** What is made of the pieces: targets, `?` for a head that is not whole, the code of a fault. */
function read(pieces: readonly string[], limits = LIMITS): string[] {
  const inbox = new RequestParser(limits);
  const read: string[] = [];
  for (const piece of pieces) {
    const fault = inbox.add(Buffer.from(piece, "latin1"));
    if (fault) return [...read, `body ${fault.code}`];
    for (let request = inbox.next(); request; request = inbox.next()) {
      if (request instanceof ParseError) return [...read, request.code];
      read.push(request.target);
    }
  }
  return inbox.size > 0 ? [...read, "?"] : read;
}

/** The same, however it is cut. */
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

test("lines that come again mean what they mean with this first line", () => {
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

test("a bare line feed is not waited on", () => {
  expect(read(["GET /x HTTP/1.1\nHost"])).toEqual(["bad-request"]);
  expect(read(["GET /x HTTP/1.1\r\nHost: x\r\n", "X: y\n"])).toEqual(["bad-request"]);
  expect(read(["GET /x HTTP/1.1\r", "\nHost: x\r\n", "\r\n"])).toEqual(["/x"]);
});

test("a malformed body ends all reading, whether its request was read before or with it", () => {
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

  test("an address over its limit is for whoever answers; one over that of the head is not waited for", () => {
    expect(readAnyhow(line(300))[0]).toHaveLength(300);
    expect(readAnyhow(line(400))[0]).toHaveLength(400);
    expect(read([line(5000)])).toEqual(["uri-too-long"]);
    expect(read([line(5000).slice(0, 2000)])).toEqual(["uri-too-long"]);
  });

  test("a head of exactly the limit is read, one byte more is not", () => {
    expect(readAnyhow(headOf(1000))).toEqual(["/x"]);
    expect(readAnyhow(headOf(1001))).toEqual(["headers-too-large"]);
    expect(read([headOf(100_000)])).toEqual(["headers-too-large"]);
    expect(read([headOf(100_000).slice(0, 2000)])).toEqual(["headers-too-large"]);
  });

  test("the smaller of the two counts, whichever it is", () => {
    const limits = { urlBytes: 5000, headBytes: 1000 };
    expect(readAnyhow(headOf(1001), limits)).toEqual(["headers-too-large"]);
    expect(readAnyhow(line(1000), limits)).toEqual(["headers-too-large"]);
    expect(readAnyhow(headOf(1000), limits)).toEqual(["/x"]);
  });
});

describe("a request that comes again word for word", () => {
  const bytes = (text: string) => Buffer.from(text, "latin1");
  const after = (...pieces: string[]) => {
    const inbox = new RequestParser(LIMITS);
    let last: unknown;
    for (const piece of pieces) {
      inbox.add(bytes(piece));
      for (let request = inbox.next(); request; request = inbox.next()) last = request;
    }
    return { inbox, last };
  };

  test("is the same object", () => {
    const { inbox, last } = after(GET);
    expect(inbox.repeated(bytes(GET)) as unknown).toBe(last);
    expect(inbox.repeated(bytes(GET)) as unknown).toBe(last);
  });

  test("also when it came in pieces, or last of several", () => {
    expect(after(GET.slice(0, 9), GET.slice(9)).inbox.repeated(bytes(GET))).toBeDefined();
    expect(after(`GET /y HTTP/1.1\r\nHost: x\r\n\r\n${GET}`).inbox.repeated(bytes(GET))).toBeDefined();
  });

  test("is not that when anything differs, or when it is the middle of something else", () => {
    const body = "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n";
    const { inbox } = after(GET);
    expect(inbox.repeated(bytes(GET.replace("/x", "/y")))).toBeUndefined();
    expect(inbox.repeated(bytes(GET + GET))).toBeUndefined();
    expect(inbox.repeated(bytes(GET.slice(0, -1)))).toBeUndefined();
    expect(after().inbox.repeated(bytes(""))).toBeUndefined();
    expect(after(GET, "GET /z HTTP/1.1\r\nX: ").inbox.repeated(bytes(GET))).toBeUndefined();
    expect(after(GET, body).inbox.repeated(bytes(GET))).toBeUndefined();
    expect(after(GET, body).inbox.repeated(bytes(body))).toBeUndefined();
  });
});

test("any requests, cut anywhere, are read as they are when they come one by one", () => {
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
    { numRuns: 300 },
  );
});
