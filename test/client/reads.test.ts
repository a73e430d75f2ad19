/** The reads of the client: what they ask, what they make of the answers, and how they fail. */
import { describe, expect, test } from "bun:test";
import { type Client, createClient } from "../../src/client/client.ts";
import { until } from "../support/until.ts";
import { answers, refusal, type Step, startFake } from "./fake-service.ts";
import { HastyClock } from "./fast-clock.ts";

async function asking(...script: Step[]) {
  const fake = await startFake(...script);
  const clock = new HastyClock();
  return { fake, clock, client: createClient({ url: fake.url, credentials: "reader:secret", clock }) };
}

const page = (ids: string[], next?: string) =>
  answers(JSON.stringify({ devices: ids.map((id) => ({ id })), ...(next ? { next } : {}) }), {
    "gazetteer-revision": "7",
    etag: '"e7"',
  });

describe("lists", () => {
  test("items, revision and etag", async () => {
    const { fake, client } = await asking(page(["a", "b"]));
    const listing = await client.list("devices", { at: new Date(0), q: "a b&c", limit: undefined });
    expect(listing).toMatchObject({ items: [{ id: "a" }, { id: "b" }], revision: 7, etag: '"e7"' });
    expect("next" in listing).toBe(false);
    expect(fake.asked[0]?.query).toEqual({ at: "1970-01-01T00:00:00.000Z", q: "a b&c" });
  });

  test("conditional: undefined when nothing changed", async () => {
    const { fake, client } = await asking(answers("", {}, 304), page(["a"]));
    expect(await client.list("devices", {}, { ifNoneMatch: '"e7"' })).toBeUndefined();
    expect(fake.asked[0]?.headers["if-none-match"]).toBe('"e7"');
    expect(await client.list("devices", {}, { ifNoneMatch: '"e7"' })).toMatchObject({ items: [{ id: "a" }] });
  });

  test("page by page, following cursors", async () => {
    const { fake, client } = await asking(page(["a", "b"], "c1"), page(["c"], "c2"), page([]));
    const ids: string[] = [];
    for await (const { items } of client.pages("devices", { limit: 2, sort: "-id" })) {
      ids.push(...items.map(({ id }) => id));
    }
    expect(ids).toEqual(["a", "b", "c"]);
    expect(fake.asked.map(({ query }) => query)).toEqual([
      { limit: "2", sort: "-id" },
      { limit: "2", sort: "-id", cursor: "c1" },
      { limit: "2", sort: "-id", cursor: "c2" },
    ]);
  });
});

describe("every other read asks the right thing", () => {
  const calls: [name: string, call: (client: Client) => Promise<unknown>, path: string, answer?: object][] = [
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
  test.each(calls)("%s", async (_, call, path, answer = {}) => {
    const { fake, client } = await asking(answers(JSON.stringify(answer)));
    await call(client);
    const [asked] = fake.asked;
    const query = new URLSearchParams(asked?.query);
    expect(`${asked?.path}${query.size > 0 ? `?${query}` : ""}`).toBe(path);
    expect(asked?.headers.authorization).toBe(`Basic ${btoa("reader:secret")}`);
  });

  test("ready: without credentials, and `starting` is an answer", async () => {
    const { fake, client } = await asking(
      answers('{"status":"starting","revision":0,"sources":[]}', {}, 503),
    );
    expect((await client.ready()).status).toBe("starting");
    expect(fake.asked[0]?.path).toBe("/readyz");
    expect(fake.asked[0]?.headers.authorization).toBeUndefined();
  });
});

describe("failures", () => {
  test("a refusal has the code and the words of the service", async () => {
    const { client } = await asking(refusal(429, "too-many-requests", { "retry-after": "2" }));
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

  test("somebody else's error page has a status, and no more is made of it", async () => {
    const { client } = await asking(
      answers("<h1>Bad gateway</h1>".repeat(100_000), { "content-type": "text/html" }, 502),
    );
    await expect(client.topology()).rejects.toMatchObject({
      status: 502,
      code: "http-502",
      detail: "Bad Gateway",
    });
  });

  test("nobody there", async () => {
    const { url } = await startFake();
    const client = createClient({ url: url.replace(/\d+$/, "1") });
    await expect(client.topology()).rejects.toMatchObject({ status: 0, code: "unreachable" });
  });

  test.each([
    ["not JSON", answers("<p>")],
    ["null", answers("null", { "gazetteer-revision": "7" })],
    ["another list", answers('{"hosts":[]}', { "gazetteer-revision": "7" })],
    ["a list without a revision", answers('{"devices":[]}')],
  ])("an answer that is %s", async (_, step) => {
    const { client } = await asking(step);
    await expect(client.list("devices")).rejects.toMatchObject({ status: 0, code: "protocol" });
  });

  test("a redirect is not followed", async () => {
    const there = await startFake(page(["a"]));
    const { client } = await asking(answers("", { location: `${there.url}/controller/v1/devices` }, 302));
    await expect(client.list("devices")).rejects.toMatchObject({ status: 0, code: "unreachable" });
    expect(there.asked).toEqual([]);
  });

  test("a body that stops coming", async () => {
    const { client, clock } = await asking({ ...page(["a"]), body: ['{"devices":['], after: "hold" });
    const failing = client.list("devices").catch((thrown: unknown) => thrown);
    let error: unknown;
    void failing.then((thrown) => {
      error = thrown;
    });
    await until(() => error !== undefined || void clock.silence(), { what: "the end of patience" });
    expect(error).toMatchObject({ status: 0, code: "silent" });
  });

  test("an abort is the caller's own, with its reason", async () => {
    const { client } = await asking({ ...page(["a"]), body: ['{"devices":['], after: "hold" });
    const abort = new AbortController();
    const listing = client.list("devices", {}, { signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(listing).rejects.toThrow("enough");
  });
});
