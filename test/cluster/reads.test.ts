/** One client, two nodes: whatever it has from one of them is good on the other, also from a process that only reads. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EventReader } from "../api/events.ts";
import { connectToEachProcess, processIdsOf } from "../service/connection.ts";
import { waitForReaders } from "../service/start-with-readers.ts";
import { type NatsServers, startNatsServers } from "../support/nats-servers.ts";
import type { Service } from "../support/service.ts";
import { until } from "../support/until.ts";
import { deviceId, ServiceNode } from "./service-nodes.ts";

const API = "/controller/v1";
const SWITCHES = 12;

/** A ring of switches with a host on each. The text is on the first one. */
function network(mfr: string): string {
  const ids = Array.from({ length: SWITCHES }, (_, i) => i + 1);
  return JSON.stringify({
    devices: ids.map((i) => ({ id: deviceId(i), type: "SWITCH", ...(i === 1 && { mfr }) })),
    ports: ids.flatMap((i) => [1, 2, 3].map((port) => ({ element: deviceId(i), port, isEnabled: true }))),
    links: ids.flatMap((i) => {
      const ends = [
        { device: deviceId(i), port: 1 },
        { device: deviceId((i % SWITCHES) + 1), port: 2 },
      ] as const;
      return [
        { src: ends[0], dst: ends[1] },
        { src: ends[1], dst: ends[0] },
      ];
    }),
    hosts: ids.map((i) => ({
      mac: `02:00:00:00:00:${i.toString(16).padStart(2, "0")}`,
      ipAddresses: [`10.0.0.${i}`],
      locations: [{ elementId: deviceId(i), port: 3 }],
    })),
  });
}

let nats: NatsServers;
let a: ServiceNode;
let b: ServiceNode;
let changes = 0;

beforeAll(async () => {
  nats = await startNatsServers();
  const cluster = { nats, name: "reads", replicas: 1 };
  const connection = {
    servers: nats.urls.split(","),
    secretFile: nats.secretFile,
    name: cluster.name,
    replicas: 1,
  };
  a = new ServiceNode(cluster, "a");
  b = new ServiceNode(cluster, "b");
  writeFileSync(join(a.folder, "site.json"), network("first"));
  a.configure(["site"]);
  b.configure([], { readers: 3, cluster: { ...connection, node: "b", maxStaleSeconds: 1 } });
  await Promise.all([a.start(), b.start()]);
  await a.untilSource("site", "synced");
  await waitForReaders(b.service);
}, 60_000);
afterAll(async () => {
  await Promise.all([a.kill(), b.kill()]);
  await nats[Symbol.asyncDispose]();
});

const revisionOf = (response: Response): number => Number(response.headers.get("gazetteer-revision"));

/** Follows `Retry-After`, as a client does. */
async function get(node: ServiceNode, path: string, headers: Record<string, string> = {}): Promise<Response> {
  for (;;) {
    const response = await node.service.fetch(API + path, {
      headers: { "accept-encoding": "identity", ...headers },
    });
    if (response.status !== 503) return response;
    expect([path, (await response.json()).type]).toEqual([path, "/docs/errors#revision-not-reached"]);
    await Bun.sleep(1000 * Number(response.headers.get("retry-after")));
  }
}

/** Changes one device. Resolves with the revision of the change on the node that has the source. */
async function change(): Promise<number> {
  const mfr = `changed ${++changes}`;
  writeFileSync(join(a.folder, "site.json"), network(mfr));
  return until(
    async () => {
      const response = await get(a, `/devices?mfr=${encodeURIComponent(mfr)}`);
      const { devices } = await response.json();
      return devices[0]?.revision;
    },
    { what: "the change" },
  );
}

describe("a client that moves between two nodes", () => {
  test("sees its own revision or a later one with min-revision", async () => {
    const revision = await change();
    const after = await get(b, `/devices/${deviceId(1)}?min-revision=${revision}`);
    expect(await after.json()).toMatchObject({ mfr: `changed ${changes}`, revision });
    expect(revisionOf(after)).toBeGreaterThanOrEqual(revision);

    // Before the change is made: the read waits for it.
    const header = { "gazetteer-min-revision": String(revisionOf(after) + 1) };
    const waiting = get(b, `/devices/${deviceId(1)}`, header);
    await change();
    expect(await (await waiting).json()).toMatchObject({ mfr: `changed ${changes}` });
    const ahead = ["/devices?since=999999", "/devices?at=999999", "/topology?diff=1..999999"];
    const refused = await Promise.all(ahead.map((path) => b.service.fetch(API + path)));
    for (const { status, headers } of refused)
      expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  });

  test("gets the same bytes, tags and log everywhere", async () => {
    const revision = await change();
    const id = deviceId(1);
    const host = "02:00:00:00:00:01/None";
    const paths = [
      "/devices",
      "/devices/ports",
      "/links",
      "/hosts",
      "/topology",
      `/devices/${id}`,
      `/devices/${id}/ports`,
      `/devices/${id}?explain=true`,
      `/hosts/${host}`,
      "/topology/clusters",
      "/topology/clusters/0/devices",
      "/topology/clusters/0/links",
      `/topology/broadcast/${id}:3`,
      `/topology/infrastructure/${id}:1`,
      "/links/usestalelinkage",
      `/paths/${id}/${deviceId(7)}`,
      `/paths/${id}/${deviceId(7)}?limit=1`,
      `/paths/${encodeURIComponent(host)}/${deviceId(4)}/disjoint`,
      "/hosts?sort=-mac&fields=mac,ipAddresses",
      "/hosts?limit=5",
      "/devices?limit=5&type=SWITCH",
      `/hosts?around=${id}&hops=2&limit=2`,
      `/topology?around=${id}`,
      "/topology?drift=any",
      "/devices?q=of&format=csv",
      "/links?format=ndjson",
      "/hosts?format=prometheus",
      ...["netjson", "rfc8345", "graphml", "dot", "svg"].map((format) => `/topology?format=${format}`),
      `/topology?at=${revision - 1}`,
      `/devices?at=${revision - 1}&limit=3`,
      `/topology?since=1`,
      `/topology?since=1&fold=true`,
      `/topology?diff=1..${revision}`,
      "/topology?timeline=5",
      "/devices/unknown",
      "/nothing",
      "/devices?x=1",
      "/devices?at=2000-01-01T00:00:00Z",
    ];
    const read = async (node: ServiceNode, path: string) => {
      const response = await get(node, path, { "gazetteer-min-revision": String(revision) });
      const body = (await response.text()).replace(/urn:uuid:[0-9a-f-]+/, "");
      const headers = [
        "etag",
        "content-type",
        "gazetteer-revision",
        "gazetteer-log",
        "link",
        "gazetteer-stale",
      ];
      return [path, response.status, body, ...headers.map((name) => response.headers.get(name))];
    };
    for (const path of paths) expect(await read(b, path)).toEqual(await read(a, path));
  });

  test("a tag of one node is a 304 on the other, in every content encoding; a change is a 200", async () => {
    const min = { "gazetteer-min-revision": String(await change()) };
    const tags = new Map<string, string>();
    for (const encoding of ["identity", "gzip", "br", "zstd"]) {
      const headers = { ...min, "accept-encoding": encoding };
      const first = await get(a, "/hosts", headers);
      const etag = first.headers.get("etag") ?? "";
      tags.set(encoding, etag);
      expect(etag.startsWith("W/")).toBe(encoding !== "identity");
      const second = await get(b, "/hosts", headers);
      expect([encoding, second.headers.get("etag")]).toEqual([encoding, etag]);
      expect(await second.text()).toBe(await first.text());
      expect((await get(b, "/hosts", { ...headers, "if-none-match": etag })).status).toBe(304);
      const devices = (await get(b, "/devices", headers)).headers.get("etag") ?? "";
      expect((await get(a, "/devices", { ...headers, "if-none-match": devices })).status).toBe(304);
      tags.set(`${encoding} devices`, devices);
    }
    const changed = { "gazetteer-min-revision": String(await change()) };
    for (const [key, etag] of tags) {
      const [encoding = "", kind = "hosts"] = key.split(" ");
      const headers = { ...changed, "accept-encoding": encoding, "if-none-match": etag };
      expect([key, (await get(b, `/${kind}`, headers)).status]).toEqual([key, kind === "hosts" ? 304 : 200]);
    }
  });

  test("walks pages on alternating nodes: all of the first revision, whatever changes", async () => {
    const whole = await (await get(a, "/devices")).json();
    const walked: unknown[] = [];
    const revisions = new Set<number>();
    let next = "";
    for (let page = 0; page === 0 || next !== ""; page++) {
      const response = await get(page % 2 === 0 ? a : b, `/devices?limit=5${next}`);
      expect(response.status).toBe(200);
      revisions.add(revisionOf(response));
      const body = await response.json();
      walked.push(...body.devices);
      next = body.next === undefined ? "" : `&cursor=${body.next}`;
      await change();
    }
    expect(walked).toEqual(whole.devices);
    expect(revisions.size).toBe(1);
  });

  test("resumes a stream on the other node by its last event id: no change missing, none twice", async () => {
    const stream = async (node: ServiceNode, headers: Record<string, string>) =>
      new EventReader(await get(node, "/devices", { accept: "text/event-stream", ...headers }));
    const start = await change();
    const seen: string[] = [];
    let lastEventId = String(start);
    const expected: string[] = [];
    for (const node of [b, a, b, a]) {
      const revision = await change();
      expected.push(`changed ${changes}`);
      const reader = await stream(node, { "last-event-id": lastEventId });
      for (const { event, data } of await reader.readToRevision(revision))
        if (event === "updated") seen.push(String((data.value as { mfr: string }).mfr));
      ({ lastEventId } = reader);
      await reader.close();
    }
    expect(seen).toEqual(expected);
  });
});

describe("without the engine", () => {
  const staleOf = async (service: Service, path: string) =>
    (await service.fetch(path)).headers.get("gazetteer-stale");
  const ready = async (service: Service, headers?: Record<string, string>) => {
    const response = headers
      ? await fetch(`${service.url}/readyz`, { headers })
      : await service.fetch("/readyz");
    return [response.status, await response.json()];
  };

  test("reads go on and say how old the view is, until the engine is back", async () => {
    const revision = await change();
    await get(b, `/devices?min-revision=${revision}`);
    const before = await (await get(a, "/topology?format=netjson")).text();
    for (const { service } of [a, b]) expect(await staleOf(service, `${API}/devices`)).toBeNull();
    const [server] = nats.servers;
    await server?.kill();
    for (const { service } of [a, b])
      await until(async () => (await staleOf(service, `${API}/devices`)) !== null, {
        what: "Gazetteer-Stale",
      });

    for (const { service } of [a, b]) {
      expect(await (await service.fetch(`${API}/topology?format=netjson`)).text()).toBe(before);
      for (const path of [
        `${API}/hosts`,
        `${API}/hosts`,
        `${API}/nothing`,
        "/healthz",
        "/readyz",
        "/metrics",
      ])
        expect(Number(await staleOf(service, path))).toBeGreaterThanOrEqual(0);
      expect((await service.fetch(`${API}/devices?min-revision=${revision + 1}`)).status).toBe(503);
    }
    // A response that a reader process has from the main process has the header once.
    for (let i = 0; i < 12; i++) {
      const { headers } = await b.service.fetch(`${API}/devices?at=1`, { headers: { connection: "close" } });
      expect(headers.get("gazetteer-stale")).toMatch(/^\d+$/);
    }
    for (const connection of await connectToEachProcess(b.service, processIdsOf(b.service))) {
      for (const path of ["/devices", "/devices?at=1"]) {
        const { status, headers } = await connection.get(API + path);
        expect([path, status, headers.get("gazetteer-stale")]).toEqual([
          path,
          200,
          expect.stringMatching(/^\d+$/),
        ]);
      }
      connection.close();
    }
    expect(await ready(a.service)).toMatchObject([
      200,
      { status: "degraded", revision, cluster: { name: "reads", condition: expect.any(String), lag: 0 } },
    ]);
    expect(await ready(a.service, {})).toEqual([200, { status: "ready" }]);
    await until(async () => (await ready(b.service, {}))[0] === 503, { what: "too old a view" });
    expect(await ready(b.service)).toMatchObject([503, { status: "stale" }]);
    const metrics = await (await a.service.fetch("/metrics")).text();
    expect(metrics).toMatch(/^gazetteer_cluster_condition\{condition="\w+"\} 1$/m);
    expect(metrics).toMatch(/^gazetteer_cluster_stale_seconds [1-9]/m);
    expect(metrics).toContain(`gazetteer_cluster_revision ${revision}\n`);

    await server?.start();
    for (const { service } of [a, b]) {
      await until(async () => (await staleOf(service, `${API}/devices`)) === null, {
        what: "no Gazetteer-Stale",
      });
      expect((await ready(service, {}))[0]).toBe(200);
    }
    for (const connection of await connectToEachProcess(b.service, processIdsOf(b.service))) {
      const gone = async () => !(await connection.get(`${API}/devices`)).headers.has("gazetteer-stale");
      await until(gone, { what: "no Gazetteer-Stale in any process" });
      connection.close();
    }
    const back = await get(b, `/devices/${deviceId(1)}?min-revision=${await change()}`);
    expect(await back.json()).toMatchObject({ mfr: `changed ${changes}` });
  }, 60_000);
});
