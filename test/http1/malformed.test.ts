/** Malformed HTTP/1.1: one problem response, and the connection closes, whatever bytes follow. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { API, AUTHORIZATION, type Harness, openHarness } from "../api/harness.ts";
import { SAMPLE } from "../api/network.ts";
import { COMMON_HEADERS, problemCode, requestText, StrictClient } from "./strict-client.ts";

let h: Harness;
beforeAll(async () => {
  h = await openHarness();
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

describe("malformed requests", () => {
  const first = (line: string) => `${line}\r\n${COMMON_HEADERS}\r\n`;
  const lines = (more: string) => `GET ${API}/topology HTTP/1.1\r\n${COMMON_HEADERS}${more}\r\n`;
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
    [
      "a folded first line",
      `GET ${API}/topology HTTP/1.1\r\n X: y\r\n${COMMON_HEADERS}\r\n`,
      400,
      "bad-request",
    ],
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
      // Bytes that a lenient parser would take for the next request, or for the end of a chunked body.
      for (const after of [requestText("/metrics"), `0\r\n\r\n${requestText("/metrics")}`, "\r\n\r\n"]) {
        await using client = new StrictClient(h.port);
        const responses = await client.send(text + after).remainingResponses();
        expect(responses.map((response) => [response.status, problemCode(response)])).toEqual([
          [status, code],
        ]);
        expect(responses[0]?.headers.get("content-type")).toBe("application/problem+json");
        expect(responses[0]?.headers.get("connection")).toBe("close");
        expect(JSON.parse(responses[0]?.body ?? "")).toMatchObject({ status, code: status });
        expect(client.error).toBeUndefined();
      }
    },
  );

  test("the response to the request before a malformed one is still sent", async () => {
    await using client = new StrictClient(h.port);
    const responses = await client
      .send(`${requestText("topology")}GET / HTTP/1.1\r\n\r\n${requestText("/metrics")}`)
      .remainingResponses();
    expect(responses.map(({ status }) => status)).toEqual([200, 400]);
  });

  test("a client that keeps sending after a malformed request still gets the problem", async () => {
    await using client = new StrictClient(h.port);
    await client.sendSeparately([`POST / HTTP/1.1\r\n\r\n`, ...Array<string>(50).fill("x".repeat(60_000))]);
    expect((await client.remainingResponses()).map(problemCode)).toEqual(["bad-request"]);
    await using atOnce = new StrictClient(h.port);
    const responses = await atOnce
      .send(`POST / HTTP/1.1\r\n\r\n${"x".repeat(3_000_000)}`)
      .remainingResponses();
    expect(responses.map(problemCode)).toEqual(["bad-request"]);
    expect(atOnce.error).toBeUndefined();
  });
});

test("limits are exact: a URL and a head of exactly the limit are accepted", async () => {
  await using client = new StrictClient(h.port);
  const longest = `${API}/devices?q=`;
  const address = longest + "x".repeat(8192 - longest.length);
  expect((await client.request(requestText(address))).status).toBe(200);
  expect(problemCode(await client.request(requestText(`${address}x`)))).toBe("uri-too-long");
  const plain = requestText("topology").length - 4;
  const filled = requestText("topology", `X: ${"y".repeat(16_384 - plain - 5)}\r\n`);
  expect(filled.length - 4).toBe(16_384);
  expect((await client.request(filled)).status).toBe(200);
  expect(problemCode(await client.request(filled.replace("X: ", "X: y")))).toBe("headers-too-large");
});
