/** What a client sees that moves between nodes: revisions to come are waited for, and a node says when its view is old. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ClusterStatus, ClusterTrouble } from "../../src/api/cluster-status.ts";
import { encodeCursor } from "../../src/query/cursor.ts";
import { until } from "../support/until.ts";
import { EventReader } from "./events.ts";
import { API, AUTHORIZATION, type Harness, openHarness } from "./harness.ts";
import { deviceId, SAMPLE } from "./network.ts";

const node = {
  stale: undefined as number | undefined,
  trouble: undefined as ClusterTrouble | undefined,
  lost: [] as ClusterStatus["lost"],
};
const CLUSTER: ClusterStatus = {
  name: "test",
  node: "a.1",
  conditions: ["unreachable", "full"],
  lag: 3,
  foreignMessages: { log: 4, requests: 1 },
  clockOffsetMs: -1500,
  replicas: { configured: 3, current: 2 },
  overtaken: 5,
  get lost() {
    return node.lost;
  },
  maxStaleSeconds: 60,
  get staleSince() {
    return node.stale;
  },
  get trouble() {
    return node.trouble;
  },
};

let single: Harness;
let clustered: Harness;
beforeAll(async () => {
  single = await openHarness();
  clustered = await openHarness({ cluster: CLUSTER });
  for (const h of [single, clustered]) await h.replace(SAMPLE);
});
afterAll(() => Promise.all([single.stop(), clustered.stop()]));

let devices = 100;
const change = (h: Harness) => h.apply([{ op: "set", kind: "devices", claim: { id: deviceId(devices++) } }]);

const codeOf = async (response: Response): Promise<string> =>
  String((await response.json()).type).replace("/docs/errors#", "");

/** The response to a request that waits, after `meanwhile`. */
async function waits(
  h: Harness,
  path: string,
  init: RequestInit,
  meanwhile: () => Promise<unknown>,
): Promise<Response> {
  const sleeping = h.clock.sleeping;
  const response = h.fetch(path, init);
  await until(() => h.clock.sleeping > sleeping, { what: `${path} waits` });
  expect(h.scheduler.usage().find(({ owner }) => owner === "user:reader")?.running).toBe(1);
  await meanwhile();
  const received = await response;
  expect(h.clock.sleeping).toBe(sleeping);
  return received;
}

const READS = ["devices", "links?state=ACTIVE", "topology", `devices/${deviceId(1)}`, "topology/clusters/0"];
const withParameter = (path: string, name: string, value: string | number) =>
  `${path}${path.includes("?") ? "&" : "?"}${name}=${value}`;

describe("min-revision", () => {
  test("is no wait where the view has it, from the cache too", async () => {
    const { revision } = single.view;
    for (const path of READS)
      for (let i = 0; i < 3; i++) {
        const response = await single.fetch(withParameter(path, "min-revision", revision));
        expect([path, response.status]).toEqual([path, 200]);
        expect(await response.text()).toBe(await (await single.fetch(path)).text());
      }
  });

  test.each([...READS, "devices?limit=1", "devices?at=1", `paths/${deviceId(1)}/${deviceId(2)}`])(
    "%s waits for the revision as parameter and as header",
    async (path) => {
      for (const asHeader of [false, true]) {
        // The plain response is cached: the header must not be overlooked.
        for (let i = 0; i < 3; i++) await single.fetch(path);
        const next = single.view.revision + 1;
        const response = await (asHeader
          ? waits(single, path, { headers: { "gazetteer-min-revision": String(next) } }, () => change(single))
          : waits(single, withParameter(path, "min-revision", next), {}, () => change(single)));
        expect([path, response.status]).toEqual([path, 200]);
        if (!path.includes("limit") && !path.includes("at="))
          expect(Number(response.headers.get("gazetteer-revision"))).toBe(next);
        expect(await response.text()).toBe(await (await single.fetch(path)).text());
      }
    },
  );

  test("a stream waits for it, and begins there", async () => {
    const next = single.view.revision + 1;
    const response = await waits(single, `devices?format=events&min-revision=${next}`, {}, () =>
      change(single),
    );
    expect([response.status, response.headers.get("gazetteer-revision")]).toEqual([200, String(next)]);
    await response.body?.cancel();
  });

  test("that does not come in two seconds is a 503 with Retry-After, on GET and HEAD", async () => {
    const next = single.view.revision + 1;
    for (const method of ["GET", "HEAD"]) {
      const response = await waits(single, `devices?min-revision=${next}`, { method }, () =>
        single.clock.advance(2000),
      );
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
      // The revision may be of a log that is gone.
      expect(response.headers.get("gazetteer-log")).toBe(single.log.id);
      if (method === "GET") expect(await codeOf(response)).toBe("revision-not-reached");
    }
  });

  test("of the parameter and the header the higher one counts", async () => {
    const { revision } = single.view;
    for (const [parameter, header] of [
      [revision + 1, revision],
      [revision, revision + 1],
    ]) {
      const headers = { "gazetteer-min-revision": String(header) };
      const response = await waits(single, `links?min-revision=${parameter}`, { headers }, () =>
        single.clock.advance(2000),
      );
      expect(response.status).toBe(503);
    }
  });

  test.each(["", "x", "-1", "1.5", "1, 2", "9999999999999999"])("a header %p is a 400", async (value) => {
    for (let i = 0; i < 3; i++) await single.fetch("hosts");
    const response = await single.fetch("hosts", { headers: { "gazetteer-min-revision": value } });
    expect([response.status, await codeOf(response)]).toEqual([400, "bad-parameter"]);
  });

  test("a client that goes away ends the wait", async () => {
    const sleeping = single.clock.sleeping;
    const gone = new AbortController();
    const response = single.fetch("devices?min-revision=99999", { signal: gone.signal });
    await until(() => single.clock.sleeping > sleeping, { what: "the wait" });
    gone.abort();
    await response.catch(() => {});
    await until(() => single.clock.sleeping === sleeping, { what: "the end of the wait" });
  });

  test("is no part of what a page is of: a cursor fits with and without it", async () => {
    const first = await single.json<{ next: string }>("devices?limit=1&min-revision=1");
    const plain = await single.json<{ next: string }>("devices?limit=1");
    expect(first).toEqual(plain);
    const link = (await single.fetch("devices?limit=1&min-revision=1")).headers.get("link");
    expect(link).not.toContain("min-revision");
    const second = await single.fetch(`devices?limit=1&cursor=${first.next}&min-revision=2`);
    expect(second.status).toBe(200);
  });
});

describe("since, at, diff and cursors of a revision to come", () => {
  const EVENTS = { accept: "text/event-stream" };
  const requests = (h: Harness, revision: number): [string, RequestInit][] => {
    const cursor = encodeCursor({ revision, after: deviceId(1) }, "devices ", h.log.signingKey);
    return [
      [`devices?since=${revision}`, {}],
      [`devices?since=${revision}`, { headers: EVENTS }],
      [`topology?at=${revision}`, {}],
      [`devices/${deviceId(1)}?at=${revision}`, {}],
      [`devices?diff=1..${revision}`, {}],
      [`devices?diff=${revision}..`, {}],
      [`devices?limit=1&cursor=${cursor}`, {}],
    ];
  };

  test("wait in a cluster", async () => {
    for (const [i] of requests(clustered, 0).entries()) {
      const [path = "", init = {}] = requests(clustered, clustered.view.revision + 1)[i] ?? [];
      const response = await waits(clustered, path, init, () => change(clustered));
      expect([path, response.status]).toEqual([path, 200]);
      await response.body?.cancel();
    }
  });

  test("are a 503 when they do not come", async () => {
    for (const [path, init] of requests(clustered, clustered.view.revision + 1)) {
      const response = await waits(clustered, path, init, () => clustered.clock.advance(2000));
      expect([path, response.status, await codeOf(response)]).toEqual([path, 503, "revision-not-reached"]);
      expect(response.headers.get("retry-after")).toBe("1");
    }
  });

  test("do not exist on a single node", async () => {
    for (const [path, init] of requests(single, single.view.revision + 1)) {
      const response = await single.fetch(path, init);
      const expected = path.includes("cursor") ? [410, "cursor-expired"] : [400, "revision-unknown"];
      expect([path, response.status, await codeOf(response)]).toEqual([path, ...expected]);
    }
  });

  test("an event id waits in a cluster, and is a reset when the revision does not come", async () => {
    const resume = (h: Harness): [string, RequestInit] => [
      "topology",
      { headers: { ...EVENTS, "last-event-id": `${h.log.id}.${h.view.revision + 1}` } },
    ];
    const firstOf = async (response: Response) => (await new EventReader(response).next())?.event;
    const [path, init] = resume(clustered);
    const resumed = await waits(clustered, path, init, () => change(clustered));
    await change(clustered);
    expect(await firstOf(resumed)).toBe("added");
    const [again, options] = resume(clustered);
    const late = await waits(clustered, again, options, () => clustered.clock.advance(2000));
    expect([late.status, await firstOf(late)]).toEqual([200, "reset"]);
    expect(await firstOf(await single.fetch(...resume(single)))).toBe("reset");
  });

  test("both ends of a diff wait no longer than one", async () => {
    const { revision } = clustered.view;
    const path = `devices?diff=${revision + 1}..${revision + 2}`;
    const response = await waits(clustered, path, {}, async () => {
      await clustered.clock.advance(1500);
      await change(clustered);
      await until(() => clustered.clock.sleeping > 0, { what: "the wait for the other end" });
      await clustered.clock.advance(500);
    });
    expect(response.status).toBe(503);
  });
});

describe("a node that cannot follow the log", () => {
  const ready = async (headers: Record<string, string> = { authorization: AUTHORIZATION }) => {
    const response = await fetch(`${clustered.url}/readyz`, { headers });
    return [response.status, await response.json()];
  };

  test("lists lost nodes and NATS servers for users, until they return", async () => {
    node.lost = [
      { kind: "node", name: "west", since: 5 },
      { kind: "server", name: "n2", since: 7 },
    ];
    expect(await ready()).toMatchObject([200, { cluster: { name: "test", lost: node.lost } }]);
    expect(await ready({})).toEqual([200, { status: "ready" }]);
    node.lost = [];
    const [, body] = await ready();
    expect(body.cluster).not.toHaveProperty("lost");
  });

  test("says how old its view is on every response, and no longer once it can", async () => {
    const paths = [
      "devices",
      "devices",
      "devices",
      "topology",
      "nothing",
      "/healthz",
      "/readyz",
      "/metrics",
      "/openapi.json",
    ];
    const ages = async () =>
      Promise.all(paths.map(async (path) => (await clustered.fetch(path)).headers.get("gazetteer-stale")));
    expect(new Set(await ages())).toEqual(new Set([null]));
    node.stale = clustered.clock.now() - 1500;
    expect(new Set(await ages())).toEqual(new Set(["1"]));
    await clustered.clock.advance(2000);
    expect(new Set(await ages())).toEqual(new Set(["3"]));
    const unauthenticated = await fetch(`${clustered.url}${API}/devices`);
    expect([unauthenticated.status, unauthenticated.headers.get("gazetteer-stale")]).toEqual([401, "3"]);
    node.stale = undefined;
    expect(new Set(await ages())).toEqual(new Set([null]));
  });

  test("is ready and degraded until its view is too old; what is wrong is for users only", async () => {
    expect(await ready()).toMatchObject([
      200,
      { status: "ready", cluster: { name: "test", node: "a.1", lag: 3 } },
    ]);
    const since = clustered.clock.now();
    node.stale = since - 1000;
    node.trouble = { condition: "unreachable", message: "no NATS server", since };
    await clustered.clock.advance(59_000);
    const cluster = { condition: "unreachable", error: "no NATS server", since, staleSeconds: 60 };
    expect(await ready()).toMatchObject([200, { status: "degraded", cluster }]);
    expect(await ready({})).toEqual([200, { status: "ready" }]);
    await clustered.clock.advance(1000);
    expect(await ready()).toMatchObject([503, { status: "stale", cluster: { staleSeconds: 61 } }]);
    expect(await ready({})).toEqual([503, { status: "stale" }]);
    expect((await clustered.fetch("devices")).status).toBe(200);
    node.stale = undefined;
    node.trouble = { condition: "full", message: "the stream is full", since };
    expect(await ready()).toMatchObject([200, { status: "degraded", cluster: { condition: "full" } }]);
    node.trouble = undefined;
    expect(await ready()).toMatchObject([200, { status: "ready" }]);
  });

  test("has its condition in the metrics; a single node has none of them", async () => {
    node.stale = clustered.clock.now() - 7000;
    node.trouble = { condition: "unreachable", message: "no NATS server", since: 0 };
    const text = await (await clustered.fetch("/metrics")).text();
    for (const line of [
      'gazetteer_cluster_info{name="test",node="a.1"} 1',
      'gazetteer_cluster_condition{condition="unreachable"} 1',
      'gazetteer_cluster_condition{condition="full"} 0',
      `gazetteer_cluster_revision ${clustered.view.revision}`,
      "gazetteer_cluster_lag_messages 3",
      "gazetteer_cluster_stale_seconds 7",
      "gazetteer_cluster_clock_offset_seconds -1.5",
      "gazetteer_cluster_replicas 3",
      "gazetteer_cluster_replicas_current 2",
      'gazetteer_cluster_foreign_messages_total{place="log"} 4',
      'gazetteer_cluster_foreign_messages_total{place="requests"} 1',
      "gazetteer_cluster_overtaken_total 5",
    ])
      expect(text).toContain(`${line}\n`);
    node.stale = undefined;
    node.trouble = undefined;
    expect(await (await single.fetch("/metrics")).text()).not.toContain("gazetteer_cluster_");
  });
});

test("in a cluster the tags of encoded bodies are weak, and match in every spelling", async () => {
  for (const [h, prefix] of [
    [single, ""],
    [clustered, "W/"],
  ] as const)
    for (const encoding of ["gzip", "br", "zstd", "identity"]) {
      const headers = { "accept-encoding": encoding };
      const etag = (await h.fetch("devices", { headers })).headers.get("etag") ?? "";
      expect(etag.startsWith('W/"')).toBe(encoding !== "identity" && prefix === "W/");
      const opaque = etag.replace(/^W\//, "");
      for (const condition of [etag, opaque, `W/${opaque}`, `"x", ${opaque}`]) {
        const repeated = await h.fetch("devices", { headers: { ...headers, "if-none-match": condition } });
        expect([encoding, condition, repeated.status]).toEqual([encoding, condition, 304]);
      }
    }
});
