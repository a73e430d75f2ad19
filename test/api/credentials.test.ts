/** Part 8 of the interface: valid credentials in every form clients send them, and the 401 and 429 of all others. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hashTokenSecret, randomTokenSecret } from "../../src/api/auth/password.ts";
import { openUsers } from "../../src/api/auth/users.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { rawRequest } from "../http1/raw-request.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/until.ts";
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

const basicAuth = (text: string, encoding: BufferEncoding = "utf8") =>
  `Basic ${Buffer.from(text, encoding).toString("base64")}`;
const VALID = basicAuth(`jörg:${PASSWORD}`);
const request = (path: string, authorization?: string, init: RequestInit = {}) =>
  fetch(h.url + path, { ...init, headers: authorization === undefined ? {} : { authorization } });

const PROTECTED_PATHS = [
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

test.each(PROTECTED_PATHS)(
  "%s without credentials is a 401 with a challenge, and says nothing about the resource",
  async (path) => {
    for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
      const response = await request(path, undefined, { method });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe('Basic realm="controller", charset="UTF-8"');
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(response.headers.get("etag")).toBeNull();
      expect(response.headers.get("gazetteer-revision")).toBeNull();
      if (method !== "HEAD") expect(await response.json()).toMatchObject({ status: 401, code: 401 });
    }
  },
);

test("the health probes need no credentials", async () => {
  expect((await request("/healthz")).status).toBe(200);
  expect((await request("/readyz")).status).toBe(200);
});

test.each([
  "Basic",
  "Basic ",
  "Basic !!!!",
  `Basic ${btoa("no-colon")}`,
  `Digest username="jörg"`.normalize("NFD").replace(/[^\x20-\x7e]/g, ""),
  VALID.slice(6),
  `${VALID} x`,
  `Basic ${"A".repeat(10_000)}`,
  basicAuth(":"),
  basicAuth("jörg:"),
  basicAuth("jörg:wrong"),
  basicAuth(`unknown:${PASSWORD}`),
  basicAuth(`JÖRG:${PASSWORD}`),
  basicAuth(`jörg:${PASSWORD}\u0000`),
])("%s is a 401 with the same detail", async (authorization) => {
  // Otherwise the last ones would be throttled.
  h.clock.advance(60_000);
  const response = await request(`${API}/devices`, authorization);
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toStartWith("Basic ");
  const { detail } = await response.json();
  expect(detail).toContain("The user name or the password is wrong");
});

test.each([
  ["UTF-8", VALID],
  ["Latin-1, as Python's requests sends", basicAuth(`jörg:${PASSWORD}`, "latin1")],
  ["a letter made of two characters, as macOS types it", basicAuth(`jörg:${PASSWORD}`.normalize("NFD"))],
  ["a scheme in lower case", VALID.replace("Basic", "basic")],
  ["no padding", VALID.replace(/=+$/, "")],
])("valid credentials in %s", async (_, authorization) => {
  expect((await request(`${API}/devices`, authorization)).status).toBe(200);
});

test("curl sends credentials from the URL, and after the challenge", async () => {
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

test("a request after a 401 on the same connection is served", async () => {
  const get = (more: string) => `GET ${API}/topology HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const { all } = await rawRequest(h.port, get(""), {
    last: get(`Authorization: ${VALID}\r\nConnection: close\r\n`),
  });
  expect(all.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 200"]);
});

test("wrong passwords are throttled by address and user name, and nobody else is locked out", async () => {
  const { users } = h;
  await using fresh = await openHarness({ users, host: "0.0.0.0" });
  const from = (localAddress: string, authorization: string) =>
    rawRequest(
      fresh.port,
      `GET ${API}/topology HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
      { localAddress },
    );
  let settled = 0;
  const tries = Array.from({ length: 20 }, (_, i) =>
    from("127.0.0.1", basicAuth(`jörg:guess ${i}`)).finally(() => settled++),
  );
  // Ten are checked at once, eight wait for their turn, two are refused.
  await until(() => settled === 12, { what: "the guesses that are answered at once" });
  expect((await from("127.0.0.2", VALID)).head[0]).toContain("200");
  // The credential is cached by now, but where guesses are refused it is a guess like any other.
  expect((await from("127.0.0.1", VALID)).head[0]).toContain("429");
  // A request without credentials is not throttled.
  expect((await fetch(`http://127.0.0.1:${fresh.port}${API}/topology`)).status).toBe(401);
  for (let n = 13; n <= 20; n++) {
    await fresh.clock.advance(1000);
    await until(() => settled === n, { what: "one more guess a second" });
  }
  const answers = await Promise.all(tries);
  const statuses = answers.map(({ head }) => head[0]?.split(" ")[1]);
  expect(statuses.filter((status) => status === "401")).toHaveLength(18);
  expect(statuses.filter((status) => status === "429")).toHaveLength(2);
  const refused = answers.find(({ head }) => head[0]?.includes("429"));
  expect(refused?.head.find((line) => line.startsWith("Retry-After: "))).toMatch(/: [1-9]\d*$/);
  expect(refused?.body).toContain("#too-many-failures");
});

test("what needs no credentials does not depend on them: wrong ones do not count there, so right ones must not show", async () => {
  expect((await request(`${API}/devices`, VALID)).status).toBe(200);
  const responses = async (line: string) => {
    const body = "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello";
    const last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const lines = ["GET /healthz", "POST /healthz", "POST /readyz", "OPTIONS /", `OPTIONS ${API}/devices`];
    const all = lines.map((start) =>
      rawRequest(h.port, `${start} HTTP/1.1\r\nHost: x\r\n${line}${body}`, { last }),
    );
    return (await Promise.all(all)).map((response) => response.all.replace(/urn:uuid:[-\w]+/, ""));
  };
  expect(await responses(`Authorization: ${VALID}\r\n`)).toEqual(await responses(""));
});

test("a user who is removed from the users file, or has a new password, is rejected at once; open streams end", async () => {
  await withUsersFile(async (users, write) => {
    await using service = await openHarness({ users });
    await service.replace(SAMPLE);
    const stream = async (user: string) => {
      const headers = { authorization: basicAuth(user) };
      const response = await service.fetch("devices?format=events", { headers });
      expect(response.status).toBe(200);
      return response.text();
    };
    const status = async (user: string) =>
      (await service.fetch("devices", { headers: { authorization: basicAuth(user) } })).status;
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

const TOKEN_CHALLENGE =
  'Basic realm="controller", charset="UTF-8", Bearer realm="controller", error="invalid_token"';

test("a token is a user of the users file; a wrong or revoked one is a 401 with the challenge of tokens", async () => {
  const secret = randomTokenSecret();
  await withUsersFile(async (users, write) => {
    await write(`ann:ONE\nci:${hashTokenSecret(secret)}\nmetrics:${hashTokenSecret(secret)}:metrics\n`);
    await using service = await openHarness({ users });
    await service.replace(SAMPLE);
    const get = (path: string, token: string) =>
      service.fetch(path, { headers: { authorization: `Bearer ${token}` } });
    const token = `gzt.ci.${secret}`;
    expect((await get("devices", token)).status).toBe(200);
    expect((await get("devices", `gzt.metrics.${secret}`)).status).toBe(403);
    expect((await get("/metrics", `gzt.metrics.${secret}`)).status).toBe(200);
    const wrong = [
      `gzt.ci.${randomTokenSecret()}`,
      `gzt.nobody.${secret}`,
      `gzt.ann.${secret}`,
      "eyJhbGciOi.J9.x",
    ];
    for (const text of wrong) {
      const response = await get("devices", text);
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, TOKEN_CHALLENGE]);
      expect((await response.json()).detail).toStartWith("The token is wrong, has expired or was revoked");
    }
    const stream = (await get("devices?format=events", token)).text();
    await write("ann:ONE\n");
    expect(await stream).toEndWith('data: {"reason":"credentials"}\n\n');
    expect((await get("devices", token)).status).toBe(401);
  });
});

describe("a proxy that signs users in", () => {
  const withProxy = (body: (service: Harness) => Promise<void>, trustedProxies = ["127.0.0.1"]) =>
    withUsersFile(async (users) => {
      await using service = await openHarness({ users, trustedProxies, userHeader: "X-Remote-User" });
      await service.replace(SAMPLE);
      await body(service);
    });
  const get = async (service: Harness, headers: Record<string, string>, path = `${API}/devices`) => {
    const response = await fetch(service.url + path, { headers });
    const { detail = "" } = response.status === 401 ? await response.json() : {};
    return [response.status, detail];
  };
  const UNKNOWN = "The user whom the proxy has signed in is not a user of this service.";

  test("names a user of the users file, who needs no password; other names are refused", () =>
    withProxy(async (service) => {
      for (let i = 0; i < 3; i++) expect(await get(service, { "x-remote-user": "ann" })).toEqual([200, ""]);
      expect(await get(service, { "x-remote-user": "bob" })).toEqual([200, ""]);
      for (const name of ["cleo", "Ann", "ann, bob"])
        expect(await get(service, { "x-remote-user": name })).toEqual([401, UNKNOWN]);
      expect(
        (await (await fetch(`${service.url}/readyz`, { headers: { "x-remote-user": "ann" } })).json())
          .version,
      ).toBeString();
    }));

  test("without a name, a client logs in as usual", () =>
    withProxy(async (service) => {
      expect((await get(service, {}))[0]).toBe(401);
      expect((await get(service, { "x-remote-user": "" }))[0]).toBe(401);
      expect((await get(service, { authorization: basicAuth("ann:one") }))[0]).toBe(200);
    }));

  test("the user and the Authorization header must be the same user", () =>
    withProxy(async (service) => {
      const both = (user: string, login: string) =>
        get(service, { "x-remote-user": user, authorization: basicAuth(login) });
      expect(await both("ann", "ann:one")).toEqual([200, ""]);
      expect(await both("ann", "bob:two")).toEqual([
        401,
        "The user whom the proxy has signed in is not that of the Authorization header.",
      ]);
      expect((await both("ann", "ann:wrong"))[0]).toBe(401);
    }));

  test("from any other address the header is ignored", () =>
    withProxy(
      async (service) => {
        expect((await get(service, { "x-remote-user": "ann" }))[0]).toBe(401);
        expect((await get(service, { "x-remote-user": "ann", "x-forwarded-for": "192.0.2.1" }))[0]).toBe(401);
      },
      ["192.0.2.0/24"],
    ));
});
