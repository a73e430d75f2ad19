/** Parts 10 and 11 of the interface: the one shape of all problems, the documentation of each code, and the limits. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { PROBLEM_SCHEMA } from "../../src/api/openapi/parts.ts";
import { PROBLEMS, type ProblemCode } from "../../src/api/response/problem.ts";
import { slowRequest } from "../http1/raw-request.ts";
import { until } from "../support/until.ts";
import { openEventReader } from "./events.ts";
import { AUTHORIZATION, type Harness, openHarness } from "./harness.ts";
import { deviceId, SAMPLE } from "./network.ts";

let h: Harness;
beforeAll(async () => {
  h = await openHarness();
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

const check = Compile(Type.Object(PROBLEM_SCHEMA.properties, { additionalProperties: false }));

async function problemOf(response: Response): Promise<[number, string]> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const text = await response.text();
  const body: Record<string, unknown> = JSON.parse(text);
  expect(check.Errors(body)).toEqual([]);
  expect([body.status, body.code]).toEqual([response.status, response.status]);
  expect(body.message).toBe(body.detail);
  expect(body.instance).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
  const code = String(body.type).replace(/^\/docs\/errors#/, "");
  expect(Object.keys(PROBLEMS)).toContain(code);
  for (const key of ["devices", "links", "hosts", "ports"]) expect(body).not.toHaveProperty(key);
  // No internals: no file path, no line of a stack trace.
  expect(text).not.toMatch(/\/src\/|\.ts\b|node_modules|\bat \S+ \(/);
  return [response.status, code];
}

test.each<[ProblemCode, string, RequestInit]>([
  ["bad-parameter", "devices?x=1", {}],
  ["bad-cursor", "devices?cursor=x", {}],
  ["bad-path", "devices/%ff", {}],
  ["revision-unknown", "devices?at=99", {}],
  ["credentials-required", "devices", { headers: { authorization: "Basic x" } }],
  ["not-found", "devices/x", {}],
  ["version-unknown", "/controller/v9/devices", {}],
  ["method-not-allowed", "devices", { method: "DELETE" }],
  ["not-acceptable", "devices", { headers: { accept: "image/png" } }],
  ["uri-too-long", `devices?q=${"x".repeat(9000)}`, {}],
])("%s", async (code, path, init) => {
  expect(await problemOf(await h.fetch(path, init))).toEqual([PROBLEMS[code].status, code]);
});

test("text of the request is quoted and shortened in the detail", async () => {
  const response = await h.fetch(`devices?type=${encodeURIComponent(`"<b>\n${"x".repeat(500)}`)}`);
  const { detail } = await response.json();
  expect(detail).toContain('\\"<b>\\n');
  expect(detail.length).toBeLessThan(500);
});

test("internal: an unexpected error is a 500 without internals, and the service goes on", async () => {
  await using broken = await openHarness({
    sources: () => {
      throw new Error("secret/src/file.ts: at Object.<anonymous> (x.ts:1)");
    },
  });
  expect(await problemOf(await broken.fetch("/metrics"))).toEqual([500, "internal"]);
  expect((await broken.fetch("devices")).status).toBe(200);
});

test("too-many-requests: every response has the rate limit headers, and the limit refills by time", async () => {
  await using limited = await openHarness({ limits: { requestsPerSecond: 3 } });
  const left: (string | null)[] = [];
  for (let i = 0; i < 3; i++) {
    const { status, headers } = await limited.fetch(["devices", "nothing", "/openapi.json"][i] ?? "");
    expect(status).toBe(i === 1 ? 404 : 200);
    expect(headers.get("ratelimit-policy")).toBe('"user";q=3;w=1');
    left.push(headers.get("ratelimit"));
  }
  expect(left).toEqual(['"user";r=2;t=1', '"user";r=1;t=1', '"user";r=0;t=1']);
  const refused = await limited.fetch("devices");
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await problemOf(refused)).toEqual([429, "too-many-requests"]);
  await limited.clock.advance(400);
  expect((await limited.fetch("devices")).status).toBe(200);
  expect((await limited.fetch("devices")).status).toBe(429);
});

test("overloaded: a request beyond the maximum in flight is a 503", async () => {
  await using busy = await openHarness({ limits: { connections: 2 } });
  await busy.replace(SAMPLE);
  const [one, two] = [await openEventReader(busy, "devices"), await openEventReader(busy, "links")];
  const refused = await busy.fetch("devices?available=true");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await problemOf(refused)).toEqual([503, "overloaded"]);
  expect((await busy.fetch("/healthz")).status).toBe(200);
  await one.close();
  await two.close();
  await until(async () => (await busy.fetch("devices?available=true")).status === 200, {
    what: "the streams to be closed",
  });
});

test("stopping: requests in flight get their whole response", async () => {
  const stopping = await openHarness();
  const devices = Array.from({ length: 2_000 }, (_, i) => ({ id: deviceId(i), mfr: "x".repeat(15_000) }));
  await stopping.replace({ devices });
  const slow = slowRequest(stopping.port, "/controller/v1/devices", AUTHORIZATION);
  await slow.started;
  const stopped = stopping.server.stop(60_000);
  const body = JSON.parse((await slow.finish()).toString());
  expect(body.devices).toHaveLength(2_000);
  await stopped;
  await stopping.stop();
});

test("docs/errors.md explains every code and no other", async () => {
  const text = await Bun.file(join(import.meta.dir, "..", "..", "docs", "errors.md")).text();
  const sections = text.split(/^## /m).slice(1);
  const explained = sections.map((section) => section.slice(0, section.indexOf("\n")));
  expect(explained.toSorted()).toEqual(Object.keys(PROBLEMS).toSorted());
  for (const section of sections) {
    const [code = "", status] = [
      section.slice(0, section.indexOf("\n")),
      /^\*\*(\d+)\.\*\*/m.exec(section)?.[1],
    ];
    const known = Object.entries(PROBLEMS).find(([name]) => name === code)?.[1].status;
    expect([code, Number(status)]).toEqual([code, known ?? 0]);
  }
});

test("readiness: 503 while a source has not synced, 200 when one is stale, with the status of each", async () => {
  const states: ("starting" | "synced" | "stale")[] = ["starting", "synced"];
  await using service = await openHarness({
    sources: () =>
      states.map((status, i) => ({
        name: `s${i}`,
        kind: "demo",
        status,
        since: 5,
        restarts: 0,
        ...(status === "stale" && { error: "no response", lastSyncedAt: 4 }),
      })),
  });
  const ready = async () => {
    const response = await service.fetch("/readyz");
    expect(response.headers.get("content-type")).toBe("application/json");
    return [response.status, await response.json()];
  };
  expect(await ready()).toMatchObject([503, { status: "starting", revision: 0 }]);
  states[0] = "stale";
  expect(await ready()).toMatchObject([
    200,
    {
      status: "degraded",
      sources: [{ name: "s0", status: "stale", error: "no response", lastSyncedAt: 4 }, { status: "synced" }],
    },
  ]);
  states[0] = "synced";
  expect(await ready()).toMatchObject([200, { status: "ready" }]);
});

test("readiness: a source that fails since the start holds up nobody once there is a network to serve", async () => {
  const source = { name: "s", kind: "http", status: "starting", since: 5, restarts: 0 } as const;
  let error: string | undefined;
  await using service = await openHarness({ sources: () => [{ ...source, ...(error && { error }) }] });
  const ready = async () => {
    const response = await service.fetch("/readyz");
    return [response.status, await response.json()];
  };
  expect(await ready()).toMatchObject([503, { status: "starting" }]);
  error = "nothing listens there";
  expect(await ready()).toMatchObject([503, { status: "starting", revision: 0 }]);
  await service.replace(SAMPLE);
  expect(await ready()).toMatchObject([
    200,
    { status: "degraded", sources: [{ status: "starting", error }] },
  ]);
});
