/** The reads of the client: their requests, their results and their errors. */
import { describe, expect, test } from "bun:test";
import { type Client, createClient } from "../../src/client/client.ts";
import { until } from "../support/until.ts";
import { problemResponse, type ScriptedResponse, startFakeService, textResponse } from "./fake-service.ts";
import { FastClock } from "./fast-clock.ts";

async function startClient(...script: ScriptedResponse[]) {
  const service = await startFakeService(...script);
  const clock = new FastClock();
  return { service, clock, client: createClient({ url: service.url, credentials: "reader:secret", clock }) };
}

const page = (ids: string[], next?: string) =>
  textResponse(JSON.stringify({ devices: ids.map((id) => ({ id })), ...(next ? { next } : {}) }), {
    "gazetteer-revision": "7",
    etag: '"e7"',
  });

describe("lists", () => {
  test("a list has items, revision and etag", async () => {
    const { service, client } = await startClient(page(["a", "b"]));
    const result = await client.list("devices", { at: new Date(0), q: "a b&c", limit: undefined });
    expect(result).toMatchObject({ items: [{ id: "a" }, { id: "b" }], revision: 7, etag: '"e7"' });
    expect("next" in result).toBe(false);
    expect(service.requests[0]?.query).toEqual({ at: "1970-01-01T00:00:00.000Z", q: "a b&c" });
  });

  test("a conditional list is undefined when nothing changed", async () => {
    const { service, client } = await startClient(textResponse("", {}, 304), page(["a"]));
    expect(await client.list("devices", {}, { ifNoneMatch: '"e7"' })).toBeUndefined();
    expect(service.requests[0]?.headers["if-none-match"]).toBe('"e7"');
    expect(await client.list("devices", {}, { ifNoneMatch: '"e7"' })).toMatchObject({ items: [{ id: "a" }] });
  });

  test("pages follows the cursors", async () => {
    const { service, client } = await startClient(page(["a", "b"], "c1"), page(["c"], "c2"), page([]));
    const ids: string[] = [];
    for await (const { items } of client.pages("devices", { limit: 2, sort: "-id" })) {
      ids.push(...items.map(({ id }) => id));
    }
    expect(ids).toEqual(["a", "b", "c"]);
    expect(service.requests.map(({ query }) => query)).toEqual([
      { limit: "2", sort: "-id" },
      { limit: "2", sort: "-id", cursor: "c1" },
      { limit: "2", sort: "-id", cursor: "c2" },
    ]);
  });
});

describe("every other read sends the right request", () => {
  const calls: [name: string, call: (client: Client) => Promise<unknown>, path: string, body?: object][] = [
    ["device", (c) => c.device("of:1/x"), "/controller/v1/devices/of%3A1%2Fx"],
    ["ports", (c) => c.ports("of:1"), "/controller/v1/devices/of%3A1/ports"],
    [
      "host",
      (c) => c.host("00:00:00:00:00:01/None"),
      "/controller/v1/hosts/00%3A00%3A00%3A00%3A00%3A01%2FNone",
    ],
    ["topology", (c) => c.topology({ at: 5 }), "/controller/v1/topology?at=5"],
    ["clusters", (c) => c.clusters(), "/controller/v1/topology/clusters", { clusters: [] }],
    [
      "clusterDevices",
      (c) => c.clusterDevices(0),
      "/controller/v1/topology/clusters/0/devices",
      { devices: [] },
    ],
    ["clusterLinks", (c) => c.clusterLinks(0), "/controller/v1/topology/clusters/0/links", { links: [] }],
    ["changes", (c) => c.changes("hosts", 5, { fold: true }), "/controller/v1/hosts?fold=true&since=5"],
    [
      "diff",
      (c) => c.diff("topology", 5, new Date(0)),
      "/controller/v1/topology?diff=5..1970-01-01T00%3A00%3A00.000Z",
    ],
    [
      "diff until now",
      (c) => c.diff("links", "2026-01-01T00:00:00Z"),
      "/controller/v1/links?diff=2026-01-01T00%3A00%3A00Z..",
    ],
    [
      "timeline",
      (c) => c.timeline(60, { from: new Date(0) }),
      "/controller/v1/topology?from=1970-01-01T00%3A00%3A00.000Z&timeline=60",
    ],
    ["raw", (c) => c.raw("topology", { format: "svg" }), "/controller/v1/topology?format=svg"],
  ];
  test.each(calls)("%s", async (_, call, path, body = {}) => {
    const { service, client } = await startClient(textResponse(JSON.stringify(body)));
    await call(client);
    const [request] = service.requests;
    const query = new URLSearchParams(request?.query);
    expect(`${request?.path}${query.size > 0 ? `?${query}` : ""}`).toBe(path);
    expect(request?.headers.authorization).toBe(`Basic ${btoa("reader:secret")}`);
  });

  test("ready sends credentials, for the state of the sources, and accepts a 503", async () => {
    const { service, client } = await startClient(
      textResponse('{"status":"starting","revision":0,"sources":[]}', {}, 503),
    );
    expect((await client.ready()).status).toBe("starting");
    expect(service.requests[0]?.path).toBe("/readyz");
    expect(service.requests[0]?.headers.authorization).toBe(`Basic ${btoa("reader:secret")}`);
  });
});

describe("errors", () => {
  test("a problem becomes an error with its code, detail and Retry-After", async () => {
    const { client } = await startClient(problemResponse(429, "too-many-requests", { "retry-after": "2" }));
    const error = await client.topology().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: "ClientError",
      status: 429,
      code: "too-many-requests",
      detail: "because of too-many-requests",
      retryAfterMs: 2000,
      transient: true,
    });
  });

  test("an ambiguous name becomes an error with the candidates", async () => {
    const body = { type: "/docs/errors#ambiguous-name", detail: "2 devices", candidates: ["a", "b", 3] };
    const { client } = await startClient(
      textResponse(JSON.stringify(body), { "content-type": "application/problem+json" }, 400),
    );
    await expect(client.device("leaf")).rejects.toMatchObject({
      code: "ambiguous-name",
      candidates: ["a", "b"],
    });
  });

  test("an error page of a proxy becomes an error with its status only", async () => {
    const { client } = await startClient(
      textResponse("<h1>Bad gateway</h1>".repeat(100_000), { "content-type": "text/html" }, 502),
    );
    await expect(client.topology()).rejects.toMatchObject({
      status: 502,
      code: "http-502",
      detail: "Bad Gateway",
    });
  });

  test("no listener at the address", async () => {
    const { url } = await startFakeService();
    const client = createClient({ url: url.replace(/\d+$/, "1") });
    await expect(client.topology()).rejects.toMatchObject({ status: 0, code: "unreachable" });
  });

  test.each([
    ["not JSON", textResponse("<p>")],
    ["null", textResponse("null", { "gazetteer-revision": "7" })],
    ["another list", textResponse('{"hosts":[]}', { "gazetteer-revision": "7" })],
    ["a list without a revision", textResponse('{"devices":[]}')],
  ])("a response that is %s", async (_, response) => {
    const { client } = await startClient(response);
    await expect(client.list("devices")).rejects.toMatchObject({ status: 0, code: "protocol" });
  });

  test("a redirect is not followed", async () => {
    const other = await startFakeService(page(["a"]));
    const { client } = await startClient(
      textResponse("", { location: `${other.url}/controller/v1/devices` }, 302),
    );
    await expect(client.list("devices")).rejects.toMatchObject({ status: 0, code: "unreachable" });
    expect(other.requests).toEqual([]);
  });

  test("a body without data for the idle timeout", async () => {
    const { client, clock } = await startClient({ ...page(["a"]), body: ['{"devices":['], after: "hold" });
    const failed = client.list("devices").catch((thrown: unknown) => thrown);
    let error: unknown;
    void failed.then((thrown) => {
      error = thrown;
    });
    await until(() => error !== undefined || void clock.expireIdleTimeouts(), { what: "the idle timeout" });
    expect(error).toMatchObject({ status: 0, code: "silent" });
  });

  test("an aborted read rejects with the reason of the caller's signal", async () => {
    const { client } = await startClient({ ...page(["a"]), body: ['{"devices":['], after: "hold" });
    const abort = new AbortController();
    const list = client.list("devices", {}, { signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(list).rejects.toThrow("enough");
  });
});
