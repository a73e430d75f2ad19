/** `drift`: what differs from the intended network, and what of it is missing, on every read. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { EventReader } from "./events.ts";
import { type Harness, openHarness } from "./harness.ts";
import {
  commitPlanned,
  type Entity,
  idOf,
  listOf,
  type Planned,
  plannedDevice,
  plannedHost,
  plannedLink,
  plannedPort,
  type TestKind,
} from "./planned-network.ts";

const idsOf = async (harness: Harness, kind: TestKind, query = ""): Promise<string[]> =>
  (await listOf(harness, kind, query)).map(idOf);

/** a as intended, b missing with alias x, c differs, d unplanned; a port, a link and a host of each state. */
const NETWORK: readonly Planned[] = [
  plannedDevice("dev:a", "planned"),
  plannedDevice("dev:b", "missing", { aliases: ["dev:x"], type: "ROUTER" }),
  plannedDevice("dev:c", "differs"),
  plannedDevice("dev:d", "unplanned"),
  plannedPort("dev:a", "1", "planned"),
  plannedPort("dev:a", "2", "missing"),
  plannedPort("dev:c", "1", "unplanned"),
  plannedLink("dev:a", "dev:b", "missing"),
  plannedLink("dev:a", "dev:c", "planned"),
  plannedLink("dev:c", "dev:d", "unplanned"),
  plannedHost("00:00:00:00:00:01", "dev:a", "differs"),
  plannedHost("00:00:00:00:00:02", "dev:b", "missing"),
  plannedHost("00:00:00:00:00:03", "dev:a", "planned"),
];

describe("a network with each state", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness({ aliases: ["onos", "other"] });
    await commitPlanned(harness, NETWORK);
  });
  afterAll(() => harness.stop());

  test("lists are filtered by state, in order of id, and only they have what is missing", async () => {
    expect(await idsOf(harness, "devices")).toEqual(["dev:a", "dev:c", "dev:d"]);
    expect(await idsOf(harness, "devices", "?drift=any")).toEqual(["dev:b", "dev:c", "dev:d"]);
    expect(await idsOf(harness, "devices", "?drift=missing,unplanned")).toEqual(["dev:b", "dev:d"]);
    expect(await idsOf(harness, "devices", "?drift=differs")).toEqual(["dev:c"]);
    expect(await idsOf(harness, "ports", "?drift=any")).toEqual(["dev:a/2", "dev:c/1"]);
    expect(await idsOf(harness, "links", "?drift=missing")).toEqual(["dev:a/1-dev:b/2"]);
    expect(await idsOf(harness, "hosts", "?drift=any")).toEqual([
      "00:00:00:00:00:01/None",
      "00:00:00:00:00:02/None",
    ]);
    expect((await listOf(harness, "devices", "?drift=missing"))[0]).toMatchObject({
      id: "dev:b",
      sources: [],
      drift: { state: "missing", since: "2026-11-15T00:00:00.000Z" },
    });
  });

  test("it works with every other filter, with sort, fields and formats", async () => {
    expect(await idsOf(harness, "devices", "?drift=any&type=ROUTER")).toEqual(["dev:b"]);
    expect(await idsOf(harness, "devices", "?drift=any&id=DEV:B,dev:a,dev:c")).toEqual(["dev:b", "dev:c"]);
    expect(await idsOf(harness, "devices", "?drift=any&source=first")).toEqual(["dev:c", "dev:d"]);
    expect(await idsOf(harness, "devices", "?drift=any&q=H2")).toEqual(["dev:c"]);
    expect(await idsOf(harness, "ports", "?drift=any&element=dev:a")).toEqual(["dev:a/2"]);
    expect(await idsOf(harness, "links", "?drift=any&device=dev:b")).toEqual(["dev:a/1-dev:b/2"]);
    expect(await idsOf(harness, "hosts", "?drift=any&ip=10.0.0.0/8&device=dev:b")).toEqual([
      "00:00:00:00:00:02/None",
    ]);
    expect(await idsOf(harness, "ports", "?drift=any&around=dev:a&hops=0")).toEqual(["dev:a/2"]);
    expect(await idsOf(harness, "devices", "?drift=any&sort=-type,-id")).toEqual(["dev:d", "dev:c", "dev:b"]);
    expect(await harness.json("devices?drift=missing&fields=id,drift")).toEqual({
      devices: [{ id: "dev:b", drift: { state: "missing", since: "2026-11-15T00:00:00.000Z" } }],
    });
    const csv = await (await harness.fetch("devices?drift=any&format=csv")).text();
    expect(csv.split("\r\n").filter((line) => /^dev:/.test(line))).toHaveLength(3);
    expect(csv).toMatch(/^dev:b,.*missing/m);
    const ndjson = await (await harness.fetch("devices?drift=any&format=ndjson")).text();
    expect(
      ndjson
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).id),
    ).toEqual(["dev:b", "dev:c", "dev:d"]);
  });

  test("pages walk through both, sorted or not", async () => {
    for (const sort of ["", "&sort=-id"]) {
      const seen: string[] = [];
      for (let cursor = ""; ; ) {
        const page: { devices: Entity[]; next?: string } = await harness.json(
          `devices?drift=any&limit=1${sort}${cursor}`,
        );
        seen.push(...page.devices.map(idOf));
        if (page.next === undefined) break;
        cursor = `&cursor=${page.next}`;
      }
      const all = ["dev:b", "dev:c", "dev:d"];
      expect(seen).toEqual(sort === "" ? all : all.reverse());
    }
  });

  test("what is missing is nowhere else", async () => {
    expect(await harness.json("topology")).toMatchObject({ devices: 3, links: 2, hosts: 2 });
    expect(await harness.json("topology")).not.toHaveProperty("drift");
    const clusters = await harness.json<{ clusters: { deviceCount: number }[] }>("topology/clusters");
    expect(clusters.clusters.reduce((sum, { deviceCount }) => sum + deviceCount, 0)).toBe(3);
    for (const path of [
      "devices",
      "links",
      "hosts",
      "devices/ports",
      "devices/dev:a/ports",
      "devices?q=dev:",
      "devices?id=dev:b",
      "devices?format=csv",
      "devices?format=ndjson",
      "hosts?format=prometheus",
      "links?device=dev:a",
      "hosts?ip=10.0.0.1",
      "devices?around=dev:a&hops=9",
      "devices?sort=id",
      "devices?limit=10",
      "devices?at=1",
      "devices?since=0",
      "devices?diff=0..1",
      "topology?since=0",
      "topology?since=0&fold=true",
      "topology?diff=0..1",
      "topology?format=netjson",
      "topology?format=rfc8345",
      "topology?format=graphml",
      "topology?format=dot",
      "topology?format=svg",
      "topology/clusters/0/devices",
      "paths/dev:a/dev:c",
    ]) {
      const response = await harness.fetch(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect([path, /dev:b|00:00:00:00:00:02/.test(await response.text())]).toEqual([path, false]);
    }
    for (const path of ["devices/dev:b/ports", "devices/dev:x", "topology/broadcast/dev:b:1"])
      expect([path, (await harness.fetch(path)).status]).toEqual([path, 404]);
    expect(await harness.json("paths/dev:a/dev:b")).toEqual({ paths: [] });
    expect((await harness.fetch("devices?around=dev:b")).status).toBe(400);
  });

  test("an item read answers what is missing, by its own id", async () => {
    expect(await harness.json("devices/dev:b")).toMatchObject({ id: "dev:b", drift: { state: "missing" } });
    expect(await harness.json("devices/DEV:B")).toMatchObject({ id: "dev:b" });
    expect(await harness.json("devices/dev:b?at=1")).toMatchObject({ id: "dev:b" });
    expect(await harness.json("hosts/00:00:00:00:00:02/None")).toMatchObject({
      drift: { state: "missing" },
    });
    expect((await harness.fetch("devices/dev:b?at=0")).status).toBe(404);
  });

  test("the topology counts the states that drift names, now, in the past and around a device", async () => {
    const { drift, ...counts } = await harness.json<Record<string, unknown>>("topology?drift=any");
    expect(drift).toEqual({
      devices: { missing: 1, unplanned: 1, differs: 1 },
      ports: { missing: 1, unplanned: 1, differs: 0 },
      links: { missing: 1, unplanned: 1, differs: 0 },
      hosts: { missing: 1, unplanned: 0, differs: 1 },
    });
    expect(counts).toEqual(await harness.json("topology"));
    expect(await harness.json("topology?drift=missing")).toMatchObject({
      drift: { devices: { missing: 1 }, ports: { missing: 1 }, links: { missing: 1 }, hosts: { missing: 1 } },
    });
    expect((await harness.json<{ drift: object }>("topology?drift=any&at=0")).drift).toEqual({
      devices: { missing: 0, unplanned: 0, differs: 0 },
      ports: { missing: 0, unplanned: 0, differs: 0 },
      links: { missing: 0, unplanned: 0, differs: 0 },
      hosts: { missing: 0, unplanned: 0, differs: 0 },
    });
    expect(await harness.json("topology?drift=missing&around=dev:a&hops=0")).toMatchObject({
      devices: 1,
      drift: { devices: { missing: 0 }, ports: { missing: 1 }, links: { missing: 0 }, hosts: { missing: 0 } },
    });
    expect((await harness.fetch("topology?drift=any&format=graphml")).status).toBe(400);
    expect((await harness.fetch("topology?drift=any&timeline=3")).status).toBe(400);
  });

  test("the metric has the same counts", async () => {
    const text = await (await harness.fetch("/metrics")).text();
    expect(text).toContain('gazetteer_drift{resource="devices",state="missing"} 1\n');
    expect(text).toContain('gazetteer_drift{resource="hosts",state="differs"} 1\n');
    expect(text).toContain('gazetteer_drift{resource="hosts",state="unplanned"} 0\n');
    expect(text).toContain('gazetteer_entities{kind="devices"} 3\n');
  });

  test("an unknown state is a 400 that names those there are", async () => {
    const response = await harness.fetch("devices?drift=lost");
    expect(response.status).toBe(400);
    expect((await response.json()).detail).toContain("missing, unplanned, differs, any");
  });

  test("the alias onos shows nothing of it, any other alias all of it", async () => {
    for (const path of ["devices?drift=any", "devices?drift=missing", "topology?drift=any"]) {
      const plain = path.replace(/\?.*/, "");
      expect(await harness.json(`/onos/v1/${path}`)).toEqual(await harness.json(`/onos/v1/${plain}`));
    }
    expect(await (await harness.fetch("/onos/v1/devices")).text()).not.toContain("drift");
    expect((await harness.fetch("/onos/v1/devices/dev:b")).status).toBe(404);
    expect(await harness.json("/other/v1/devices?drift=any")).toEqual(
      await harness.json("devices?drift=any"),
    );
    expect((await harness.fetch("/other/v1/devices/dev:b")).status).toBe(200);
  });
});

describe("changes", () => {
  test("a change of what is missing changes the tags of drift queries and items, and no other", async () => {
    await using harness = await openHarness();
    await commitPlanned(harness, NETWORK);
    const tagOf = async (path: string, tag?: string) => {
      const response = await harness.fetch(
        path,
        tag === undefined ? {} : { headers: { "if-none-match": tag } },
      );
      await response.text();
      return tag === undefined ? (response.headers.get("etag") ?? "") : response.status;
    };
    const paths = [
      "devices?drift=any",
      "devices?drift=missing&limit=2",
      "topology?drift=any",
      "devices/dev:b",
    ];
    const others = ["devices", "devices?drift=unplanned", "devices/dev:a", "topology"];
    // Twice, so that the second response is from the cache.
    for (const path of [...paths, ...others]) await tagOf(path);
    const tags = new Map<string, string>();
    for (const path of [...paths, ...others]) tags.set(path, String(await tagOf(path)));
    await commitPlanned(harness, [
      plannedDevice("dev:b", "missing", { type: "FIREWALL" }),
      plannedDevice("dev:e", "missing"),
    ]);
    for (const path of paths) expect([path, await tagOf(path, tags.get(path))]).toEqual([path, 200]);
    for (const path of others) expect([path, await tagOf(path, tags.get(path))]).toEqual([path, 304]);
    expect(await harness.json("devices/dev:b")).toMatchObject({ type: "FIREWALL" });
    await commitPlanned(
      harness,
      [plannedDevice("dev:b", "planned")],
      [plannedDevice("dev:b", "missing"), plannedDevice("dev:e", "missing")],
    );
    expect(await harness.json("devices/dev:b")).not.toHaveProperty("drift");
    expect((await harness.fetch("devices/dev:e")).status).toBe(404);
  });

  test("a stream has what begins and ends to be missing, in an order that replays", async () => {
    await using harness = await openHarness();
    await commitPlanned(harness, NETWORK);
    const read = async (path: string) =>
      new EventReader(await harness.fetch(path, { headers: { accept: "text/event-stream" } }));
    const drift = await read("devices?drift=any");
    const plain = await read("devices");
    const start = harness.view.revision;
    // Found and different; found and as intended; gone.
    await commitPlanned(harness, [plannedDevice("dev:b", "differs")], [plannedDevice("dev:b", "missing")]);
    await commitPlanned(harness, [plannedDevice("dev:b", "planned")]);
    await commitPlanned(harness, [plannedDevice("dev:b", "missing")], [plannedDevice("dev:b", "planned")]);
    await commitPlanned(harness, [], [plannedDevice("dev:b", "missing")]);
    const shown = async (stream: EventReader) => {
      const events = await stream.readToRevision(harness.view.revision);
      await stream.close();
      return events
        .filter(({ event }) => event !== "synced")
        .map(({ event, data }) => {
          const value = data.value as Entity;
          return `${data.revision} ${event} ${value.id} ${value.drift?.state ?? "-"}`;
        });
    };
    // The end of a revision that matches nothing is not announced: this one ends what both streams must have.
    await commitPlanned(harness, [plannedDevice("dev:z", "unplanned")]);
    expect(await shown(drift)).toEqual([
      `${start} snapshot dev:b missing`,
      `${start} snapshot dev:c differs`,
      `${start} snapshot dev:d unplanned`,
      `${start + 1} removed dev:b missing`,
      `${start + 1} added dev:b differs`,
      `${start + 2} removed dev:b differs`,
      `${start + 3} added dev:b missing`,
      `${start + 4} removed dev:b missing`,
      `${start + 5} added dev:z unplanned`,
    ]);
    expect(await shown(plain)).toEqual([
      `${start} snapshot dev:a -`,
      `${start} snapshot dev:c differs`,
      `${start} snapshot dev:d unplanned`,
      `${start + 1} added dev:b differs`,
      `${start + 2} updated dev:b -`,
      `${start + 3} removed dev:b -`,
      `${start + 5} added dev:z unplanned`,
    ]);
    const folded = await harness.json<{ changes: { event: string; value: Entity }[] }>(
      `devices?drift=any&fold=true&since=${start}`,
    );
    expect(folded.changes.map(({ event, value }) => `${event} ${value.id}`)).toEqual([
      "removed dev:b",
      "added dev:z",
    ]);
    const diff = await harness.json<{ changes: { event: string; before?: Entity; value: Entity }[] }>(
      `devices?drift=any&diff=${start}..${start + 1}`,
    );
    expect(diff.changes).toMatchObject([
      { event: "updated", before: { drift: { state: "missing" } }, value: { drift: { state: "differs" } } },
    ]);
  });
});
