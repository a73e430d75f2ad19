/** Forwarding, at the sockets: what a controller gets of a request, and what a client gets of its response. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Connection } from "../../service/connection.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { basic, type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { type RawUpstream, response, startRawUpstream } from "./raw-upstream.ts";

const CREDENTIALS = "onos:ro:cks";
let upstream: RawUpstream;
let service: Service;
let folder: string;

beforeAll(async () => {
  upstream = await startRawUpstream();
  folder = temporaryFolder();
  const credentialsFile = join(folder, "onos.credentials");
  writeFileSync(credentialsFile, `${CREDENTIALS}\n`, { mode: 0o600 });
  const config = {
    aliases: ["onos"],
    accessLog: join(folder, "access.log"),
    sources: [
      {
        type: "controller",
        name: "onos",
        url: upstream.url,
        credentialsFile,
        forward: ["flows", "cluster", "mastership", "network", "/onos/sadis"],
      },
      { type: "file", path: join(folder, "network.json") },
    ],
  };
  writeFileSync(join(folder, "network.json"), '{"devices":[{"id":"of:1"}]}');
  writeFileSync(join(folder, "g.json"), JSON.stringify(config));
  service = await startService({ args: ["--config", join(folder, "g.json"), "--data", ":memory:"] });
});

beforeEach(() => {
  upstream.requests.length = 0;
  upstream.respond = (socket) =>
    void socket.end(response('{"flows":[]}', "Content-Type: application/json\r\n"));
});

const request = async (path: string, headers?: Record<string, string>, method?: string) => {
  const connection = await Connection.open(service);
  const result = await connection.get(path, headers, method);
  connection.close();
  return result;
};
const requestLine = () => upstream.last.head.split("\r\n")[0];
const names = (head: string) =>
  head
    .split("\r\n")
    .slice(1)
    .map((line) => line.slice(0, line.indexOf(":")).toLowerCase())
    .sort();

describe("the request", () => {
  test("goes to the configured URL with the configured credentials, and only with headers of the list", async () => {
    const { status, body } = await request("/onos/v1/flows/of:0000000000000001?a=1&b=%2F..&c", {
      Accept: "application/json",
      "If-None-Match": '"x"',
      Cookie: "session=1",
      "X-Forwarded-For": "10.9.9.9",
      "X-Forwarded-Proto": "https",
      Forwarded: "for=10.9.9.9",
      "X-Secret": "1",
      Connection: "keep-alive, X-Secret, Range",
      Range: "bytes=0-1",
      TE: "trailers",
      Upgrade: "h2c",
      "Proxy-Authorization": "Basic eDp5",
      Referer: "http://elsewhere/",
      Origin: "http://elsewhere",
      "User-Agent": "curl",
      Host: "elsewhere.example",
    });
    expect([status, body.toString()]).toEqual([200, '{"flows":[]}']);
    expect(requestLine()).toBe("GET /onos/v1/flows/of:0000000000000001?a=1&b=%2F..&c HTTP/1.1");
    const { head } = upstream.last;
    expect(names(head)).toEqual(
      ["accept", "accept-encoding", "authorization", "connection", "host", "if-none-match", "via"].sort(),
    );
    expect(head).toContain(basic(CREDENTIALS));
    expect(head).toContain(new URL(upstream.url).host);
    for (const text of ["elsewhere", "10.9.9.9", basic("reader:secret"), "session", "curl"])
      expect(head).not.toContain(text);
  });

  test("HEAD stays HEAD, and its length is that of GET", async () => {
    upstream.respond = (socket) =>
      void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nConnection: close\r\n\r\n");
    const { status, headers } = await request("/onos/v1/cluster", {}, "HEAD");
    expect(requestLine()).toBe("HEAD /onos/v1/cluster HTTP/1.1");
    expect([status, headers.get("content-length")]).toEqual([200, "1234"]);
  });

  const forwarded: [path: string, sent: string][] = [
    ["/onos/v1/flows", "/onos/v1/flows"],
    ["/onos/v1/flows/", "/onos/v1/flows/"],
    ["/onos/v1/%66lows/a%20b", "/onos/v1/flows/a%20b"],
    ["/onos/v1/flows/of%3a1", "/onos/v1/flows/of:1"],
    ["/onos/v1/mastership/of:1/role", "/onos/v1/mastership/of:1/role"],
    ["/onos/sadis/subscribers/a?x=1", "/onos/sadis/subscribers/a?x=1"],
    ["/onos/v1/network/configuration/ports/of:1%2f2", "/onos/v1/network/configuration/ports/of:1%2F2"],
    ["/onos/v1/flows/%C3%A9?x='1'|2", "/onos/v1/flows/%C3%A9?x=%271%27|2"],
  ];
  for (const [path, sent] of forwarded) {
    test(`${path} is sent as ${sent}`, async () => {
      expect((await request(path)).status).toBe(200);
      expect(requestLine()).toBe(`GET ${sent} HTTP/1.1`);
    });
  }

  const notForwarded: [path: string, status: number][] = [
    ["/onos/v1/flowsx", 404],
    ["/onos/v1/Flows", 404],
    ["/onos/v1/flow", 404],
    ["/onos/v1/applications", 501],
    ["/onos/v1/mastership", 405],
    ["/onos/v1/mastership/of:1/request", 405],
    ["/onos/sadis/management/purge/rules", 405],
    ["/onos/v1/mastership/of%3A1/re%6Cinquish/", 405],
    ["/onos/v1/flows%2f..%2fapplications", 404],
    ["/onos/v1/flows/../applications", 404],
    ["/onos/v1/flows/%2e%2e/applications", 404],
    ["/onos/v1/flows/.%2E/applications", 404],
    ["/onos/v1/flows/..;/applications", 404],
    ["/onos/v1/flows/%252e%252e/applications", 404],
    ["/onos/v1/flows/..%2fapplications", 404],
    ["/onos/v1/flows/..%5capplications", 404],
    ["/onos/v1/flows/.", 404],
    ["/onos/v1/flows//applications", 404],
    ["/onos/v1//flows", 404],
    ["/onos/v1/./flows", 404],
    ["/onos//v1/flows", 404],
    ["//onos/v1/flows", 404],
    ["/onos/v1/flows;a=b", 404],
    ["/onos/v1/flows%00", 404],
    ["/onos/v1/flows%0d%0aX:1", 404],
    ["/onos/v1/flows/%ff", 400],
    ["/onos/v2/flows", 404],
    ["/controller/v1/flows", 404],
    ["/flows", 404],
    ["/onos/v1/devices/of:1/../../flows", 404],
  ];
  for (const [path, status] of notForwarded) {
    test(`${path} is not sent`, async () => {
      expect((await request(path)).status).toBe(status);
      expect(upstream.requests).toEqual([]);
    });
  }

  test("what this service has itself is served here", async () => {
    const devices = async () => JSON.parse((await request("/onos/v1/devices")).body.toString()).devices;
    await until(async () => (await devices()).length > 0, { what: "the device of the file" });
    expect(await devices()).toHaveLength(1);
    expect(upstream.requests).toEqual([]);
  });

  test("is refused without credentials, and with another method", async () => {
    expect((await request("/onos/v1/flows", { Authorization: basic("reader:wrong") })).status).toBe(401);
    const posted = await request("/onos/v1/flows", { "Content-Length": "0" }, "POST");
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await request("/onos/v1/flows", {}, "OPTIONS")).status).toBe(204);
    expect((await request("/onos/v1/applications", {}, "OPTIONS")).status).toBe(204);
    expect(upstream.requests).toEqual([]);
  });

  test("that comes back here in a loop is refused", async () => {
    await request("/onos/v1/flows", { Via: "1.1 proxy.example, 1.1 gazetteer-other" });
    const via = /^via: (.*)$/im.exec(upstream.last.head)?.[1] ?? "";
    expect(via).toMatch(/^1\.1 gazetteer-other, 1\.1 gazetteer-[\w-]+$/);
    upstream.requests.length = 0;
    expect((await request("/onos/v1/flows", { Via: via })).status).toBe(502);
    expect(upstream.requests).toEqual([]);
  });
});

describe("the response", () => {
  test("passes with headers of the list only, and with the security headers of this service", async () => {
    upstream.respond = (socket) =>
      void socket.end(
        response(
          "<script>",
          [
            "Content-Type: text/html",
            'ETag: "7"',
            "Set-Cookie: JSESSIONID=1",
            "WWW-Authenticate: Basic realm=x",
            "Keep-Alive: timeout=5",
            "X-Powered-By: Jetty",
            "Access-Control-Allow-Origin: *",
            "Cache-Control: public, max-age=3600",
            "Content-Security-Policy: default-src *",
            "Gazetteer-Revision: 999999",
            "Location: http://inside.example/",
            "Server: Jetty",
            "",
          ].join("\r\n"),
        ),
      );
    const { status, headers, body } = await request("/onos/v1/flows");
    expect([status, body.toString(), headers.get("content-type")]).toEqual([200, "<script>", "text/html"]);
    expect([...headers.keys()].filter((name) => name !== "").sort()).toEqual(
      [
        "cache-control",
        "content-length",
        "content-security-policy",
        "content-type",
        "cross-origin-resource-policy",
        "date",
        "etag",
        "gazetteer-log",
        "x-content-type-options",
      ].sort(),
    );
    expect(headers.get("cache-control")).toBe("private, no-cache");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; sandbox; frame-ancestors 'none'",
    );
  });

  for (const status of ["404 Not Found", "409 Conflict", "500 Server Error", "302 Found"]) {
    test(`${status} passes with its body`, async () => {
      upstream.respond = (socket) => void socket.end(response('{"code":1}', "", status));
      const passed = await request("/onos/v1/flows");
      expect([passed.status, passed.body.toString()]).toEqual([Number(status.slice(0, 3)), '{"code":1}']);
    });
  }

  test("304 passes with the entity tag", async () => {
    upstream.respond = (socket) => void socket.end('HTTP/1.1 304 Not Modified\r\nETag: "7"\r\n\r\n');
    const { status, headers } = await request("/onos/v1/flows", { "If-None-Match": '"7"' });
    expect([status, headers.get("etag")]).toEqual([304, '"7"']);
  });

  for (const status of ["401 Unauthorized", "403 Forbidden", "407 Proxy"]) {
    test(`${status} is 502 in the shape of ONOS, without the controller's words`, async () => {
      upstream.respond = (socket) =>
        void socket.end(response("inside.example says no", "WWW-Authenticate: Basic\r\n", status));
      const { status: sent, headers, body } = await request("/onos/v1/flows");
      expect(sent).toBe(502);
      expect(JSON.parse(body.toString())).toEqual({
        code: 502,
        message:
          "The controller of the source onos did not accept the credentials that are configured for it.",
      });
      expect([headers.has("www-authenticate"), headers.get("cache-control")]).toEqual([false, "no-store"]);
    });
  }

  test("is counted, and has a line in the access log", async () => {
    upstream.respond = (socket) => void socket.end(response("12345"));
    const count = async () => {
      const text = await (await service.fetch("/metrics")).text();
      const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
      return {
        requests: value('gazetteer_forwarded_requests_total\\{source="onos",status="200"\\}'),
        bytes: value('gazetteer_forwarded_bytes_total\\{source="onos"\\}'),
        http: value('gazetteer_http_requests_total\\{read="forwarded",status="200"\\}'),
        open: value("gazetteer_forwards_open"),
      };
    };
    const before = await count();
    await request("/onos/v1/flows?counted");
    expect(await count()).toEqual({
      requests: before.requests + 1,
      bytes: before.bytes + 5,
      http: before.http + 1,
      open: 0,
    });
    await service.stop();
    const line = (await Bun.file(join(folder, "access.log")).text())
      .split("\n")
      .find((text) => text.includes("?counted"));
    expect(JSON.parse(line ?? "{}")).toMatchObject({ user: "reader", status: 200, bytes: 5 });
    for (const text of [service.stdout(), service.stderr()]) expect(text).not.toContain("ro:cks");
  });
});
