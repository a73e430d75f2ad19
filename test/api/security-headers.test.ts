/** What a browser and a probe may learn: headers of every response, `/readyz` without credentials, unknown hosts. */
import { expect, test } from "bun:test";
import { rawRequest } from "../http1/raw-request.ts";
import { API, AUTHORIZATION, openHarness } from "./harness.ts";
import { SAMPLE } from "./network.ts";

const AUTH = `Authorization: ${AUTHORIZATION}\r\n`;
const get = (path: string, more = AUTH, host = "x") =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`;

/** The lines of the head with one of the security headers. */
const securityLines = (head: readonly string[]) =>
  head.filter((line) => /^(x-content-type|content-security|cross-origin-resource)/i.test(line)).sort();

const REQUESTS = [
  get(`${API}/devices`),
  get(`${API}/devices?format=events`),
  get(`${API}/devices`, ""),
  get(`${API}/nothing`),
  get("/nothing", `${AUTH}Accept: text/html,application/xhtml+xml\r\n`),
  get("/healthz"),
  get("/readyz"),
  get("/metrics"),
  get("/openapi.json"),
  get("/openapi.json", `${AUTH}If-None-Match: *\r\n`),
  get("/docs/errors"),
  `OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  `HEAD /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  "NONSENSE\r\n\r\n",
  "GET / HTTP/2.0\r\n\r\n",
];

test("every response has the security headers, once", async () => {
  for (const origins of [[], ["https://map.example.net"]]) {
    await using h = await openHarness({ origins });
    await h.replace(SAMPLE);
    const resourcePolicy = origins.length > 0 ? "cross-origin" : "same-origin";
    for (const request of REQUESTS) {
      const { head } = await rawRequest(h.port, request);
      const [policy = "", ...others] = securityLines(head);
      expect([request, policy.startsWith("Content-Security-Policy: ")]).toEqual([request, true]);
      expect(policy).toContain("frame-ancestors 'none'");
      const isPage = head.some((line) => /^content-type: text\/html/i.test(line));
      expect([request, policy.includes("default-src 'none'; sandbox; ")]).toEqual([request, !isPage]);
      expect([request, ...others]).toEqual([
        request,
        `Cross-Origin-Resource-Policy: ${resourcePolicy}`,
        "X-Content-Type-Options: nosniff",
      ]);
    }
  }
});

test("every response to valid credentials names the log, once, and no other does", async () => {
  const log = (head: readonly string[]) => head.filter((line) => /^gazetteer-log:/i.test(line));
  for (const requestsPerSecond of [0, 1]) {
    await using h = await openHarness({ limits: { requestsPerSecond } });
    const stranger = `Authorization: Basic ${btoa("reader:wrong")}\r\n`;
    const wanted = [`Gazetteer-Log: ${h.log.id}`];
    for (const request of REQUESTS.filter((text) => text.includes(AUTH))) {
      const { head } = await rawRequest(h.port, request);
      const isPublic = request.startsWith("GET /healthz");
      expect([request, ...log(head)]).toEqual([request, ...(isPublic ? [] : wanted)]);
    }
    for (const path of [`${API}/devices`, "/readyz"])
      expect(log((await rawRequest(h.port, get(path, stranger))).head)).toEqual([]);
  }
});

test("responses from the cache and 304s have them too", async () => {
  await using h = await openHarness();
  await h.replace(SAMPLE);
  const etag = (await h.fetch("devices")).headers.get("etag") ?? "";
  for (let i = 0; i < 4; i++) {
    for (const headers of [{}, { "if-none-match": etag }]) {
      const response = await h.fetch("devices", { headers });
      expect(response.headers.get("content-security-policy")).toBe(
        "default-src 'none'; sandbox; frame-ancestors 'none'",
      );
      expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
    }
  }
});

test("/readyz has the state of the sources for valid credentials only", async () => {
  await using h = await openHarness();
  const body = async (authorization?: string) => {
    const response = await fetch(`${h.url}/readyz`, { headers: authorization ? { authorization } : {} });
    expect(response.status).toBe(200);
    return response.json();
  };
  expect(await body()).toEqual({ status: "ready" });
  expect(await body(`Basic ${btoa("reader:wrong")}`)).toEqual({ status: "ready" });
  expect(await body("Bearer x")).toEqual({ status: "ready" });
  expect(await body(AUTHORIZATION)).toEqual({
    status: "ready",
    revision: 0,
    logId: expect.any(String),
    sources: [],
    version: "1.2.3",
    storage: { bytes: 0, oldest: 0, oldestTime: 0, snapshots: 0 },
  });
});

test("with configured hosts a request for another one is a 421, also from the cache; probes are not", async () => {
  await using h = await openHarness({ hosts: ["net.example.org", "192.0.2.1", "::1"] });
  await h.replace(SAMPLE);
  const status = async (host: string, path = `${API}/devices`, more = AUTH) =>
    Number((await rawRequest(h.port, get(path, more, host))).head[0]?.split(" ")[1]);
  for (const host of [
    "net.example.org",
    "NET.example.org.",
    "net.example.org:8181",
    "192.0.2.1:1",
    "[::1]:8181",
  ])
    for (let i = 0; i < 3; i++) expect([host, await status(host)]).toEqual([host, 200]);
  for (const host of [
    "evil.example",
    "net.example.org.evil.example",
    "xnet.example.org",
    "[::2]",
    "",
    "192.0.2.1:x",
  ])
    expect([host, await status(host)]).toEqual([host, 421]);
  expect(await status("evil.example", `${API}/devices`, "")).toBe(421);
  expect([await status("evil.example", "/healthz"), await status("evil.example", "/readyz")]).toEqual([
    200, 200,
  ]);
  // The host of an absolute target takes precedence.
  expect(await status("net.example.org", `http://evil.example${API}/devices`)).toBe(421);
  expect(await status("evil.example", `http://net.example.org${API}/devices`)).toBe(200);
  const { head, body } = await rawRequest(h.port, get("/", AUTH, "evil.example"));
  expect(head[0]).toBe("HTTP/1.1 421 Misdirected Request");
  expect(body).toContain("/docs/errors#misdirected-request");
});
