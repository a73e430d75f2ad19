/** What is not HTTP/1.1 by the letter: one problem, and the connection closes, whatever would have followed. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { API, AUTHORIZATION, type Harness, openHarness } from "../api/harness.ts";
import { SAMPLE } from "../api/network.ts";
import { ask, codeOf, LINES, Talk } from "./strict-client.ts";

let h: Harness;
beforeAll(async () => {
  h = await openHarness();
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

describe("refused", () => {
  const first = (line: string) => `${line}\r\n${LINES}\r\n`;
  const lines = (more: string) => `GET ${API}/topology HTTP/1.1\r\n${LINES}${more}\r\n`;
  const TABLE: [name: string, text: string, status: number, code: string][] = [
    ["HTTP/0.9", `GET ${API}/topology\r\n\r\n`, 400, "bad-request"],
    ["a version of its own", first(`GET ${API}/topology HTTP/1.1.1`), 400, "bad-request"],
    ["lower case", first(`GET ${API}/topology http/1.1`), 400, "bad-request"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "http-version"],
    ["HTTP/3", first(`GET ${API}/topology HTTP/3.0`), 505, "http-version"],
    ["TLS", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n", 400, "bad-request"],
    ["CONNECT", first("CONNECT elsewhere:443 HTTP/1.1"), 400, "bad-request"],
    ["an asterisk", first("GET * HTTP/1.1"), 400, "bad-request"],
    ["two spaces", first(`GET  ${API}/topology HTTP/1.1`), 400, "bad-request"],
    ["bare line feeds", lines("").replaceAll("\r\n", "\n"), 400, "bad-request"],
    ["a bare line feed", lines("X: y\n"), 400, "bad-request"],
    ["a bare carriage return", lines("X: y\rZ: z\r\n"), 400, "bad-request"],
    ["NUL", lines("X: \0\r\n"), 400, "bad-request"],
    ["a folded line", lines("X: y\r\n z\r\n"), 400, "bad-request"],
    ["a folded first line", `GET ${API}/topology HTTP/1.1\r\n X: y\r\n${LINES}\r\n`, 400, "bad-request"],
    ["space before a colon", lines("X : y\r\n"), 400, "bad-request"],
    ["no name", lines(": y\r\n"), 400, "bad-request"],
    ["no colon", lines("X\r\n"), 400, "bad-request"],
    [
      "no host",
      `GET ${API}/topology HTTP/1.1\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`,
      400,
      "bad-request",
    ],
    ["two hosts", lines("Host: y\r\n"), 400, "bad-request"],
    ["a host with a path", lines("").replace("Host: x", "Host: x/healthz"), 400, "bad-request"],
    ["a length and chunks", lines("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400, "bad-request"],
    ["chunks and a length", lines("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), 400, "bad-request"],
    ["two lengths", lines("Content-Length: 0\r\nContent-Length: 9\r\n"), 400, "bad-request"],
    ["the same length twice", lines("Content-Length: 0\r\nContent-Length: 0\r\n"), 400, "bad-request"],
    ["a list of lengths", lines("Content-Length: 0, 0\r\n"), 400, "bad-request"],
    ["a length with a sign", lines("Content-Length: +0\r\n"), 400, "bad-request"],
    ["a length too large", lines("Content-Length: 99999999999999999999\r\n"), 400, "bad-request"],
    ["another coding", lines("Transfer-Encoding: gzip, chunked\r\n"), 400, "bad-request"],
    [
      "chunked twice",
      lines("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
      400,
      "bad-request",
    ],
    ["a hidden coding", lines("Transfer-Encoding: \x0bchunked\r\n"), 400, "bad-request"],
    ["chunks in HTTP/1.0", lines("Transfer-Encoding: chunked\r\n").replace("1.1", "1.0"), 400, "bad-request"],
    ["a size that is none", `${lines("Transfer-Encoding: chunked\r\n")}0x0\r\n\r\n`, 400, "bad-request"],
    [
      "a size too large",
      `${lines("Transfer-Encoding: chunked\r\n")}ffffffffffffffff0\r\n`,
      400,
      "bad-request",
    ],
    [
      "a chunk without its end",
      `${lines("Transfer-Encoding: chunked\r\n")}1\r\nx0\r\n\r\n`,
      400,
      "bad-request",
    ],
    [
      "a chunk with a bare line feed",
      `${lines("Transfer-Encoding: chunked\r\n")}0\n\r\n`,
      400,
      "bad-request",
    ],
    ["a long address", first(`GET ${API}/devices?q=${"x".repeat(17_000)} HTTP/1.1`), 414, "uri-too-long"],
    ["a long address that does not end", `GET /${"x".repeat(17_000)}`, 414, "uri-too-long"],
    ["a large head", lines(`X: ${"y".repeat(17_000)}\r\n`), 431, "headers-too-large"],
    ["a large head that does not end", lines(`X: ${"y".repeat(17_000)}`).trimEnd(), 431, "headers-too-large"],
    ["many lines", lines("X: y\r\n".repeat(101)), 431, "headers-too-large"],
  ];

  test.each(TABLE)(
    "%s: one problem, then the connection closes, and nothing after it is read",
    async (...row) => {
      const [, text, status, code] = row;
      // What would be the next request, if somebody looked for one, and a chunked body's end, if it were one.
      for (const after of [ask("/metrics"), `0\r\n\r\n${ask("/metrics")}`, "\r\n\r\n"]) {
        await using talk = new Talk(h.port);
        const answers = await talk.send(text + after).rest();
        expect(answers.map((answer) => [answer.status, codeOf(answer)])).toEqual([[status, code]]);
        expect(answers[0]?.headers.get("content-type")).toBe("application/problem+json");
        expect(answers[0]?.headers.get("connection")).toBe("close");
        expect(JSON.parse(answers[0]?.body ?? "")).toMatchObject({ status, code: status });
        expect(talk.error).toBeUndefined();
      }
    },
  );

  test("a request that is refused does not take the one before it with it", async () => {
    await using talk = new Talk(h.port);
    const answers = await talk.send(`${ask("topology")}GET / HTTP/1.1\r\n\r\n${ask("/metrics")}`).rest();
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  });

  test("a client that sends on after it was refused still gets to read why", async () => {
    await using talk = new Talk(h.port);
    await talk.sendApart([`POST / HTTP/1.1\r\n\r\n`, ...Array<string>(50).fill("x".repeat(60_000))]);
    expect((await talk.rest()).map(codeOf)).toEqual(["bad-request"]);
    await using atOnce = new Talk(h.port);
    const answers = await atOnce.send(`POST / HTTP/1.1\r\n\r\n${"x".repeat(3_000_000)}`).rest();
    expect(answers.map(codeOf)).toEqual(["bad-request"]);
    expect(atOnce.error).toBeUndefined();
  });
});

test("limits are met to the byte: an address and a head of exactly so many are taken", async () => {
  await using talk = new Talk(h.port);
  const longest = `${API}/devices?q=`;
  const address = longest + "x".repeat(8192 - longest.length);
  expect((await talk.answerTo(ask(address))).status).toBe(200);
  expect(codeOf(await talk.answerTo(ask(`${address}x`)))).toBe("uri-too-long");
  const plain = ask("topology").length - 4;
  const filled = ask("topology", `X: ${"y".repeat(16_384 - plain - 5)}\r\n`);
  expect(filled.length - 4).toBe(16_384);
  expect((await talk.answerTo(filled)).status).toBe(200);
  expect(codeOf(await talk.answerTo(filled.replace("X: ", "X: y")))).toBe("headers-too-large");
});
