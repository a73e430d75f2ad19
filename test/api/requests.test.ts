/** Part 1 of the interface: paths, methods, and requests with bodies or headers that a GET should not have. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rawRequest } from "../http1/raw-request.ts";
import { API, AUTHORIZATION, type Harness, openHarness } from "./harness.ts";
import { deviceId, SAMPLE } from "./network.ts";

let h: Harness;
beforeAll(async () => {
  h = await openHarness({ aliases: ["lab"] });
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

const COLLECTIONS = ["devices", "links", "hosts", "topology"] as const;
const DETAILS = [
  "devices/ports",
  `devices/${deviceId(1)}`,
  `devices/${deviceId(1)}/ports`,
  "hosts/00:00:00:00:00:01/None",
  "topology/clusters",
  "topology/clusters/0",
  "topology/clusters/0/devices",
  "topology/clusters/0/links",
];

test.each([...COLLECTIONS, ...DETAILS])(
  "%s is JSON without caching, and the same with a trailing slash",
  async (path) => {
    const plain = await h.fetch(path);
    expect(plain.status).toBe(200);
    expect(plain.headers.get("content-type")).toBe("application/json");
    expect(plain.headers.get("cache-control")).toBe("private, no-cache");
    expect(plain.headers.get("gazetteer-revision")).toBe(String(h.view.revision));
    const slashed = await h.fetch(`${path}/`);
    expect(slashed.status).toBe(200);
    expect(await slashed.text()).toBe(await plain.text());
  },
);

test.each([...COLLECTIONS, ...DETAILS])("%s is the same under an alias", async (path) => {
  expect(await (await h.fetch(`/lab/v1/${path}`)).text()).toBe(await (await h.fetch(path)).text());
});

const HEAD_PATHS = [
  ...COLLECTIONS,
  ...DETAILS,
  "devices?limit=2",
  "devices?format=csv",
  "topology?format=svg",
  "devices?format=events",
  "nothing",
  "devices?typ=x",
  "/healthz",
  "/metrics",
  "/openapi.json",
];

test.each(HEAD_PATHS)("HEAD %s has the headers of GET and no body", async (path) => {
  const target = path.startsWith("/") ? path : `${API}/${path}`;
  const read = async (method: string) => {
    // Reads to the end of the connection, so that a late body is seen.
    const { head, body } = await rawRequest(
      h.port,
      `${method} ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\nConnection: close\r\n\r\n`,
    );
    return { head, body };
  };
  const get = await read("GET");
  const head = await read("HEAD");
  expect(head.body).toBe("");
  const headersOf = ({ head: lines }: typeof get) =>
    lines
      .map((line) => line.toLowerCase())
      // Date differs, and each request changes the length of the metrics.
      .filter(
        (line) => !line.startsWith("date:") && !(path === "/metrics" && line.startsWith("content-length:")),
      )
      .sort();
  expect(headersOf(head)).toEqual(headersOf(get));
  if (head.head.some((line) => line.startsWith("HTTP/1.1 200")) && target.startsWith(API))
    expect(head.head.some((line) => /^date:/i.test(line))).toBe(true);
});

test.each([...COLLECTIONS, ...DETAILS, "/", "/healthz", "/readyz", "/metrics", "/openapi.json"])(
  "%s: any other method is a 405 with Allow",
  async (path) => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const response = await h.fetch(path, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
      expect(await response.json()).toMatchObject({ type: "/docs/errors#method-not-allowed", code: 405 });
    }
  },
);

test("OPTIONS needs no credentials and lists the methods", async () => {
  for (const path of [
    "/controller/v1/devices",
    "/controller/v1/devices/unknown",
    "/",
    "/docs/errors",
    "/healthz",
  ]) {
    const response = await fetch(h.url + path, {
      method: "OPTIONS",
      headers: { origin: "https://a.example" },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
  const serverWide = await rawRequest(h.port, "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  expect(serverWide.head[0]).toStartWith("HTTP/1.1 204");
});

test("OPTIONS on a path that does not exist is a 404, also without credentials", async () => {
  for (const path of [
    "/nothing",
    "/controller",
    "/controller/v2/devices",
    "/controller/v1/nothing",
    "/docs/nothing",
  ]) {
    const response = await fetch(h.url + path, { method: "OPTIONS" });
    expect([path, response.status]).toEqual([path, 404]);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  }
  await using withAlias = await openHarness({ aliases: ["onos"] });
  const response = await fetch(`${withAlias.url}/onos/v1/flowz`, { method: "OPTIONS" });
  expect([response.status, response.headers.get("content-type")]).toEqual([404, "application/json"]);
});

test.each([
  ["/nothing", "/controller/v1"],
  ["/controller/v1", "/controller/v1/devices"],
  ["/controller/v1/", "/controller/v1/devices"],
  ["/controller/v1/switches", "/controller/v1/devices"],
  ["/controller/v1/links/x", "DEVICE/PORT-DEVICE/PORT"],
  [`/controller/v1/devices/${deviceId(1)}/ports/99`, `${deviceId(1)}/99`],
  ["/controller/v1/topology/nothing", "/controller/v1/topology"],
  ["/controller/v1/topology/clusters/x", "/controller/v1/topology"],
  ["/controller/v1/topology/clusters/0/hosts", "/controller/v1/topology"],
  ["/controller/v1/topology/clusters/99", "0 to"],
  [`/controller/v1/devices/${deviceId(99)}`, deviceId(99)],
  ["/controller/v1/hosts/unknown", "MAC/VLAN"],
  ["/controller/v1/Devices", "/controller/v1/devices"],
])("%s is a 404 that lists what exists", async (path, detail) => {
  const response = await h.fetch(path);
  expect(response.status).toBe(404);
  const body = await response.json();
  expect(body.type).toBe("/docs/errors#not-found");
  expect(body.detail).toContain(detail);
});

test.each(["/controller/v2/devices", "/controller/v1.1/devices", "/controller", "/lab/v2/devices"])(
  "%s is a 404 that names the versions",
  async (path) => {
    const response = await h.fetch(path);
    expect(response.status).toBe(404);
    const { type, detail } = await response.json();
    expect(type).toBe("/docs/errors#version-unknown");
    expect(detail).toContain(`/${path.split("/")[1]}/v1`);
  },
);

const HOST = "00:00:00:00:00:02/10";
test.each([
  [`devices/${deviceId(1)}`, deviceId(1)],
  [`devices/${encodeURIComponent(deviceId(1))}`, deviceId(1)],
  [`devices/netconf:198.51.100.7:830`, "netconf:198.51.100.7:830"],
  [`hosts/${HOST}`, HOST],
  [`hosts/${encodeURIComponent(HOST)}`, HOST],
  ["hosts/00-00-00-00-00-02/10", HOST],
  ["hosts/0000.0000.0002/10", HOST],
  ["hosts/00:00:00:00:00:01/None", "00:00:00:00:00:01/None"],
  ["hosts/00:00:00:00:00:01/-1", "00:00:00:00:00:01/None"],
  ["hosts/00%3A00%3A00%3A00%3A00%3A01%2F-1", "00:00:00:00:00:01/None"],
  ["hosts/00:00:00:00:00:01", "00:00:00:00:00:01/None"],
])("%s is %s", async (path, id) => {
  expect(await h.json(path)).toMatchObject({ id });
});

test("a path that is not percent-encoded UTF-8 is a 400", async () => {
  const response = await h.fetch("devices/%ff%fe");
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ type: "/docs/errors#bad-path" });
});

test("no response has a max-age", async () => {
  for (const path of [...HEAD_PATHS, "/readyz", "/nothing", "topology?format=dot"]) {
    if (path.includes("events")) continue;
    expect((await h.fetch(path)).headers.get("cache-control") ?? "").not.toContain("max-age");
  }
});

const get = (path: string, more: string, body = "") =>
  `GET ${API}/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n${more}\r\n${body}`;

test("a GET with a body gets the same response as one without, and the connection stays open", async () => {
  const requests = [
    get("topology", "Content-Type: application/json\r\nContent-Length: 2\r\n", "{}"),
    get("topology", "Content-Type: application/x-www-form-urlencoded\r\n"),
    get("topology", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
    get("topology", "Content-Length: 5\r\nExpect: 100-continue\r\n", "hello"),
  ];
  const expected = await (await h.fetch("topology")).text();
  for (const text of requests) {
    const { all } = await rawRequest(h.port, text + get("topology", "Connection: close\r\n"));
    expect(all.split(expected).length - 1).toBe(2);
  }
});

test("the response does not wait for a request body that never arrives", async () => {
  for (const more of ["Content-Length: 500000000\r\n", "Transfer-Encoding: chunked\r\n"]) {
    const { head } = await rawRequest(h.port, get("topology", more, "5\r\nhello\r\n"));
    expect(head[0]).toBe("HTTP/1.1 200 OK");
  }
});

test("an authenticated request body of 1 MB is skipped, and the connection stays open", async () => {
  const text = get("topology", `Content-Length: ${1024 * 1024}\r\n`);
  const { all } = await rawRequest(h.port, text, {
    body: [Buffer.alloc(1024 * 1024, "x")],
    last: get("topology", "Connection: close\r\n"),
  });
  expect(all.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
});

test("a request of HTTP/1.0 without Host is served", async () => {
  const { head } = await rawRequest(
    h.port,
    `GET ${API}/devices HTTP/1.0\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`,
  );
  expect(head[0]).toBe("HTTP/1.1 200 OK");
});

test("a request target in absolute form is the same resource", async () => {
  const text = `GET http://elsewhere${API}/devices HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`;
  expect((await rawRequest(h.port, text)).head[0]).toBe("HTTP/1.1 200 OK");
});

test("a Host header with a path does not change the path of the request", async () => {
  const text = `GET ${API}/devices HTTP/1.1\r\nHost: x/healthz?\r\n\r\n`;
  expect((await rawRequest(h.port, text)).head[0]).not.toContain("200");
});

test("a request target that is too long is a 414", async () => {
  const response = await h.fetch(`devices?q=${"x".repeat(8192)}`);
  expect(response.status).toBe(414);
  expect(await response.json()).toMatchObject({ type: "/docs/errors#uri-too-long" });
});

test("headers that are too large are a 431", async () => {
  const { head } = await rawRequest(h.port, get("topology", `X: ${"y".repeat(64 * 1024)}\r\n`));
  expect(head[0]).toStartWith("HTTP/1.1 431");
});

test("CORS: only configured origins get Access-Control headers", async () => {
  await using open = await openHarness({ origins: ["https://map.example"] });
  const preflight = (origin: string) =>
    fetch(`${open.url}${API}/devices`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization",
      },
    });
  const allowed = await preflight("https://map.example");
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get("access-control-allow-origin")).toBe("https://map.example");
  expect(allowed.headers.get("access-control-allow-headers")).toBe(
    "authorization, content-type, cache-control, if-none-match, last-event-id, gazetteer-min-revision",
  );
  expect((await preflight("https://evil.example")).headers.get("access-control-allow-origin")).toBeNull();
  for (const path of ["devices", "nothing", "topology?x=y", "devices?format=events"]) {
    const response = await open.fetch(path, { headers: { origin: "https://map.example" } });
    expect(response.headers.get("access-control-allow-origin")).toBe("https://map.example");
    expect(response.headers.get("access-control-expose-headers")).toContain("Gazetteer-Revision");
    expect(response.headers.get("vary")).toContain("Origin");
    await response.body?.cancel();
    const other = await open.fetch(path, { headers: { origin: "https://evil.example" } });
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
    expect(other.headers.get("vary")).toContain("Origin");
    await other.body?.cancel();
  }
  const refused = await fetch(`${open.url}${API}/devices`, { headers: { origin: "https://map.example" } });
  expect(refused.status).toBe(401);
  expect(refused.headers.get("access-control-allow-origin")).toBe("https://map.example");
});
