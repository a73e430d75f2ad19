/** A source that comes, goes, fails and is back, over HTTP: ids and aliases, one revision, the past, stale claims. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { type Document, type Entity, type Json, MergedService } from "./merged-service.ts";

const OPENFLOW: Document = {
  devices: [
    { id: "of:000000000000000a", serial: "S1", hw: "Open vSwitch" },
    { id: "of:000000000000000b", serial: "S2" },
  ],
  ports: [
    {
      element: "of:000000000000000a",
      port: 1,
      annotations: { portName: "eth1", portMac: "02:00:00:00:00:11" },
    },
    { element: "of:000000000000000a", port: 2, annotations: { portName: "eth2" } },
    { element: "of:000000000000000b", port: 1, annotations: { portName: "eth1" } },
  ],
  links: [
    {
      src: { device: "of:000000000000000a", port: 1 },
      dst: { device: "of:000000000000000b", port: 1 },
      bidirectional: true,
    },
  ],
  hosts: [{ mac: "00:00:00:00:00:01", locations: [{ elementId: "of:000000000000000a", port: 2 }] }],
};
/** The same network with other ids and other port numbers. The first port is called otherwise, but has the same MAC. */
const CAMPUS: Document = {
  devices: [
    { id: "lldp:a", serial: "S1", hw: "AS4630", mfr: "Edgecore" },
    { id: "lldp:b", serial: "S2" },
  ],
  ports: [
    { element: "lldp:a", port: 49, annotations: { portName: "Ethernet1", mac: "02:00:00:00:00:11" } },
    { element: "lldp:a", port: 50, annotations: { portName: "ETH2" } },
    { element: "lldp:b", port: 17, annotations: { portName: "eth1" } },
  ],
  links: [{ src: { device: "lldp:a", port: 49 }, dst: { device: "lldp:b", port: 17 }, bidirectional: true }],
  hosts: [{ mac: "00:00:00:00:00:01", locations: [{ elementId: "lldp:a", port: 50 }] }],
};
const FIRST = ["of:000000000000000a", "of:000000000000000b"];
const SECOND = ["lldp:a", "lldp:b"];
const [A = "", B = ""] = FIRST;

interface Change {
  readonly event: string;
  readonly resource: "devices" | "links" | "hosts" | "ports";
  readonly revision: number;
  readonly value: Entity;
}
const keyOf = ({ resource, value }: Change): string =>
  `${resource} ${value.id ?? `${value.element}/${value.port}`}`;

describe("two sources of one network", () => {
  let merged: MergedService;
  let joinedAt = 0;
  beforeAll(async () => {
    const sources = [{ name: "openflow" }, { name: "campus" }];
    merged = await MergedService.start(sources, { openflow: OPENFLOW, campus: CAMPUS });
    await merged.untilDevices(
      (all) => all.length === 2 && all.every(({ sources }) => sources.length === 2),
      "the joined network",
    );
    joinedAt = await merged.revision();
  });
  afterAll(() => merged?.[Symbol.asyncDispose]());

  test("devices, ports, links and hosts are one, with the ids of the first", async () => {
    expect(await merged.ids("devices")).toEqual(FIRST);
    const ports = await merged.list("ports");
    expect(ports.map(({ element, port, sources }) => [element, port, sources.length])).toEqual([
      [A, "1", 2],
      [A, "2", 2],
      [B, "1", 2],
    ]);
    const links = await merged.list("links");
    expect(links.map(({ id, sources }) => [id, sources])).toEqual([
      [`${A}/1-${B}/1`, ["openflow", "campus"]],
      [`${B}/1-${A}/1`, ["openflow", "campus"]],
    ]);
    const [host] = await merged.list("hosts");
    expect(host).toMatchObject({ sources: ["openflow", "campus"], locations: [{ elementId: A, port: "2" }] });
    expect(host?.annotations?.conflict).toBeUndefined();
  });

  test("fields are those of the first source that claims them, and explain says why", async () => {
    expect(await merged.get(`/devices/${A}`)).toMatchObject({ hw: "Open vSwitch", mfr: "Edgecore" });
    const response = await merged.service.fetch(`/controller/v1/devices/${A}?explain=true`);
    expect(response.headers.get("content-type")).toBe("application/vnd.gazetteer.explanation+json");
    const explanation: Json = await response.json();
    expect(explanation).toMatchObject({
      kind: "devices",
      id: A,
      claims: [
        { source: "openflow", role: "observed", status: "live", id: A },
        { source: "campus", role: "observed", status: "live", id: "lldp:a" },
      ],
      fields: {
        hw: { value: "Open vSwitch", source: "openflow" },
        mfr: { value: "Edgecore", source: "campus" },
      },
    });
  });

  test.each([
    "/devices/lldp:a",
    "/devices/LLDP:A/ports",
    "/links?device=lldp:a",
    "/links?src=lldp:a&dst=lldp:b",
    "/hosts?device=lldp:a&port=2",
    "/devices?around=lldp:a",
    "/paths/lldp:a/lldp:b",
    "/topology/broadcast/lldp:a:2",
  ])("%s takes an alias", async (path) => {
    const original = path.replaceAll(/lldp:a/gi, A).replaceAll("lldp:b", B);
    expect(await merged.get(path)).toEqual(await merged.get(original));
    expect(JSON.stringify(await merged.get(path))).not.toBe('{"links":[]}');
  });

  test("the first source withdraws: other ids in one revision, and the changes replay", async () => {
    const before = await stateAt(joinedAt);
    merged.report("openflow", {});
    const [device] = await merged.untilIds(SECOND);
    expect(device).toMatchObject({ id: "lldp:a", sources: ["campus"], aliases: [A], hw: "AS4630" });
    const { changes } = await merged.get<{ changes: Change[] }>(`/topology?since=${joinedAt}`);
    expect(new Set(changes.map(({ revision }) => revision)).size).toBe(1);
    const named = (event: string, resource: string) =>
      changes
        .filter((each) => each.event === event && each.resource === resource)
        .map(({ value }) => value.id);
    expect(named("removed", "devices").sort()).toEqual(FIRST);
    expect(named("added", "devices").sort()).toEqual(SECOND);
    expect(named("removed", "links")).toHaveLength(2);
    expect(named("added", "links").sort()).toEqual(["lldp:a/49-lldp:b/17", "lldp:b/17-lldp:a/49"]);
    for (const change of changes) {
      if (change.event === "removed") before.delete(keyOf(change));
      else before.set(keyOf(change), change.value);
    }
    expect(before).toEqual(await stateAt());
  });

  test("the old id is an alias now, and the past has both as they were", async () => {
    expect(await merged.get(`/devices/${A}`)).toMatchObject({ id: "lldp:a" });
    expect(await merged.ids("links", `?device=${A}`)).toHaveLength(2);
    expect(await merged.ids("devices", `?at=${joinedAt}`)).toEqual(FIRST);
    expect(await merged.get(`/devices/lldp:a?at=${joinedAt}`)).toMatchObject({ id: A });
    const { changes } = await merged.get<{ changes: Change[] }>(`/devices?diff=${joinedAt}..`);
    expect(changes.map(({ event, value }) => [event, value.id]).sort()).toEqual([
      ...SECOND.map((id) => ["added", id]),
      ...FIRST.map((id) => ["removed", id]),
    ]);
  });

  test("it reports again: the first ids are back, and firstSeen is that of before", async () => {
    const [old] = await merged.list("devices", `?at=${joinedAt}`);
    merged.report("openflow", OPENFLOW);
    const [device] = await merged.untilIds(FIRST);
    await merged.untilDevices((all) => all.every(({ sources }) => sources.length === 2), "both sources");
    expect(device).toMatchObject({ id: A, aliases: ["lldp:a"] });
    expect(device?.firstSeen).toBe(old?.firstSeen);
  });

  test("a source that fails ranks behind a live one, keeps its id, and is back in its place", async () => {
    const live = await merged.revision();
    await merged.fail("openflow");
    await merged.untilDevices(([first]) => first?.hw === "AS4630", "the value of the live source");
    expect(await merged.list("devices")).toMatchObject([
      { id: A, sources: ["openflow", "campus"] },
      { id: B },
    ]);
    const stale = await merged.revision();
    expect(await merged.get(`/devices/${A}?explain=true`)).toMatchObject({
      claims: [
        { source: "campus", status: "live" },
        { source: "openflow", status: "stale", staleSince: expect.any(String) },
      ],
      fields: { hw: { value: "AS4630", source: "campus" } },
    });
    merged.report("openflow", OPENFLOW);
    await merged.untilDevices(([first]) => first?.hw === "Open vSwitch", "the value of the first source");
    expect(await merged.get(`/devices/${A}?at=${live}`)).toMatchObject({ hw: "Open vSwitch" });
    expect(await merged.get(`/devices/${A}?at=${stale}`)).toMatchObject({ hw: "AS4630" });
    expect(await merged.get(`/devices/${A}?at=${stale}&explain=true`)).toMatchObject({
      claims: [{ source: "campus" }, { source: "openflow", status: "stale" }],
    });
  });

  test("the order of the configuration is another one after a restart: so are the ids", async () => {
    merged.configure([{ name: "campus" }, { name: "openflow" }]);
    await merged.restart();
    const [device] = await merged.untilIds(SECOND);
    expect(device).toMatchObject({ sources: ["campus", "openflow"], hw: "AS4630" });
    expect(device?.aliases).toContain(A);
    expect(await merged.ids("devices", `?at=${joinedAt}`)).toEqual(FIRST);
  });

  /** Every entity at a revision, by its key. */
  async function stateAt(revision?: number): Promise<Map<string, Entity>> {
    const all = new Map<string, Entity>();
    for (const resource of ["devices", "ports", "links", "hosts"] as const) {
      const query = revision === undefined ? "" : `?at=${revision}`;
      for (const value of await merged.list(resource, query))
        all.set(keyOf({ event: "", resource, revision: 0, value }), value);
    }
    return all;
  }
});

test("withdrawAfterSeconds: what only that source knew is removed, ids change, and both come back", async () => {
  const sources = [{ name: "openflow", withdrawAfterSeconds: 1 }, { name: "campus" }];
  const own = { id: "of:000000000000000c" };
  const documents = {
    openflow: { ...OPENFLOW, devices: [...(OPENFLOW.devices ?? []), own] },
    campus: CAMPUS,
  };
  await using merged = await MergedService.start(sources, documents);
  await merged.untilIds([...FIRST, own.id]);
  await merged.fail("openflow");
  await merged.untilIds(SECOND, "the claims to be withdrawn");
  await merged.restart();
  await merged.untilIds(SECOND, "the withdrawal to hold after a restart");
  merged.report("openflow", documents.openflow);
  await merged.untilIds([...FIRST, own.id], "the claims to come back");
});

test.each(["reload", "restart"] as const)(
  "the first source is removed from the configuration by a %s: the ids that it gave stay as aliases",
  async (how) => {
    const sources = [{ name: "openflow" }, { name: "campus" }];
    await using merged = await MergedService.start(sources, { openflow: OPENFLOW, campus: CAMPUS });
    await merged.untilDevices(
      (all) => all.length === 2 && all.every(({ id, sources: s }) => FIRST.includes(id) && s.length === 2),
      "the joined network",
    );
    const before = await merged.revision();
    merged.configure([{ name: "campus" }]);
    if (how === "restart") await merged.restart();
    else process.kill(merged.service.pid, "SIGHUP");
    const devices = await merged.untilIds(SECOND);
    expect(devices.map(({ aliases }) => aliases)).toEqual(FIRST.map((id) => [id]));
    expect(await merged.status(`/devices/${A}`)).toBe(200);
    const { changes } = await merged.get<{ changes: Change[] }>(`/topology?since=${before}`);
    const removedAt = changes.flatMap(({ event, revision }) => (event === "removed" ? [revision] : []));
    const addedAt = changes.flatMap(({ event, revision }) => (event === "added" ? [revision] : []));
    expect(new Set([...removedAt, ...addedAt]).size).toBe(1);
  },
);

test("an old id that another source still used stays an alias when that source withdraws it", async () => {
  const sources = ["openflow", "campus", "racks"].map((name) => ({ name }));
  const device = (id: string): Document => ({ devices: [{ id, serial: "S1" }] });
  await using merged = await MergedService.start(sources, { openflow: {}, campus: {}, racks: device("r:1") });
  merged.report("campus", device("lldp:1"));
  await merged.untilIds(["lldp:1"]);
  merged.report("openflow", device("of:1"));
  await merged.untilIds(["of:1"]);
  const asFirst = await merged.revision();
  const isKnownTo = (count: number) => (all: Entity[]) => all[0]?.sources.length === count;
  merged.report("racks", {});
  await merged.untilDevices(isKnownTo(2), "racks to withdraw");
  await merged.restart();
  merged.report("campus", {});
  const [shown] = await merged.untilDevices(isKnownTo(1), "campus to withdraw");
  expect(shown).toMatchObject({ id: "of:1", aliases: ["lldp:1", "r:1"] });
  for (const [id, at] of [
    ["lldp:1", ""],
    ["r:1", ""],
    ["r:1", `?at=${asFirst}`],
  ])
    expect(await merged.get(`/devices/${id}${at}`)).toMatchObject({ id: "of:1" });
});

test("a stream shows the change of an id, and goes on", async () => {
  const sources = [{ name: "openflow" }, { name: "campus" }];
  await using merged = await MergedService.start(sources, { openflow: OPENFLOW, campus: CAMPUS });
  await merged.untilDevices(
    (all) => all.length === 2 && all.every(({ sources: s }) => s.length === 2),
    "the joined network",
  );
  const abort = new AbortController();
  const response = await merged.service.fetch(`/controller/v1/topology?since=${await merged.revision()}`, {
    headers: { accept: "text/event-stream" },
    signal: abort.signal,
  });
  let text = "";
  const reading = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
  })().catch(() => {});
  merged.report("openflow", {});
  const events = (event: string) =>
    [...text.matchAll(/^event: (\w+)\n(?:id: .*\n)?data: (.*)$/gm)]
      .filter(([, name]) => name === event)
      .map(([, , data = ""]) => JSON.parse(data));
  const devices = (event: string): string[] =>
    events(event)
      .filter(({ resource }) => resource === "devices")
      .map(({ value }) => value.id);
  await until(() => devices("added").length === 2, { what: "the new ids on the stream" });
  expect(devices("removed").sort()).toEqual(FIRST);
  expect(devices("added").sort()).toEqual(SECOND);
  merged.report("openflow", OPENFLOW);
  await until(() => devices("added").length === 4, { what: "the first ids on the stream again" });
  abort.abort();
  await reading;
});

test("ports are matched by number only where both sources number alike", async () => {
  const port = (element: string, number: number, portName?: string) => ({
    element,
    port: number,
    ...(portName !== undefined && { annotations: { portName } }),
  });
  const devices = (prefix: string) => [
    { id: `${prefix}:1`, serial: "S1" },
    { id: `${prefix}:2`, serial: "S2" },
  ];
  const documents = {
    // Of the first device port 1 is port 11 by name: its other ports are not numbered alike.
    first: {
      devices: devices("a"),
      ports: [port("a:1", 1, "eth1"), port("a:1", 2), port("a:2", 1), port("a:2", 2)],
    },
    second: {
      devices: devices("b"),
      ports: [port("b:1", 11, "eth1"), port("b:1", 2), port("b:2", 1), port("b:2", 2)],
    },
  };
  await using merged = await MergedService.start([{ name: "first" }, { name: "second" }], documents);
  await merged.untilDevices(
    (all) => all.length === 2 && all.every(({ sources }) => sources.length === 2),
    "joined devices",
  );
  const ports = await merged.list("ports");
  const shown = (element: string) =>
    ports.filter((each) => each.element === element).map((each) => [each.port, each.sources]);
  expect(shown("a:2")).toEqual([
    ["1", ["first", "second"]],
    ["2", ["first", "second"]],
  ]);
  const byNumber = shown("a:1").sort((x, y) => Number(x[0]) - Number(y[0]));
  const [one, two, own] = byNumber;
  expect([one, two]).toEqual([
    ["1", ["first", "second"]],
    ["2", ["first"]],
  ]);
  expect(own?.[1]).toEqual(["second"]);
  expect(Number(own?.[0])).toBeGreaterThanOrEqual(1_000_000_000);
});
