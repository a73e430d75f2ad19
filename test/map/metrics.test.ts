/** Values of Prometheus on links, from a peer that answers as Prometheus does: which link gets which value, and failures. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { silentLogger } from "../../src/lib/logger.ts";
import { Scheduler } from "../../src/lib/scheduler.ts";
import { ConfiguredMap } from "../../src/service/configured-map.ts";
import { View } from "../../src/view/view.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/until.ts";
import { LEAF1, LINKS, type MapService, startMapService } from "./map-network.ts";
import { startPrometheusPeer } from "./prometheus-peer.ts";

const peer = startPrometheusPeer();
afterAll(() => peer[Symbol.dispose]());
beforeEach(() => {
  peer.respond = undefined;
});

const metricsOf = (queries: object[], server: object = {}) => ({
  metrics: [{ url: peer.url, intervalSeconds: 3600, ...server, queries }],
});

async function read({ service }: MapService, name: string) {
  const response = await service.fetch(`/map/metrics/${encodeURIComponent(name)}`);
  return { status: response.status, body: await response.json() };
}

const queriesSent = (query: string) => peer.requests.filter((request) => request.query === query).length;

describe("labels that name a port", () => {
  const cases: [what: string, metric: Record<string, string>, link: string | undefined][] = [
    ["id and name", { instance: LEAF1, ifName: "eth1" }, LINKS.leaf1ToLeaf2],
    ["id in capitals", { instance: LEAF1.toUpperCase(), ifName: "ETH1" }, LINKS.leaf1ToLeaf2],
    ["address and number", { instance: "10.9.0.1", ifName: "1" }, LINKS.leaf1ToLeaf2],
    ["address with a port", { instance: "10.9.0.1:9116", ifName: "Ethernet1/2" }, LINKS.leaf1ToRouter],
    ["IPv6 address in another spelling", { instance: "2001:0DB8:0::2", ifName: "eth1" }, LINKS.leaf2ToLeaf1],
    ["IPv6 address with a port", { instance: "[2001:db8::2]:161", ifName: "7" }, LINKS.leaf2ToLeaf1],
    ["host name as address", { instance: "r1.example.net:9100", ifName: "xe-0/0/0" }, LINKS.routerToLeaf1],
    ["name", { instance: "leaf2", ifName: "eth1" }, LINKS.leaf2ToLeaf1],
    ["a name that two devices have", { instance: "same", ifName: "1" }, undefined],
    ["a port without a link", { instance: "leaf1", ifName: "eth9" }, undefined],
    ["no device label", { ifName: "eth1" }, undefined],
    ["no port label", { instance: "leaf1" }, undefined],
  ];
  test("find the link that begins there, and a value that is no number finds none", async () => {
    const queries = cases.map(([what]) => ({ name: what, query: what }));
    for (const [what, metric] of cases)
      peer.series.set(what, [
        { metric, value: 42.5 },
        { metric, value: "NaN" },
        { metric, value: "+Inf" },
        { metric, value: "" },
        { metric, value: null },
      ]);
    const map = await startMapService(metricsOf(queries));
    for (const [what, , link] of cases) {
      const { body } = await read(map, what);
      expect([what, body.values]).toEqual([what, link === undefined ? {} : { [link]: 42.5 }]);
    }
    const unknown = await read(map, "a name that two devices have");
    expect(unknown.body).toMatchObject({ series: 1, unknownSeries: 1, unknownDevices: ["same"] });
    const noLink = await read(map, "a port without a link");
    expect(noLink.body).toMatchObject({ series: 1, unknownSeries: 0, unknownDevices: [] });
  });

  test("are those that the configuration says, and so is the direction", async () => {
    const series = [{ metric: { device: "leaf1", port: "1" }, value: 7 }];
    for (const name of ["out", "in", "both"]) peer.series.set(`dir-${name}`, series);
    peer.series.set("worst", [...series, { metric: { device: "leaf1", port: "1" }, value: 9 }, ...series]);
    const labels = { device: "device", port: "port" };
    const queries = [
      ...["out", "in", "both"].map((direction) => ({
        name: direction,
        query: `dir-${direction}`,
        direction,
        ...labels,
      })),
      { name: "worst", query: "worst", ...labels },
    ];
    const map = await startMapService(metricsOf(queries));
    const values = async (name: string) => (await read(map, name)).body.values;
    expect(await values("out")).toEqual({ [LINKS.leaf1ToLeaf2]: 7 });
    expect(await values("in")).toEqual({ [LINKS.leaf2ToLeaf1]: 7 });
    expect(await values("both")).toEqual({ [LINKS.leaf1ToLeaf2]: 7, [LINKS.leaf2ToLeaf1]: 7 });
    expect(await values("worst")).toEqual({ [LINKS.leaf1ToLeaf2]: 9 });
    await map.service.stop();
  });
});

test("many pages, also through reader processes, are one query in an interval", async () => {
  peer.series.set("shared", [{ metric: { instance: "leaf1", ifName: "eth1" }, value: 1 }]);
  const map = await startMapService(metricsOf([{ name: "Shared", query: "shared" }]), ["--readers", "2"]);
  const replies = await Promise.all(Array.from({ length: 40 }, () => read(map, "Shared")));
  for (const { status, body } of replies)
    expect([status, body.values]).toEqual([200, { [LINKS.leaf1ToLeaf2]: 1 }]);
  expect(queriesSent("shared")).toBe(1);
  const metrics = await (await map.service.fetch("/metrics")).text();
  expect(metrics).toContain('gazetteer_map_queries_total{metric="Shared",result="ok"} 1\n');
  await map.service.stop();
});

describe("a failure is a problem, not values", () => {
  const failing: [
    what: string,
    respond: (request: Request) => Response | Promise<Response>,
    detail: string,
  ][] = [
    [
      "a query that Prometheus refuses",
      () =>
        Response.json({ status: "error", errorType: "bad_data", error: "<b>secret</b>" }, { status: 400 }),
      "/api/v1/query: responds with status 400 (bad_data).",
    ],
    [
      "wrong credentials",
      () => new Response("", { status: 401 }),
      "the credentials are missing or wrong (401).",
    ],
    [
      "a redirect to another address",
      () => new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } }),
      "responds with a redirect (302), which is not followed.",
    ],
    ["a page of another program", () => new Response("<html>"), "the response is not one of Prometheus."],
    [
      "a response that ends early",
      () => new Response('{"data":{"resultType":"vector","result":[{"metric":{}'),
      "the response is not one of Prometheus.",
    ],
    [
      "a range of values",
      () =>
        Response.json({
          status: "success",
          data: { resultType: "matrix", result: [{ metric: {}, values: [] }] },
        }),
      "the result of the query is no instant vector.",
    ],
    [
      "a scalar",
      () => Response.json({ status: "success", data: { resultType: "scalar", result: [1, "1"] } }),
      "the result of the query is no instant vector.",
    ],
    [
      "too large",
      () => new Response(`{"data":{"resultType":"vector","result":[${" ".repeat(5000)}]}}`),
      "the response is larger than 4096 bytes.",
    ],
    ["silence", () => new Promise<Response>(() => {}), "no complete response within 3 s."],
    [
      "a response that never ends",
      () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              controller.enqueue(new TextEncoder().encode('{"data":'));
              await new Promise(() => {});
            },
          }),
        ),
      "no complete response within 3 s.",
    ],
  ];
  test("with its reason, and the next interval reads again", async () => {
    const queries = failing.map(([what]) => ({ name: what, query: what }));
    const limits = { timeoutSeconds: 3, maxResponseBytes: 4096, intervalSeconds: 1 };
    const map = await startMapService(metricsOf(queries, limits));
    for (const [what, respond, detail] of failing) {
      peer.respond = respond;
      const { status, body } = await read(map, what);
      expect([what, status, body.type]).toEqual([what, 502, "/docs/errors#metrics-failed"]);
      expect(body.detail).toStartWith(`${what}: 127.0.0.1:`);
      expect(body.detail).toEndWith(detail);
      expect(JSON.stringify(body)).not.toContain("secret");
      expect(body.values).toBeUndefined();
    }
    peer.respond = undefined;
    const [[first = ""] = []] = failing;
    peer.series.set(first, [{ metric: { instance: "leaf1", ifName: "eth1" }, value: 3 }]);
    await until(async () => (await read(map, first)).status === 200, { what: "values after the failure" });
    expect(map.service.stderr()).toContain("a metric of the map is read again");
    await map.service.stop();
  });

  test("of a server that is not there", async () => {
    const gone = startPrometheusPeer();
    gone[Symbol.dispose]();
    const map = await startMapService(metricsOf([{ name: "x", query: "up" }], { url: gone.url }));
    const { status, body } = await read(map, "x");
    expect([status, body.detail]).toEqual([
      502,
      expect.stringContaining("nothing listens there (ECONNREFUSED)."),
    ]);
    await map.service.stop();
  });
});

test("a network that cannot be read once is read again in the next interval", async () => {
  const clock = new ManualClock();
  const scheduler = new Scheduler();
  const options = { view: new View(), scheduler, clock, logger: silentLogger };
  const map = new ConfiguredMap(
    { links: [], views: [], metrics: [{ url: peer.url, queries: [{ name: "Load", query: "load" }] }] },
    options,
  );
  const run = scheduler.run;
  scheduler.run = () => {
    scheduler.run = run;
    return Promise.reject(new Error("cannot be read"));
  };
  expect(await map.metric("Load")).toMatchObject({ ok: false });
  await clock.advance(3_600_000);
  expect(await map.metric("Load")).toMatchObject({ ok: true });
  map.stop();
});

test("credentials and tokens are sent, and the path of the address is kept", async () => {
  process.env.TEST_MAP_TOKEN = "abc123";
  const servers = [
    { url: `${peer.url}/prefix/`, credentials: "ann:s3cret", queries: [{ name: "basic", query: "basic" }] },
    { url: peer.url, tokenEnv: "TEST_MAP_TOKEN", queries: [{ name: "bearer", query: "bearer" }] },
  ];
  const map = await startMapService({ metrics: servers });
  expect((await read(map, "basic")).status).toBe(200);
  expect((await read(map, "bearer")).status).toBe(200);
  const sent = (query: string) => peer.requests.find((request) => request.query === query);
  expect(sent("basic")).toMatchObject({
    path: "/prefix/api/v1/query",
    authorization: `Basic ${btoa("ann:s3cret")}`,
  });
  expect(sent("bearer")).toMatchObject({ path: "/api/v1/query", authorization: "Bearer abc123" });
  const settings = await (await map.service.fetch("/map/settings.json")).text();
  for (const hidden of ["s3cret", "abc123", peer.url, "127.0.0.1"]) expect(settings).not.toContain(hidden);
  await map.service.stop();
});

test("no part of a request of a client reaches Prometheus", async () => {
  peer.series.set("fixed", []);
  const map = await startMapService(metricsOf([{ name: "Fixed", query: "fixed" }]));
  const before = peer.requests.length;
  for (const path of ["/map/metrics/Fixed?query=evil", "/map/metrics/Fixed?url=http://evil/"])
    expect((await map.service.fetch(path)).status).toBe(200);
  for (const path of [
    "/map/metrics/",
    "/map/metrics/Fixed/x",
    "/map/metrics/..%2Fadmin",
    "/map/metrics/http:%2F%2Fevil",
  ])
    expect([path, (await map.service.fetch(path)).status]).toEqual([path, 404]);
  expect((await map.service.fetch("/map/metrics/%ff")).status).toBe(400);
  expect(peer.requests.slice(before).map(({ query }) => query)).toEqual(["fixed"]);
  await map.service.stop();
});
