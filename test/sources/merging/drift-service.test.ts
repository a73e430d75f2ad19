/**
 * A service with a source and a plan: what differs is a filter, a stream, counts and a metric, in every process of the
 * service, and what is missing is nowhere else.
 */
import { expect, test } from "bun:test";
import { EventReader } from "../../api/events.ts";
import { connectToEachProcess, processIdsOf } from "../../service/connection.ts";
import { waitForReaders } from "../../service/start-with-readers.ts";
import { until } from "../../support/until.ts";
import { type Document, type Entity, MergedService } from "./merged-service.ts";

const SOURCES = [{ name: "net" }, { name: "plan", role: "intended" }] as const;

const NET: Document = {
  devices: [{ id: "dev:a" }, { id: "dev:b", type: "SWITCH" }, { id: "dev:d" }],
  links: [{ src: { device: "dev:a", port: 1 }, dst: { device: "dev:b", port: 1 } }],
};
/** b is a router, c is missing and so is its link, d is not planned. */
const PLAN: Document = {
  devices: [{ id: "dev:a" }, { id: "dev:b", type: "ROUTER" }, { id: "dev:c" }],
  links: [
    { src: { device: "dev:a", port: 1 }, dst: { device: "dev:b", port: 1 } },
    { src: { device: "dev:b", port: 2 }, dst: { device: "dev:c", port: 1 } },
  ],
};

const shown = (items: readonly Entity[]): string[] =>
  items.map(({ id, drift }) => `${id} ${drift?.state ?? "as intended"}`);

const untilDrift = (service: MergedService, expected: readonly string[]) =>
  service.untilDevices(
    (devices) => JSON.stringify(shown(devices)) === JSON.stringify(expected),
    `drift ${expected.join(", ")}`,
    "?drift=any",
  );

test("filters, counts, items and the metric; the plan shows nowhere else", async () => {
  await using service = await MergedService.start(SOURCES, { net: NET, plan: PLAN });
  await untilDrift(service, ["dev:b differs", "dev:c missing", "dev:d unplanned"]);
  expect(await service.ids("devices")).toEqual(["dev:a", "dev:b", "dev:d"]);
  expect(await service.ids("links", "?drift=any")).toEqual(["dev:b/2-dev:c/1"]);
  expect((await service.list("devices", "?drift=differs"))[0]?.drift?.fields).toEqual({
    type: { intended: "ROUTER", observed: "SWITCH" },
  });
  const { drift, ...counts } = await service.get("/topology?drift=any");
  expect(drift).toEqual({
    devices: { missing: 1, unplanned: 1, differs: 1 },
    ports: { missing: 0, unplanned: 0, differs: 0 },
    links: { missing: 1, unplanned: 0, differs: 0 },
    hosts: { missing: 0, unplanned: 0, differs: 0 },
  });
  expect(counts).toEqual(await service.get("/topology"));
  expect(counts).toMatchObject({ devices: 3, links: 1 });
  expect(await service.get("/devices/dev:c")).toMatchObject({ sources: [], drift: { state: "missing" } });
  expect(await service.status("/devices/dev:c/ports")).toBe(404);
  for (const path of ["/devices", "/links", "/topology/clusters/0/devices", "/topology?format=netjson"])
    expect([path, JSON.stringify(await service.get(path))]).not.toEqual([
      path,
      expect.stringContaining("dev:c"),
    ]);
  const metrics = await (await service.service.fetch("/metrics")).text();
  expect(metrics).toContain('gazetteer_drift{resource="devices",state="missing"} 1\n');
  expect(metrics).toContain('gazetteer_drift{resource="links",state="missing"} 1\n');
});

test("a stream replays to the list while the network and the plan change, and since and diff agree", async () => {
  await using service = await MergedService.start(SOURCES, { net: NET, plan: PLAN });
  await untilDrift(service, ["dev:b differs", "dev:c missing", "dev:d unplanned"]);
  const from = await service.revision();
  const stream = new EventReader(
    await service.service.fetch("/controller/v1/topology?drift=any", {
      headers: { accept: "text/event-stream" },
    }),
  );
  // c is found, b becomes as intended, a is gone, then d is planned.
  service.report("net", {
    devices: [{ id: "dev:b", type: "ROUTER" }, { id: "dev:c" }, { id: "dev:d" }],
    links: [{ src: { device: "dev:b", port: 2 }, dst: { device: "dev:c", port: 1 } }],
  });
  await untilDrift(service, ["dev:a missing", "dev:d unplanned"]);
  service.report("plan", { ...PLAN, devices: [...(PLAN.devices ?? []), { id: "dev:d", hw: "H9" }] });
  await untilDrift(service, ["dev:a missing", "dev:d differs"]);
  const expected = (
    await Promise.all((["devices", "links"] as const).map((kind) => service.list(kind, "?drift=any")))
  ).flat();
  const revision = await service.revision();
  const replayed = new Map<string, Entity>();
  const apply = (event: string, value: Entity) => {
    if (event === "removed") expect(replayed.delete(value.id)).toBe(true);
    else replayed.set(value.id, value);
  };
  const sorted = (items: Iterable<Entity>) => shown([...items]).sort();
  const complete = () => JSON.stringify(sorted(replayed.values())) === JSON.stringify(sorted(expected));
  while (!complete()) {
    const next = await stream.next();
    if (!next) throw new Error("the stream ended");
    if (next.event !== "synced") apply(next.event, next.data.value as Entity);
  }
  await stream.close();
  for (const query of [`since=${from}`, `since=${from}&fold=true`, `diff=${from}..${revision}`]) {
    replayed.clear();
    for (const kind of ["devices", "links"] as const)
      for (const item of await service.list(kind, `?drift=any&at=${from}`)) replayed.set(item.id, item);
    expect(sorted(replayed.values())).toContain("dev:c missing");
    const { changes } = await service.get<{ changes: { event: string; value: Entity }[] }>(
      `/topology?drift=any&${query}`,
    );
    for (const { event, value } of changes) apply(event, value);
    expect([query, ...sorted(replayed.values())]).toEqual([query, ...sorted(expected)]);
  }
});

test("reader processes have what is missing, with the same bytes and entity tags", async () => {
  await using service = await MergedService.start(SOURCES, { net: NET, plan: PLAN }, { readers: 3 });
  await waitForReaders(service.service);
  await untilDrift(service, ["dev:b differs", "dev:c missing", "dev:d unplanned"]);
  const connections = await connectToEachProcess(service.service, processIdsOf(service.service));
  const same = async (path: string, status: number) => {
    const answers = await until(
      async () => {
        const all = await Promise.all(connections.map((one) => one.get(`/controller/v1${path}`)));
        return new Set(all.map(({ revision }) => revision)).size === 1 ? all : undefined;
      },
      { what: `responses of one revision to ${path}` },
    );
    const comparable = answers.map(({ status, headers, body }) => ({
      status,
      etag: headers.get("etag"),
      body: body.toString().replace(/urn:uuid:[0-9a-f-]+/, ""),
    }));
    for (const one of comparable) expect({ path, one }).toEqual({ path, one: comparable[0] ?? one });
    expect([path, comparable[0]?.status]).toEqual([path, status]);
    return comparable[0]?.body ?? "";
  };
  const paths = [
    "/devices?drift=any",
    "/links?drift=missing",
    "/topology?drift=any",
    "/devices?drift=any&limit=1",
  ];
  for (const path of paths) await same(path, 200);
  expect(await same("/devices/dev:c", 200)).toContain('"missing"');
  expect(await same("/devices", 200)).not.toContain("dev:c");
  await same("/devices/dev:none", 404);
  service.report("net", { ...NET, devices: [...(NET.devices ?? []), { id: "dev:c" }] });
  service.report("plan", { ...PLAN, devices: [...(PLAN.devices ?? []), { id: "dev:e" }] });
  await untilDrift(service, ["dev:b differs", "dev:d unplanned", "dev:e missing"]);
  for (const path of paths) await same(path, 200);
  expect(await same("/devices/dev:c", 200)).not.toContain("missing");
  await same("/devices/dev:e", 200);
  for (const connection of connections) connection.close();
});
