/**
 * Valid requests, mutated: whatever the bytes are, the parser and the connection do not throw, buffer no more than their
 * bound, and understand the same requests wherever the network cuts the bytes.
 */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { ConnectionHarness, nextTurn } from "../../test/support/connection-harness.ts";
import { runs } from "../../test/support/property.ts";
import { ParseError } from "./request.ts";
import { RequestParser } from "./request-parser.ts";

const LIMITS = { maxUrlBytes: 300, maxHeadBytes: 1000 };

const CORPUS = [
  "GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
  "HEAD /a?b=c&d=%20 HTTP/1.1\r\nHost: x:8181\r\nAccept: */*\r\nAccept-Encoding: gzip, br\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
  "GET http://x/a HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
  "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
  "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
  "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 27\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n",
  "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
  "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Sum: 1\r\nY: z\r\n\r\n",
  "POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc",
  "\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\nX: \x80\xff\t y \r\n\r\n",
  `GET /${"u".repeat(280)} HTTP/1.1\r\nHost: x\r\nX: ${"v".repeat(600)}\r\n\r\n`,
];
const TOKENS = [
  ..."\r\n|\n|\r|\r\n\r\n| |\t|:|;|,|\0|\x7f|\xff|0|-1|5\r\n|0\r\n\r\n|ffffffffffff\r\n|HTTP/1.0|HTTP/1.1".split(
    "|",
  ),
  "Content-Length: 4\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Connection: close\r\n",
  "Host: y\r\n",
  "X: y\r\n".repeat(120),
  "z".repeat(1100),
];

type Mutation = (text: string) => string;
const at = (text: string, position: number) => position % (text.length + 1);
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(fc.nat(), fc.nat({ max: 255 })).map(
    ([position, byte]): Mutation =>
      (text) => {
        const index = at(text, position);
        return text.slice(0, index) + String.fromCharCode(byte) + text.slice(index + 1);
      },
  ),
  fc.tuple(fc.nat(), fc.constantFrom(...TOKENS)).map(
    ([position, token]): Mutation =>
      (text) => {
        const index = at(text, position);
        return text.slice(0, index) + token + text.slice(index);
      },
  ),
  fc.tuple(fc.nat(), fc.nat({ max: 20 })).map(
    ([position, length]): Mutation =>
      (text) => {
        const index = at(text, position);
        return text.slice(0, index) + text.slice(index + length);
      },
  ),
  fc.tuple(fc.nat(), fc.nat({ max: 60 })).map(
    ([position, length]): Mutation =>
      (text) => {
        const index = at(text, position);
        return text.slice(0, index + length) + text.slice(index);
      },
  ),
);
const mutated = fc
  .tuple(
    fc.array(fc.constantFrom(...CORPUS), { minLength: 1, maxLength: 5 }),
    fc.array(mutation, { maxLength: 6 }),
  )
  .map(([requests, mutations]) => mutations.reduce((text, mutate) => mutate(text), requests.join("")));
const cuts = fc.array(fc.nat(), { maxLength: 12 });

function cut(text: string, positions: readonly number[]): string[] {
  const ends = [...positions.map((n) => at(text, n)).sort((a, b) => a - b), text.length];
  return ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end));
}

/**
 * The requests, and whether an error follows. A fault in a body that arrives after its head comes too late to refuse the
 * request, so such a request is left out of the comparison.
 */
function parse(pieces: readonly string[]): string[] {
  const parser = new RequestParser(LIMITS);
  const parsed: string[] = [];
  for (const piece of pieces) {
    parser.push(Buffer.from(piece, "latin1"));
    for (let progress = true; progress && parser.bufferedBytes > 0; ) {
      if (parser.inBody) {
        if (parser.skipBody()) return [...parsed.slice(0, -1), "error"];
        continue;
      }
      const request = parser.next();
      if (request instanceof ParseError) return [...parsed, "error"];
      progress = request !== undefined;
      if (request)
        parsed.push(
          `${request.method} ${request.target} ${request.bodyLength} ${request.headers.list.join()}`,
        );
    }
    expect(parser.bufferedBytes).toBeLessThan(LIMITS.maxHeadBytes + 4);
  }
  return [...parsed, parser.inBody ? "in a body" : "in a head"];
}

test("the corpus is valid", () => {
  for (const text of CORPUS) expect(parse([text])).toHaveLength(2);
});

test("mutated requests are understood alike wherever they are cut, within the bound of the buffer", () => {
  fc.assert(
    fc.property(mutated, cuts, (text, positions) => {
      const whole = parse([text]);
      expect(parse(cut(text, positions))).toEqual(whole);
      expect(parse([...text])).toEqual(whole);
    }),
    { numRuns: runs(1_000) },
  );
});

test("a connection answers mutated requests with whole responses, and never fails", async () => {
  await fc.assert(
    fc.asyncProperty(mutated, cuts, async (text, positions) => {
      const harness = new ConnectionHarness();
      for (const piece of cut(text, positions)) harness.receive(piece);
      for (let before = -1; before < harness.handler.requests.length; await nextTurn())
        before = harness.handler.requests.length;
      const output = harness.takeOutput();
      const heads = output.split(/(?=HTTP\/1\.1 \d\d\d )/).filter((part) => part !== "");
      for (const response of heads)
        expect(response).toMatch(/^HTTP\/1\.1 (100|200|204|304|400|401) .*\r\n\r\n/s);
      expect(harness.handler.errors).toEqual([]);
      harness.connection.onEnd();
      for (let n = 0; n < 50 && !harness.socket.calls.includes("end"); n++) await nextTurn();
      expect(harness.socket.calls.at(-1)).toBe("end");
    }),
    { numRuns: runs(1_000) },
  );
});
