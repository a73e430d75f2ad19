/** The alias `onos`: ONOS's fields, counts, spelling, parameters and errors in every read and every format. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openEventReader } from "./events.ts";
import { type Harness, openHarness } from "./harness.ts";
import { deviceId, SAMPLE } from "./network.ts";

const ONOS = "/onos/v1";
const FIELDS = {
  devices: [
    "id", "type", "available", "role", "mfr", "hw", "sw", "serial", "driver", "chassisId", "lastUpdate",
    "humanReadableLastUpdate", "annotations",
  ],
  ports: ["element", "port", "isEnabled", "type", "portSpeed", "annotations"],
  links: ["src", "dst", "type", "state", "annotations"],
  hosts: [
    "id", "mac", "vlan", "innerVlan", "outerTpid", "configured", "suspended", "ipAddresses", "locations",
    "auxLocations", "annotations",
  ],
}; // biome-ignore format: lists of words
type Kind = keyof typeof FIELDS;
type Entity = Readonly<Record<string, unknown>>;

const pathOf = (kind: Kind): string => (kind === "ports" ? "devices/ports" : kind);
const KINDS = ["devices", "ports", "links", "hosts"] as const;

const MIXED_CASE = "NETCONF:Switch-A";
const LOCAL_LINK = {
  src: { device: deviceId(1), port: "local" },
  dst: { device: MIXED_CASE, port: "controller" },
  type: "TUNNEL",
} as const;

let h: Harness;
beforeAll(async () => {
  h = await openHarness({ aliases: ["onos", "lab"] });
  await h.replace({
    ...SAMPLE,
    devices: [...(SAMPLE.devices ?? []), { id: MIXED_CASE }],
    links: [...(SAMPLE.links ?? []), LOCAL_LINK],
    hosts: [
      ...(SAMPLE.hosts ?? []),
      { mac: "00:00:00:00:00:09", locations: [{ elementId: MIXED_CASE, port: "local" }] },
    ],
  });
});
afterAll(() => h.stop());

const list = async (kind: Kind, query = ""): Promise<Entity[]> =>
  (await h.json<Record<string, Entity[]>>(`${ONOS}/${pathOf(kind)}${query}`))[kind] ?? [];

function expectOnosFields(kind: Kind, entities: readonly Entity[]): void {
  expect(entities).not.toBeEmpty();
  for (const entity of entities)
    expect(FIELDS[kind].filter((field) => field in entity)).toEqual(Object.keys(entity));
}

describe("fields", () => {
  test.each([...KINDS])("%s: only ONOS's, with the values of /controller/v1", async (kind) => {
    const own = (await h.json<Record<string, Entity[]>>(pathOf(kind)))[kind] ?? [];
    const shown = await list(kind);
    expectOnosFields(kind, shown);
    expect(shown).toHaveLength(own.length);
    for (const [i, entity] of shown.entries()) expect(entity.type).toEqual(own[i]?.type);
  });

  test.each([...KINDS])("%s: filtered, paged, projected, as NDJSON and CSV", async (kind) => {
    expectOnosFields(kind, await list(kind, "?q=0"));
    expectOnosFields(kind, await list(kind, "?limit=1"));
    expectOnosFields(kind, await list(kind, "?at=1"));
    expect(await list(kind, "?fields=revision")).toContainEqual({});
    const ndjson = await (await h.fetch(`${ONOS}/${pathOf(kind)}?format=ndjson`)).text();
    expectOnosFields(
      kind,
      ndjson
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    );
    const csv = await (await h.fetch(`${ONOS}/${pathOf(kind)}?format=csv`)).text();
    for (const column of csv.split("\r\n")[0]?.split(",") ?? [])
      expect(FIELDS[kind]).toContain(column.split(".")[0] ?? "");
  });

  test("single entities, ports of a device, links of clusters and paths", async () => {
    expectOnosFields("devices", [await h.json(`${ONOS}/devices/${deviceId(1)}`)]);
    expectOnosFields("hosts", [await h.json(`${ONOS}/hosts/00:00:00:00:00:02/10`)]);
    const { ports, ...device } = await h.json<{ ports: Entity[] }>(`${ONOS}/devices/${deviceId(1)}/ports`);
    expectOnosFields("devices", [device]);
    expectOnosFields("ports", ports);
    const { clusters } = await h.json<{ clusters: { id: number; linkCount: number }[] }>(
      `${ONOS}/topology/clusters`,
    );
    const largest = clusters.find(({ linkCount }) => linkCount > 0);
    const { links } = await h.json<{ links: Entity[] }>(`${ONOS}/topology/clusters/${largest?.id}/links`);
    expectOnosFields("links", links);
    const { paths } = await h.json<{ paths: { links: Entity[] }[] }>(
      `${ONOS}/paths/${deviceId(1)}/${deviceId(3)}`,
    );
    expectOnosFields(
      "links",
      paths.flatMap((path) => path.links),
    );
  });

  test("with limit the body gains next, and the pages are the whole list", async () => {
    const all: Entity[] = [];
    let next: string | undefined;
    do {
      const cursor: string = next === undefined ? "" : `&cursor=${next}`;
      const page = await h.json<{ devices: Entity[]; next?: string }>(`${ONOS}/devices?limit=3${cursor}`);
      all.push(...page.devices);
      next = page.next;
    } while (next !== undefined);
    expect(all).toEqual(await list("devices"));
  });

  test("streams, changes and differences", async () => {
    await using own = await openHarness({ aliases: ["onos"] });
    await own.replace(SAMPLE);
    const events = await openEventReader(own, `${ONOS}/links`);
    const snapshot = await events.readUntil(({ event }) => event === "synced");
    const values = snapshot.slice(0, -1).map(({ data }) => data.value as Entity);
    expectOnosFields("links", values);
    // The first change makes another link bidirectional, which ONOS does not show.
    const [a, b] = [
      { device: deviceId(4), port: 9 },
      { device: deviceId(5), port: 9 },
    ];
    await own.apply([{ op: "set", kind: "links", claim: { src: b, dst: a } }]);
    const [added] = await events.readToRevision(own.view.revision);
    expect(added?.event).toBe("added");
    expectOnosFields("links", [added?.data.value as Entity]);
    expect(events.text.match(/^event: updated/gm)).toBeNull();
    await events.close();
    const { changes } = await own.json<{ changes: { value: Entity }[] }>(`${ONOS}/links?since=1`);
    expect(changes).toHaveLength(1);
    expectOnosFields(
      "links",
      changes.map(({ value }) => value),
    );
    const diff = await own.json<{ changes: { value: Entity }[] }>(`${ONOS}/links?diff=1..`);
    expect(diff.changes.map(({ value }) => value)).toEqual(changes.map(({ value }) => value));
  });

  test("graph formats and Prometheus targets are as everywhere", async () => {
    for (const path of ["topology?format=graphml", "topology?format=netjson", "devices?format=prometheus"])
      expect(await (await h.fetch(`${ONOS}/${path}`)).text()).toBe(await (await h.fetch(path)).text());
  });
});

test("topology counts available devices and active links between them, and no hosts", async () => {
  const own = await h.json<Record<string, number>>("topology");
  const shown = await h.json<Record<string, number>>(`${ONOS}/topology`);
  const devices = (await list("devices")).filter(({ available }) => available === true);
  const ids = new Set(devices.map(({ id }) => id));
  const links = (await list("links")).filter(
    ({ state, src, dst }) =>
      state === "ACTIVE" && [src, dst].every((end) => ids.has((end as { device: string }).device)),
  );
  expect(shown).toEqual({
    time: own.time ?? 0,
    devices: devices.length,
    links: links.length,
    clusters: own.clusters ?? 0,
  });
  expect(devices.length).toBeLessThan(own.devices ?? 0);
  expect(links.length).toBeLessThan(own.links ?? 0);
  const around = await h.json<Record<string, number>>(`${ONOS}/topology?around=${deviceId(5)}`);
  expect(around).toMatchObject({ devices: 1, links: 0 });
});

describe("spelling", () => {
  test("ids of devices are in lower case, and are found in any", async () => {
    const id = MIXED_CASE.toLowerCase();
    expect((await list("devices")).map((device) => device.id)).toContain(id);
    expect(await h.json(`${ONOS}/devices/${MIXED_CASE}`)).toMatchObject({ id });
    expect(await list("hosts", `?device=${id}`)).toMatchObject([
      { locations: [{ elementId: id, port: "LOCAL" }] },
    ]);
    const { clusters } = await h.json<{ clusters: Entity[] }>(`${ONOS}/topology/clusters`);
    expect(clusters.map(({ root }) => root)).toContain(id);
  });

  test("LOCAL in ends of links and locations, local in lists of ports", async () => {
    expect(await list("links", `?device=${deviceId(1)}&port=local`)).toMatchObject([
      { src: { port: "LOCAL" }, dst: { port: "CONTROLLER" } },
    ]);
    expect(await list("ports", `?element=${deviceId(1)}&port=local`)).toMatchObject([{ port: "local" }]);
  });
});

describe("parameters", () => {
  test.each([
    ["an unknown one is ignored", "links?nothing=1&x", "links"],
    [
      "of a repeated one the first counts",
      `links?device=${deviceId(1)}&device=${deviceId(3)}`,
      `links?device=${deviceId(1)}`,
    ],
    ["booleans may have any case", "devices?available=True", "devices?available=true"],
    ["enumerated values may have any case", "devices?type=Switch", "devices?type=SWITCH"],
    ["of a repeated filter the first counts", "devices?type=switch&type=ROUTER", "devices?type=SWITCH"],
    ["port without device is ignored", "links?port=1&direction=EGRESS", "links"],
    ["port without device is ignored on hosts", "hosts?port=1", "hosts"],
    ["unknown on a single device", `devices/${deviceId(1)}?x=1`, `devices/${deviceId(1)}`],
    ["unknown on topology", "topology?x=1", "topology"],
    ["annotations count", "hosts?annotations.name=printer&x=1", "hosts?annotations.name=printer"],
  ])("%s", async (_, given, same) => {
    expect(await h.json(`${ONOS}/${given}`)).toEqual(await h.json(`${ONOS}/${same}`));
  });

  test.each(["links?device=of:1&direction=up", "devices?available=perhaps", "devices?limit=0", "hosts?ip=x"])(
    "a bad value is a 400: %s",
    async (path) => {
      expect((await h.fetch(`${ONOS}/${path}`)).status).toBe(400);
    },
  );
});

describe("the state of the service", () => {
  test("system has ONOS's fields, in its order, with what is here", async () => {
    const response = await h.fetch(`${ONOS}/system`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    const system = (await response.json()) as Record<string, unknown>;
    expect(Object.keys(system)).toEqual([
      "node", "version", "clusterId", "nodes", "devices", "links", "hosts", "sccs", "flows", "intents", "mem", "threads",
    ]); // biome-ignore format: a list of words
    const { clusters, time: _, ...counts } = await h.json<Record<string, number>>("topology");
    expect(system).toMatchObject({
      ...counts,
      sccs: clusters,
      node: "127.0.0.1",
      nodes: 1,
      flows: 0,
      intents: 0,
    });
    expect(Object.keys(system.mem ?? {})).toEqual(["current", "max", "committed"]);
    expect(Object.keys(system.threads ?? {})).toEqual(["live", "daemon", "peak"]);
    expect(system.clusterId).toBe(response.headers.get("gazetteer-log"));
  });

  test("cluster has this node, alone and in a list", async () => {
    const { nodes } = await h.json<{ nodes: Entity[] }>(`${ONOS}/cluster`);
    expect(nodes).toEqual([
      {
        id: "127.0.0.1",
        ip: "127.0.0.1",
        tcpPort: h.port,
        status: "READY",
        lastUpdate: expect.stringMatching(/^\d{13}$/),
        humanReadableLastUpdate: expect.stringMatching(/^connected since \S+Z$/),
      },
    ]);
    expect(await h.json<Entity>(`${ONOS}/cluster/127.0.0.1`)).toEqual(nodes[0] ?? {});
  });

  test.each([
    ["GET", "/onos/v1/cluster/x", 404, null],
    ["POST", "/onos/v1/cluster/configuration", 405, "GET, HEAD, OPTIONS"],
    ["OPTIONS", "/onos/v1/system", 204, "GET, HEAD, OPTIONS"],
    ["GET", "/lab/v1/system", 404, null],
    ["GET", "/controller/v1/cluster", 404, null],
  ])("%s %s is %d", async (method, path, status, allow) => {
    const response = await h.fetch(path, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([status, allow]);
    if (path.startsWith(ONOS) && status > 400)
      expect(await response.json()).toEqual({ code: status, message: expect.any(String) });
  });

  test("the cost of a path is written as ONOS writes it", async () => {
    const path = `paths/${deviceId(1)}/${deviceId(3)}`;
    expect(await (await h.fetch(`${ONOS}/${path}`)).text()).toMatch(/"cost":\d+\.0,/);
    expect(await (await h.fetch(path)).text()).toMatch(/"cost":\d+,/);
  });
});

test("hosts have the location of ONOS before 1.14 where that is configured", async () => {
  await using old = await openHarness({ aliases: ["onos"], onos: { hostLocation: true } });
  await old.replace(SAMPLE);
  type Hosts = { hosts: { locations: unknown[]; location?: unknown }[] };
  const { hosts } = await old.json<Hosts>(`${ONOS}/hosts`);
  expect(hosts.map(({ location }) => location)).toEqual(hosts.map(({ locations }) => locations[0]));
  const [{ location } = {}] = (await h.json<Hosts>(`${ONOS}/hosts`)).hosts;
  expect(location).toBeUndefined();
});

describe("errors", () => {
  test.each([
    [404, "devices/of:0000000000000999"],
    [404, "nothing"],
    [404, ""],
    [400, "devices?limit=x"],
    [400, "devices?format=xml"],
    [410, "devices?at=2000-01-01T00:00:00Z"],
  ])("%d is application/json with code and message: %s", async (status, path) => {
    const response = await h.fetch(`${ONOS}/${path}`, { headers: { accept: "text/html, */*" } });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({ code: status, message: expect.any(String) });
  });

  test("a method that is not allowed, a type that does not exist, and a version that does not exist", async () => {
    const post = await h.fetch(`${ONOS}/devices`, { method: "POST" });
    expect([post.status, await post.json()]).toEqual([405, { code: 405, message: expect.any(String) }]);
    expect(post.headers.get("allow")).toContain("GET");
    const html = await h.fetch(`${ONOS}/devices`, { headers: { accept: "text/html" } });
    expect([html.status, await html.json()]).toEqual([406, { code: 406, message: expect.any(String) }]);
    const version = await h.fetch("/onos/v2/devices");
    expect([version.status, await version.json()]).toEqual([404, { code: 404, message: expect.any(String) }]);
  });

  test.each([
    ["GET", "flows", 501, "OPTIONS"],
    ["HEAD", "flows", 501, "OPTIONS"],
    ["DELETE", "flows/of:1", 405, "OPTIONS"],
    ["POST", "flows", 405, "OPTIONS"],
    ["DELETE", "intents/org.onosproject.ifwd/00:00:00:00:00:01%2FNone", 405, "OPTIONS"],
    ["GET", "mastership/of:1/request", 405, "OPTIONS"],
    ["HEAD", "mastership/of%3A1/re%6Cinquish/", 405, "OPTIONS"],
    ["DELETE", "devices/of:1", 405, "GET, HEAD, OPTIONS"],
    ["OPTIONS", "flows", 204, "OPTIONS"],
    ["OPTIONS", "mastership/of:1/request", 204, "OPTIONS"],
    ["OPTIONS", "devices", 204, "GET, HEAD, OPTIONS"],
  ])(
    "%s of %s, which only ONOS has, is %d with the reason, the key and a link",
    async (method, path, status, allow) => {
      const response = await h.fetch(`${ONOS}/${path}`, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([status, allow]);
      if (method === "OPTIONS" || method === "HEAD") return;
      const { message } = (await response.json()) as { message: string };
      expect(message).toMatch(/only reads|changes the state of ONOS/);
      expect(message).toContain("key forward of a controller source");
      expect(message).toContain("/docs/from-onos#what-only-onos-has");
    },
  );

  test("what nobody has, or is not there, is 404", async () => {
    expect((await h.fetch(`${ONOS}/flowz`)).status).toBe(404);
    expect((await h.fetch(`${ONOS}/devices/x`)).status).toBe(404);
  });

  test("the link of a 501 leads to a heading", async () => {
    const docs = await (await h.fetch("/docs/from-onos")).text();
    expect(docs).toContain('id="what-only-onos-has"');
  });

  test("401 is as everywhere", async () => {
    const response = await h.fetch(`${ONOS}/devices`, { headers: { authorization: "Basic eDp5" } });
    expect(response.status).toBe(401);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  });
});

test("entity tags differ from those of /controller/v1, and stay while ONOS's fields do", async () => {
  await using own = await openHarness({ aliases: ["onos"] });
  await own.replace(SAMPLE);
  const tagOf = async (path: string) => (await own.fetch(path)).headers.get("etag");
  const paths = ["devices", `devices/${deviceId(1)}`];
  for (const path of paths) expect(await tagOf(`${ONOS}/${path}`)).not.toBe(await tagOf(path));
  const before = await Promise.all(paths.map((path) => tagOf(`${ONOS}/${path}`)));
  const revision = own.view.revision;
  // A second source claims the same: only `sources` and `revision` change.
  await own.apply([{ op: "set", kind: "devices", claim: { id: deviceId(1) } }], "second");
  expect(own.view.revision).toBe(revision + 1);
  expect(await Promise.all(paths.map((path) => tagOf(`${ONOS}/${path}`)))).toEqual(before);
  await own.apply([{ op: "set", kind: "devices", claim: { id: deviceId(1), mfr: "other" } }]);
  for (const [i, path] of paths.entries()) expect(await tagOf(`${ONOS}/${path}`)).not.toBe(before[i] ?? "");
});

test("any other alias serves what /controller serves", async () => {
  expect(await (await h.fetch("/lab/v1/hosts")).text()).toBe(await (await h.fetch("hosts")).text());
  expect((await h.fetch("/lab/v1/hosts?x=1")).status).toBe(400);
});
