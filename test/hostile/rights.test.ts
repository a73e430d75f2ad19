/** Rights and records at the boundary of the process: a user for metrics only, and the audit lines. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { basic, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const DEVICES = "/controller/v1/devices";
const passwd = (path: string, name: string, password: string, ...flags: string[]) =>
  runCommand(["passwd", ...flags, path, name], { stdin: `${password}\n` });
const as = (service: Service, credentials: string, path: string, init: RequestInit = {}) =>
  service.fetch(path, { ...init, headers: { ...init.headers, authorization: basic(credentials) } });
const auditLines = (service: Service) =>
  service
    .stderr()
    .split("\n")
    .filter((line) => / audit /.test(line))
    .map((line) => line.replace(/^\S+ /, ""));

test("a user with the role metrics reads /metrics and nothing else, in all processes", async () => {
  const users = join(temporaryFolder(), "users");
  await passwd(users, "ann", "secret");
  await passwd(users, "prometheus", "scrape", "--role", "metrics");
  // A new password keeps the role.
  await passwd(users, "prometheus", "scrape2");
  expect(readFileSync(users, "utf8")).toMatch(/^prometheus:\$argon2id\$[^:]*:metrics$/m);
  const bad = await passwd(users, "prometheus", "scrape", "--role", "admin");
  expect([bad.status, bad.stderr.includes("reader, metrics")]).toEqual([2, true]);
  await using service = await startService({
    args: ["--data", ":memory:", "--users", users, "--readers", "2"],
    credentials: null,
  });
  await until(() => service.stderr().includes("reader listens"), { what: "the reader" });
  // Makes the response a cached one.
  for (let i = 0; i < 8; i++) expect((await as(service, "ann:secret", DEVICES)).status).toBe(200);
  for (let i = 0; i < 8; i++) {
    for (const path of [DEVICES, "/", "/docs", "/openapi.json", "/nothing", "/-/login"]) {
      const response = await as(service, "prometheus:scrape2", path, { headers: { connection: "close" } });
      expect([path, response.status]).toEqual([path, 403]);
      expect(await response.json()).toMatchObject({ type: "/docs/errors#forbidden" });
    }
    const metrics = await as(service, "prometheus:scrape2", "/metrics", { headers: { connection: "close" } });
    expect([metrics.status, await metrics.text()]).toEqual([
      200,
      expect.stringContaining("gazetteer_revision"),
    ]);
    expect((await as(service, "prometheus:scrape2", "/readyz")).status).toBe(200);
  }
});

test("first logins, refusals and changed users are audited, without secrets", async () => {
  const users = join(temporaryFolder(), "users");
  await passwd(users, "ann", "pass-one");
  await using service = await startService({
    args: ["--data", ":memory:", "--users", users],
    credentials: null,
    env: { GAZETTEER_TRUSTED_PROXIES: "127.0.0.1" },
  });
  const headers = { "x-forwarded-for": "192.0.2.7" };
  for (let i = 0; i < 3; i++)
    expect((await as(service, "ann:pass-one", DEVICES, { headers })).status).toBe(200);
  const refused = await as(service, 'a"b n\u2028:pass-two', DEVICES, { headers });
  const { instance } = await refused.json();
  await service.fetch(DEVICES, { headers: { authorization: "Bearer token-three" } });
  await fetch(service.url + DEVICES);
  await passwd(users, "bob", "pass-four");
  await until(() => auditLines(service).some((line) => line.includes("users-changed")), {
    what: "the change",
  });
  const lines = auditLines(service);
  expect(lines).toHaveLength(4);
  expect(lines[0]).toMatch(/^audit login user=ann address=192\.0\.2\.7 id=[0-9a-f-]{36}$/);
  expect(lines[1]).toBe(
    `audit login-refused reason=wrong user="a\\"b n?" address=192.0.2.7 id=${instance.replace("urn:uuid:", "")}`,
  );
  expect(lines[2]).toMatch(/^audit login-refused reason=malformed address=127\.0\.0\.1 id=/);
  expect(lines[3]).toBe(`audit users-changed file=${users} added=bob`);
  expect(service.stderr()).not.toMatch(/pass-|token-three|argon2/);
});

interface AccessLine {
  readonly user?: string;
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly bytes: number;
  readonly ms: number;
  readonly id: string;
  readonly address: string;
  readonly time: string;
  readonly requestId?: string;
  readonly traceId?: string;
}

const accessLines = (path: string): AccessLine[] =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];

test("the access log has a JSON line for each response of all processes, and follows a rotation", async () => {
  const folder = temporaryFolder();
  const [path, rotated] = [join(folder, "access.log"), join(folder, "access.log.1")];
  await using service = await startService({
    args: ["--data", ":memory:", "--readers", "2", "--set", `accessLog=${path}`],
    env: { GAZETTEER_TRUSTED_PROXIES: "127.0.0.1" },
  });
  await until(() => service.stderr().includes("reader listens"), { what: "the reader" });
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const headers = {
    "x-forwarded-for": "192.0.2.7",
    "x-request-id": "r-1",
    traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    connection: "close",
  };
  for (let i = 0; i < 20; i++) await (await service.fetch(DEVICES, { headers })).text();
  const body = await (
    await service.fetch("/openapi.json", { headers: { ...headers, "accept-encoding": "identity" } })
  ).text();
  const wrong = await as(service, "reader:wrong", `${DEVICES}?q=%0A{"a":1}`, { headers });
  const { instance } = await wrong.json();
  await until(() => accessLines(path).length === 22, { what: "the lines" });
  const lines = accessLines(path);
  expect(lines.every(({ address, method }) => address === "192.0.2.7" && method === "GET")).toBe(true);
  expect(lines.every((line) => line.requestId === "r-1" && line.traceId === traceId)).toBe(true);
  expect(lines.filter(({ user, status }) => user === "reader" && status === 200)).toHaveLength(21);
  expect(new Set(lines.map(({ id }) => id)).size).toBe(22);
  expect(lines.find(({ target }) => target === "/openapi.json")?.bytes).toBe(Buffer.byteLength(body));
  const refused = lines.find(({ status }) => status === 401);
  expect(refused).toMatchObject({
    id: instance.replace("urn:uuid:", ""),
    target: `${DEVICES}?q=%0A{%22a%22:1}`,
  });
  expect(refused?.user).toBeUndefined();
  expect(readFileSync(path, "utf8")).not.toContain("secret");

  renameSync(path, rotated);
  process.kill(service.pid, "SIGHUP");
  await until(() => service.stderr().includes("configuration reloaded"), { what: "the reload" });
  for (let i = 0; i < 20; i++) await (await service.fetch(DEVICES, { headers })).text();
  await until(() => accessLines(path).length + accessLines(rotated).length >= 42, { what: "the new lines" });
  expect(accessLines(path).length).toBe(20);
});

test("/metrics has latencies by route and status, the delay of the loop, logins and refusals of each user", async () => {
  await using service = await startService({
    args: ["--data", ":memory:", "--readers", "2", "--set", "limits.streamsPerUser=0"],
  });
  await until(() => service.stderr().includes("reader listens"), { what: "the reader" });
  const headers = { connection: "close" };
  for (let i = 0; i < 30; i++) await (await service.fetch(DEVICES, { headers })).text();
  for (let i = 0; i < 10; i++)
    expect((await service.fetch(`${DEVICES}?format=events`, { headers })).status).toBe(429);
  await as(service, "reader:wrong", DEVICES);
  const samples = async () => {
    const text = await (await service.fetch("/metrics")).text();
    return new Map(
      text
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
    );
  };
  // Those of the reader come a second later.
  const family = "gazetteer_http_request_duration_seconds";
  const labels = 'read="devices",status="200"';
  const metrics = await until(
    async () => {
      const found = await samples();
      const isComplete =
        found.get(`${family}_count{${labels}}`) === 30 &&
        found.has('gazetteer_logins_total{outcome="wrong"}');
      return isComplete ? found : undefined;
    },
    { what: "the counts of all processes" },
  );
  expect(metrics.get(`${family}_bucket{${labels},le="+Inf"}`)).toBe(30);
  expect(metrics.get(`gazetteer_http_requests_total{${labels}}`)).toBe(30);
  expect(metrics.get(`${family}_count{read="devices",status="429"}`)).toBe(10);
  expect(metrics.get('gazetteer_user_refusals_total{user="reader",reason="too-many-streams"}')).toBe(10);
  expect(metrics.get('gazetteer_logins_total{outcome="wrong"}')).toBe(1);
  expect(metrics.get("gazetteer_loop_delay_seconds_count")).toBeGreaterThan(0);
  expect(metrics.get("gazetteer_access_log_dropped_total")).toBe(0);
});
