/** Part 8 of the interface: who may read, how clients say so, and what those hear who may not. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openUsers } from "../../src/api/auth/users.ts";
import { ManualClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { rawRequest } from "../http1/raw-request.ts";
import { API, type Harness, openHarness } from "./harness.ts";
import { SAMPLE } from "./network.ts";
import { withUsersFile } from "./users-file.ts";

const PASSWORD = "pässwörd:with colons";
let h: Harness;
beforeAll(async () => {
  const clock = new ManualClock();
  const users = await openUsers({ environment: `jörg:${PASSWORD}`, clock, logger: silentLogger });
  h = await openHarness({ users, clock });
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

const encoded = (text: string, encoding: BufferEncoding = "utf8") =>
  `Basic ${Buffer.from(text, encoding).toString("base64")}`;
const RIGHT = encoded(`jörg:${PASSWORD}`);
const ask = (path: string, authorization?: string, init: RequestInit = {}) =>
  fetch(h.url + path, { ...init, headers: authorization === undefined ? {} : { authorization } });

const LOCKED = [
  `${API}/devices`,
  `${API}/devices/x`,
  `${API}/topology?format=svg`,
  `${API}/devices?format=events`,
  `${API}/devices?nonsense=1`,
  `${API}/nothing`,
  "/controller/v2/devices",
  "/",
  "/metrics",
  "/openapi.json",
  "/nothing",
  "/assets/app.js",
  `/${"x".repeat(9000)}`,
];

test.each(LOCKED)("%s: 401 with a challenge and nothing else, without credentials", async (path) => {
  for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
    const response = await ask(path, undefined, { method });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Basic realm="controller", charset="UTF-8"');
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("etag")).toBeNull();
    expect(response.headers.get("gazetteer-revision")).toBeNull();
    if (method !== "HEAD") expect(await response.json()).toMatchObject({ status: 401, code: 401 });
  }
});

test("the probes need none", async () => {
  expect((await ask("/healthz")).status).toBe(200);
  expect((await ask("/readyz")).status).toBe(200);
});

test.each([
  "Basic",
  "Basic ",
  "Basic !!!!",
  `Basic ${btoa("no-colon")}`,
  `Bearer ${btoa(`jorg:${PASSWORD.length}`)}`,
  `Digest username="jörg"`.normalize("NFD").replace(/[^\x20-\x7e]/g, ""),
  RIGHT.slice(6),
  `${RIGHT} x`,
  `Basic ${"A".repeat(10_000)}`,
  encoded(":"),
  encoded("jörg:"),
  encoded("jörg:wrong"),
  encoded(`nobody:${PASSWORD}`),
  encoded(`JÖRG:${PASSWORD}`),
  encoded(`jörg:${PASSWORD}\u0000`),
])("%s is refused with the same words", async (authorization) => {
  // Each from an address of its own, or the last ones would be throttled.
  h.clock.advance(60_000);
  const response = await ask(`${API}/devices`, authorization);
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toStartWith("Basic ");
  const { detail } = await response.json();
  expect(detail).toContain("The user name or the password is wrong");
});

test.each([
  ["UTF-8", RIGHT],
  ["Latin-1, as Python's requests sends", encoded(`jörg:${PASSWORD}`, "latin1")],
  ["a letter made of two characters, as macOS types it", encoded(`jörg:${PASSWORD}`.normalize("NFD"))],
  ["a scheme in lower case", RIGHT.replace("Basic", "basic")],
  ["no padding", RIGHT.replace(/=+$/, "")],
])("right credentials in %s", async (_, authorization) => {
  expect((await ask(`${API}/devices`, authorization)).status).toBe(200);
});

test("credentials in the address, and waiting for the challenge: curl", async () => {
  const curl = Bun.which("curl");
  if (!curl) throw new Error("curl is not installed");
  const run = async (...args: string[]) => {
    const child = Bun.spawn([curl, "-s", "-o", "/dev/null", "-w", "%{http_code}", ...args]);
    return new Response(child.stdout).text();
  };
  const user = `${encodeURIComponent("jörg")}:${encodeURIComponent(PASSWORD)}`;
  expect(await run(`http://${user}@127.0.0.1:${h.port}${API}/devices`)).toBe("200");
  expect(await run("--anyauth", "-u", `jörg:${PASSWORD}`, `${h.url}${API}/devices`)).toBe("200");
  expect(await run(`${h.url}${API}/devices`)).toBe("401");
});

test("a client that asks first without, on one connection, is then served on it", async () => {
  const get = (more: string) => `GET ${API}/topology HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const { all } = await rawRequest(h.port, get(""), {
    last: get(`Authorization: ${RIGHT}\r\nConnection: close\r\n`),
  });
  expect(all.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 200"]);
});

test("wrong passwords are throttled where they come from, and nobody is locked out", async () => {
  const { users } = h;
  await using fresh = await openHarness({ users, host: "0.0.0.0" });
  const from = (localAddress: string, authorization: string) =>
    rawRequest(
      fresh.port,
      `GET ${API}/topology HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
      { localAddress },
    );
  const tries = await Promise.all(
    Array.from({ length: 20 }, (_, i) => from("127.0.0.1", encoded(`jörg:guess ${i}`))),
  );
  const statuses = tries.map(({ head }) => head[0]?.split(" ")[1]);
  expect(statuses.filter((status) => status === "401")).toHaveLength(10);
  expect(statuses.filter((status) => status === "429")).toHaveLength(10);
  const throttled = tries.find(({ head }) => head[0]?.includes("429"));
  expect(throttled?.head.find((line) => line.startsWith("Retry-After: "))).toMatch(/: [1-9]\d*$/);
  expect(throttled?.body).toContain("#too-many-failures");
  expect((await from("127.0.0.2", RIGHT)).head[0]).toContain("200");
  // Known by now, it is served from the throttled address too.
  expect((await from("127.0.0.1", RIGHT)).head[0]).toContain("200");
  // Without any credentials there is nothing to throttle: the challenge is still given.
  expect((await fetch(`http://127.0.0.1:${fresh.port}${API}/topology`)).status).toBe(401);
  await fresh.clock.advance(2_000);
  expect((await from("127.0.0.1", encoded("jörg:once more"))).head[0]).toContain("401");
});

test("who is taken from the users file, or gets another password, is out at once, streams too", async () => {
  await withUsersFile(async (users, write) => {
    await using service = await openHarness({ users });
    await service.replace(SAMPLE);
    const stream = async (user: string) => {
      const headers = { authorization: encoded(user) };
      const response = await service.fetch("devices?format=events", { headers });
      expect(response.status).toBe(200);
      return response.text();
    };
    const status = async (user: string) =>
      (await service.fetch("devices", { headers: { authorization: encoded(user) } })).status;
    const ann = stream("ann:one");
    const bob = stream("bob:two");
    expect([await status("ann:one"), await status("bob:two")]).toEqual([200, 200]);

    await write("ann:TWO\nbob:TWO\ncleo:ONE\n");
    const last = (await ann).trimEnd().split("\n\n").at(-1);
    expect(last).toBe('retry: 10000\nevent: closing\ndata: {"reason":"credentials"}');
    expect([await status("ann:one"), await status("ann:two")]).toEqual([401, 200]);
    expect([await status("bob:two"), await status("cleo:one")]).toEqual([200, 200]);

    await write("cleo:ONE\n");
    expect(await bob).toEndWith('data: {"reason":"credentials"}\n\n');
    expect(await status("bob:two")).toBe(401);
  });
});
