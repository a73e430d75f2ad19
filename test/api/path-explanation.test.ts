/** `explain=true` on paths: the union of all shortest paths, and why there is none, now and in the past. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { PathExplanation } from "../../src/model/path-explanation.ts";
import { snapshotOf } from "../../src/view/view.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Harness, openHarness } from "./harness.ts";

const TYPE = "application/vnd.gazetteer.path-explanation+json";
const HOUR_MS = 3_600_000;
const HOST = "00:00:00:00:00:0A/None";

type End = readonly [device: string, port: string];
const link = ([a, p]: End, [b, q]: End, state: "ACTIVE" | "INACTIVE" = "ACTIVE") => ({
  src: { device: a, port: p },
  dst: { device: b, port: q },
  state,
});
const cable = (a: End, b: End, state: "ACTIVE" | "INACTIVE" = "ACTIVE") => [
  link(a, b, state),
  link(b, a, state),
];

/** Leaves l1 and l2 below spines s1 and s2; l3 hangs on l2; x is alone. */
const FABRIC = [
  ...cable(["l1", "1"], ["s1", "1"]),
  ...cable(["l1", "2"], ["s2", "1"]),
  ...cable(["l2", "1"], ["s1", "2"]),
  ...cable(["l2", "2"], ["s2", "2"]),
];
const TAIL = cable(["l2", "3"], ["l3", "1"]);
const DEVICES = ["l1", "l2", "l3", "s1", "s2", "x"].map((id) => ({
  id,
  annotations: { name: `name-${id}` },
}));
const HOSTS = [
  {
    mac: "00:00:00:00:00:0A",
    vlan: "None",
    locations: [{ elementId: "l1", port: "9" }],
    annotations: { name: "pc" },
  },
];

async function openFabric(): Promise<Harness> {
  const api = await openHarness();
  await api.replace({ devices: DEVICES, links: [...FABRIC, ...TAIL], hosts: HOSTS });
  return api;
}

const explain = (api: Harness, src: string, dst: string, more = "") =>
  api.json<PathExplanation>(
    `paths/${encodeURIComponent(src)}/${encodeURIComponent(dst)}?explain=true${more}`,
  );

test("the union of all shortest paths with their number, cost and named ends", async () => {
  await using api = await openFabric();
  const response = await api.fetch(`paths/${encodeURIComponent(HOST)}/l3?explain=true`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, TYPE]);
  const { links, devices, ...rest }: PathExplanation = await response.json();
  expect(rest).toEqual({
    src: { id: HOST, resource: "hosts", device: "l1", port: "9", name: "pc" },
    dst: { id: "l3", resource: "devices", device: "l3", name: "name-l3" },
    cost: 4,
    count: 2,
  });
  expect(devices).toEqual(["l1", "s1", "s2", "l2", "l3"]);
  expect(links.toSorted()).toEqual(["l1/1-s1/1", "l1/2-s2/1", "l2/3-l3/1", "s1/2-l2/1", "s2/2-l2/2"]);
});

test("the number of paths fits into 64 bits, however many there are", async () => {
  await using api = await openHarness();
  const devices = Array.from({ length: 65 }, (_, i) => ({ id: `d${i}` }));
  const twoCables = (i: number) =>
    ["1", "2"].flatMap((port) => cable([`d${i}`, port], [`d${i + 1}`, `1${port}`]));
  await api.replace({ devices, links: devices.slice(1).flatMap((_, i) => twoCables(i)) });
  const countTo = async (id: string) =>
    /"count":(\d+)/.exec(await (await api.fetch(`paths/d0/${id}?explain=true`)).text())?.[1];
  expect([await countTo("d62"), await countTo("d64")]).toEqual([
    "4611686018427387904",
    "9223372036854775807",
  ]);
});

test("where the reachable sets part: inactive and lost links, and devices that are unavailable", async () => {
  await using api = await openFabric();
  await api.replace({
    devices: DEVICES.map((device) => ({ ...device, available: device.id !== "s2" })),
    links: [
      ...cable(["l1", "1"], ["s1", "1"]),
      ...cable(["l1", "2"], ["s2", "1"]),
      ...cable(["l2", "1"], ["s1", "2"], "INACTIVE"),
      ...cable(["l2", "2"], ["s2", "2"]),
      ...TAIL,
    ],
    hosts: HOSTS,
  });
  const { none, count, links } = await explain(api, HOST, "l3");
  expect([count, links]).toEqual([0, []]);
  expect(none).toMatchObject({
    reason: "parted",
    from: { count: 2, devices: ["l1", "s1"] },
    to: { count: 2, devices: ["l3", "l2"] },
    needed: 1,
    obstacleCount: 2,
    obstacles: [
      { resource: "devices", id: "s2", state: "unavailable", name: "name-s2" },
      { resource: "links", id: "s1/2-l2/1", state: "inactive", src: { device: "s1", port: "2" } },
    ],
  });
  // The tail is cut off: its link is lost, and what else is down is of no help.
  await api.replace({ devices: DEVICES, links: FABRIC, hosts: HOSTS });
  const lost = await explain(api, "l1", "l3");
  expect(lost.none).toMatchObject({
    from: { count: 4 },
    to: { count: 1, devices: ["l3"] },
    needed: 1,
    obstacles: [{ resource: "links", id: "l2/3-l3/1", state: "lost", dst: { device: "l3", port: "1" } }],
  });
});

test("a device that is gone, a direction that is not known, and ends that nothing joins", async () => {
  await using api = await openFabric();
  const withoutL2 = DEVICES.filter(({ id }) => id !== "l2");
  await api.replace({ devices: withoutL2, links: FABRIC.slice(0, 4), hosts: HOSTS });
  expect((await explain(api, "l1", "l3")).none).toMatchObject({
    needed: 1,
    obstacleCount: 1,
    obstacles: [{ resource: "devices", id: "l2", state: "gone" }],
  });
  await using other = await openHarness();
  await other.replace({
    devices: [{ id: "a" }, { id: "b" }, { id: "c" }],
    links: [link(["b", "1"], ["a", "1"])],
  });
  expect((await explain(other, "a", "b")).none).toMatchObject({
    obstacles: [{ id: "b/1-a/1", state: "one-way" }],
  });
  expect((await explain(other, "a", "c")).none).toMatchObject({ reason: "never-joined", from: { count: 1 } });
  expect((await explain(other, "a", "nowhere")).none).toEqual({ reason: "unknown-end" });
  expect((await explain(other, "a", "a")).none).toEqual({ reason: "same-device" });
});

test("an obstacle is one since it is down, not since its last change", async () => {
  await using api = await openFabric();
  const down = async (name: string) => {
    await api.replace({
      devices: DEVICES.map((device) => ({ ...device, available: device.id !== "s1", hw: name })),
      links: [...FABRIC.slice(0, 2), ...cable(["l1", "2"], ["s2", "1"], "INACTIVE")].map((each) => ({
        ...each,
        annotations: { name },
      })),
      hosts: HOSTS,
    });
    return new Date(api.clock.now()).toISOString();
  };
  const since = await down("first");
  api.clock.setBy(HOUR_MS);
  await down("second");
  const none = (await explain(api, "l1", "s2")).none;
  expect(none?.obstacles).toMatchObject([{ id: "l1/2-s2/1", state: "inactive", since }]);
  expect((await explain(api, "l1", "s1")).none?.obstacles).toMatchObject([{ id: "s1", since }]);
});

test("paths and their explanation exist at any revision", async () => {
  await using api = await openFabric();
  const { revision } = await api.json<{ revision: number }>("devices/l1");
  await api.replace({ devices: DEVICES, links: FABRIC, hosts: HOSTS });
  expect((await explain(api, "l1", "l3")).count).toBe(0);
  expect((await explain(api, "l1", "l3", `&at=${revision}`)).count).toBe(2);
  expect((await api.json<{ paths: unknown[] }>(`paths/l1/l3?at=${revision}`)).paths).toHaveLength(2);
});

test("what cannot be combined is refused", async () => {
  await using api = await openFabric();
  for (const [path, parameter] of [
    ["paths/l1/l3/disjoint?explain=true", "explain"],
    ["paths/l1/l3?explain=true&limit=3", "limit"],
  ]) {
    const response = await api.fetch(path ?? "");
    expect([response.status, (await response.json()).detail]).toEqual([
      400,
      expect.stringContaining(parameter ?? ""),
    ]);
  }
  const accept = { headers: { accept: TYPE } };
  expect((await api.fetch("paths/l1/l3", accept)).status).toBe(400);
});

test("a link counts as lost for the configured time before the last change, now and in the past", async () => {
  await using api = await openHarness({
    problemWindows: { lostLinkMs: 2 * HOUR_MS, movedHostMs: 10 * HOUR_MS },
  });
  const change = (n: number) =>
    api.apply([{ op: "set", kind: "devices", claim: { id: "x", hw: `hw ${n}` } }]);
  await api.replace({ devices: DEVICES, links: [...FABRIC, ...TAIL], hosts: HOSTS });
  await api.replace({ devices: DEVICES, links: FABRIC, hosts: HOSTS });
  api.clock.setBy(1.9 * HOUR_MS);
  await change(1);
  const within = api.view.revision;
  const reason = async (more = "") => (await explain(api, "l1", "l3", more)).none?.reason;
  expect(await reason()).toBe("parted");
  // A network that does not change keeps its explanation.
  api.clock.setBy(HOUR_MS);
  expect(await reason()).toBe("parted");
  await change(2);
  expect(await reason()).toBe("never-joined");
  expect([await reason(`&at=${within}`), await reason(`&at=${within + 1}`)]).toEqual([
    "parted",
    "never-joined",
  ]);
});

test("the order of everything in it depends on the network, not on how it came about", async () => {
  const folder = temporaryFolder();
  const data = join(folder, "log.sqlite");
  const devices = [...DEVICES, { id: "far", annotations: {} }];
  const inactive = cable(["l3", "2"], ["far", "1"], "INACTIVE");
  const back = cable(["l1", "1"], ["s1", "1"]);
  const paths = ["l1/far", "far/s1", "x/l1"].map((ends) => `paths/${ends}?explain=true`);
  const bodies = async (api: Harness) =>
    Promise.all(paths.map(async (path) => (await api.fetch(path)).text()));
  let before: string[];
  {
    await using api = await openHarness({ data });
    await api.replace({ devices, links: [...FABRIC, ...TAIL, ...inactive], hosts: HOSTS });
    await api.replace({ devices, links: [...FABRIC.slice(2), ...TAIL, ...inactive], hosts: HOSTS });
    await api.replace({ devices, links: [...FABRIC.slice(2), ...TAIL, ...inactive, ...back], hosts: HOSTS });
    before = await bodies(api);
    await api.log.writeSnapshot(await api.scheduler.run("test", snapshotOf(api.view.capture())));
  }
  await using again = await openHarness({ data });
  expect(await bodies(again)).toEqual(before);
});
