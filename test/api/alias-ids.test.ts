/**
 * An alias of a device in every place that takes an id: now, in the past, in changes and on streams, and in what is cached.
 * The source renames a device: `old` becomes `new`, which has `old` as alias.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ClaimChange, Claims } from "../../src/model/claim.ts";
import type { Device } from "../../src/model/entity.ts";
import { EventReader } from "./events.ts";
import { type Harness, openHarness } from "./harness.ts";

const HOST = "00:00:00:00:00:01/None";
const point = (device: string, port: string) => ({ device, port });

/** A network in which one device has this id. */
const networkOf = (id: string, aliases?: string[]): Claims => ({
  devices: [{ id, ...(aliases && { aliases }) }, { id: "far" }, { id: "other" }],
  ports: [
    { element: id, port: "3" },
    { element: "far", port: "4" },
  ],
  links: [
    { src: point(id, "3"), dst: point("far", "4") },
    { src: point("far", "4"), dst: point(id, "3") },
  ],
  hosts: [{ mac: "00:00:00:00:00:01", locations: [{ elementId: id, port: "7" }] }],
});

let api: Harness;
/** Revisions: `old` is the device; `new` is it, without an alias; `new` has the alias; something else changed. */
let asOld = 0;
let unnamed = 0;
let renamed = 0;
beforeAll(async () => {
  api = await openHarness({ aliases: ["onos"] });
  await api.replace(networkOf("old"));
  asOld = api.view.revision;
  await api.replace(networkOf("new"));
  unnamed = api.view.revision;
  await api.replace(networkOf("new", ["OLD"]));
  renamed = api.view.revision;
  await api.apply([{ op: "set", kind: "devices", claim: { id: "other", mfr: "maker" } }]);
});
afterAll(() => api.stop());

const idsIn = async (harness: Harness, path: string): Promise<string[]> => {
  const [list = []] = Object.values(await harness.json<Record<string, Record<string, string>[]>>(path));
  return list.map(({ id, element, port }) => id ?? `${element}/${port}`);
};

const PLACES: readonly [path: string, ids: (id: string) => string[]][] = [
  ["devices?id=Old", (id) => [id]],
  ["devices?id=old,far", (id) => ["far", id].sort()],
  ["devices/ports?element=old", (id) => [`${id}/3`]],
  ["links?device=old", (id) => [`${id}/3-far/4`, `far/4-${id}/3`].sort()],
  ["links?device=old&port=3&direction=egress", (id) => [`${id}/3-far/4`]],
  ["links?src=old", (id) => [`${id}/3-far/4`]],
  ["links?dst=old", (id) => [`far/4-${id}/3`]],
  ["links?id=old/3-far/4", (id) => [`${id}/3-far/4`]],
  ["hosts?device=old", () => [HOST]],
  ["hosts?device=old&port=7", () => [HOST]],
  ["devices?around=old&hops=1", (id) => ["far", id].sort()],
  ["links?around=old&src=old", (id) => [`${id}/3-far/4`]],
];

describe.each(PLACES)("%s", (path, expected) => {
  test("now the alias means the device that has it", async () => {
    expect(await idsIn(api, path)).toEqual(expected("new"));
    expect(await idsIn(api, path)).toEqual(expected("new"));
  });

  test("in the past it means what it meant then", async () => {
    expect(await idsIn(api, `${path}&at=${renamed}`)).toEqual(expected("new"));
    expect(await idsIn(api, `${path}&at=${asOld}`)).toEqual(expected("old"));
  });

  test("an alias that exists only later means nothing", async () => {
    if (path.includes("around")) expect((await api.fetch(`${path}&at=${unnamed}`)).status).toBe(400);
    else expect(await idsIn(api, `${path}&at=${unnamed}`)).toEqual(path.includes(",far") ? ["far"] : []);
  });
});

describe("items, paths and connect points", () => {
  test.each([
    ["devices/OLD", (body: string) => expect(JSON.parse(body).id).toBe("new")],
    ["devices/old/ports/3", (body: string) => expect(JSON.parse(body).element).toBe("new")],
    ["links/OLD/3-far/4", (body: string) => expect(JSON.parse(body).id).toBe("new/3-far/4")],
    ["devices/old?explain=true", (body: string) => expect(JSON.parse(body).id).toBe("new")],
    ["links/old/3-far/4?explain=true", (body: string) => expect(JSON.parse(body).id).toBe("new/3-far/4")],
    ["devices/old/ports", (body: string) => expect(JSON.parse(body).ports).toHaveLength(1)],
    ["paths/old/far", (body: string) => expect(JSON.parse(body).paths).toHaveLength(1)],
    ["paths/far/old", (body: string) => expect(JSON.parse(body).paths).toHaveLength(1)],
    ["topology/infrastructure/old:3", (body: string) => expect(body).toBe('{"infrastructure":true}')],
    ["topology/broadcast/old:3", (body: string) => expect(JSON.parse(body)).toHaveProperty("broadcast")],
    ["topology?around=old", (body: string) => expect(JSON.parse(body).devices).toBe(2)],
  ])("%s", async (path, check) => {
    const response = await api.fetch(path);
    expect(response.status).toBe(200);
    check(await response.text());
    const past = `${path}${path.includes("?") ? "&" : "?"}at=`;
    expect((await api.fetch(`${past}${asOld}`)).status).toBe(200);
    const unresolved = await api.fetch(`${past}${unnamed}`);
    if (path.startsWith("paths")) expect(await unresolved.json()).toEqual({ paths: [] });
    else expect(unresolved.status).toBeOneOf([400, 404]);
  });

  test("the alias onos resolves them too, and shows the device under its id", async () => {
    const device = await (await api.fetch("/onos/v1/devices/old")).json();
    expect(device).toMatchObject({ id: "new" });
    const { links } = (await (await api.fetch("/onos/v1/links?device=old&direction=EGRESS")).json()) as {
      links: unknown[];
    };
    expect(links).toHaveLength(1);
  });

  test("diff compares what the alias means in each state", async () => {
    const { changes } = await api.json<{ changes: { event: string; value: { id: string } }[] }>(
      `devices?id=old&diff=${asOld}..${renamed}`,
    );
    expect(changes.map(({ event, value }) => `${event} ${value.id}`)).toEqual(["added new", "removed old"]);
    const hosts = await api.json<{ changes: { event: string; changed: string[] }[] }>(
      `hosts?device=old&diff=${asOld}..${renamed}`,
    );
    expect(hosts.changes).toMatchObject([{ event: "updated" }]);
  });

  test.each(["false", "true"])("since, fold=%s", async (fold) => {
    const eventsOf = async (path: string) => {
      const { changes } = await api.json<{
        changes: { event: string; value: { id: string }; revision: number }[];
      }>(path);
      return changes.map(({ event, value }) => `${event} ${value.id}`);
    };
    const devices = await eventsOf(`devices?id=old&since=${asOld}&fold=${fold}`);
    expect(devices.sort()).toEqual(["added new", "removed old"]);
    // The host does not change when its device gets the alias, and yet it begins to match.
    expect(await eventsOf(`hosts?device=old&since=${unnamed}&fold=${fold}`)).toEqual([`added ${HOST}`]);
  });

  test("an alias of two devices means neither, and a device of that id wins", async () => {
    await using own = await openHarness();
    const set = (id: string, aliases?: string[]): ClaimChange => ({
      op: "set",
      kind: "devices",
      claim: { id, ...(aliases && { aliases }) },
    });
    const shown = async () => {
      const response = await own.fetch("devices/x");
      return response.status === 200 ? ((await response.json()) as Device).id : response.status;
    };
    // Both have the same revision: the version of the one must not be that of the other.
    await own.apply([set("x"), set("a", ["x"])]);
    expect([await shown(), await shown(), await shown()]).toEqual(["x", "x", "x"]);
    const tag = (await own.fetch("devices/x")).headers.get("etag") ?? "";
    await own.apply([{ op: "remove", kind: "devices", id: "x" }]);
    expect([await shown(), await shown()]).toEqual(["a", "a"]);
    expect((await own.fetch("devices/x", { headers: { "If-None-Match": tag } })).status).toBe(200);
    await own.apply([set("b", ["X"])]);
    expect(await shown()).toBe(404);
    await own.apply([set("a")]);
    expect(await shown()).toBe("b");
  });
});

describe("what is cached for an alias changes when the alias moves", () => {
  test.each([
    "hosts?device=x",
    "links?device=x",
    "links?id=x/1-c/1",
    "hosts?device=x&limit=1",
    "paths/x/c",
    "topology/infrastructure/x:1",
  ])("%s", async (path) => {
    await using own = await openHarness();
    const claims = (a: string[], b: string[]): Claims => ({
      devices: [
        { id: "a", ...(a.length > 0 && { aliases: a }) },
        { id: "b", ...(b.length > 0 && { aliases: b }) },
        { id: "c" },
      ],
      ports: [
        { element: "a", port: "1" },
        { element: "b", port: "1" },
      ],
      links: [
        { src: point("a", "1"), dst: point("c", "1") },
        { src: point("c", "1"), dst: point("a", "1") },
      ],
      hosts: [
        { mac: "00:00:00:00:00:0a", locations: [{ elementId: "a", port: "1" }] },
        { mac: "00:00:00:00:00:0c", locations: [{ elementId: "a", port: "1" }] },
      ],
    });
    const read = async () => (await own.fetch(path)).text();
    await own.replace(claims(["x"], []));
    const atA = await read();
    for (let i = 0; i < 3; i++) expect(await read()).toBe(atA);
    await own.replace(claims([], ["x"]));
    const atB = await read();
    expect(atB).not.toBe(atA);
    expect(await read()).toBe(atB);
    await own.replace(claims(["x"], []));
    // The same entities; a cursor has another revision.
    if (!path.includes("limit")) expect(await read()).toBe(atA);
  });

  test("the pages of one walk have one meaning", async () => {
    await using own = await openHarness();
    const host = (n: number, device: string) => ({
      mac: `00:00:00:00:00:0${n}`,
      locations: [{ elementId: device, port: "1" }],
    });
    const hosts = [host(1, "a"), host(2, "a"), host(3, "b"), host(4, "b")];
    await own.replace({ devices: [{ id: "a", aliases: ["x"] }, { id: "b" }], hosts });
    await own.replace({ devices: [{ id: "a" }, { id: "b", aliases: ["x"] }], hosts });
    const first = await own.json<{ hosts: { id: string }[]; next: string }>("hosts?device=x&limit=1");
    const second = await own.json<{ hosts: { id: string }[] }>(`hosts?device=x&limit=1&cursor=${first.next}`);
    expect([...first.hosts, ...second.hosts].map(({ id }) => id.slice(15, 17))).toEqual(["03", "04"]);
  });
});

describe("a stream with an alias goes on when the device is renamed", () => {
  const open = async (harness: Harness, path: string, since?: number) =>
    new EventReader(
      await harness.fetch(path, {
        headers: {
          Accept: "text/event-stream",
          ...(since !== undefined && { "Last-Event-ID": String(since) }),
        },
      }),
    );
  const eventsOf = (events: Awaited<ReturnType<EventReader["readToRevision"]>>) =>
    events.map(({ event, data }) => {
      const { id } = (data.value ?? {}) as { id?: string };
      return `${event} ${id ?? ""}`.trim();
    });

  test.each([
    ["devices?id=old", ["added new", "removed old", "updated new"]],
    [
      "links?device=old",
      ["added far/4-new/3", "added new/3-far/4", "removed far/4-old/3", "removed old/3-far/4"],
    ],
    ["links?id=old/3-far/4", ["added new/3-far/4", "removed old/3-far/4"]],
    ["hosts?device=old", [`updated ${HOST}`]],
    ["devices?around=old&hops=0", ["added new", "removed old", "updated new"]],
  ])("%s, live and resumed", async (path, expected) => {
    await using own = await openHarness();
    await own.replace(networkOf("old"));
    const before = own.view.revision;
    const live = await open(own, path);
    await live.readUntil(({ event }) => event === "synced");
    await own.replace(networkOf("new", ["old"]));
    await live.readUntil(({ id }) => Number(id) >= own.view.revision);
    const resumed = await open(own, path, before);
    await own.apply([
      { op: "set", kind: "devices", claim: { id: "new", aliases: ["old"], mfr: "maker" } },
      // Something that every one of these streams sees.
      {
        op: "set",
        kind: "hosts",
        claim: { mac: "00:00:00:00:00:01", locations: [{ elementId: "new", port: "9" }] },
      },
      { op: "remove", kind: "links", id: "far/4-new/3" },
      { op: "remove", kind: "links", id: "new/3-far/4" },
    ]);
    for (const stream of [live, resumed])
      expect(eventsOf(await stream.readToRevision(own.view.revision)).length).toBeGreaterThan(0);
    for (const event of expected) {
      const [name = "", id = ""] = event.split(/ (.*)/);
      for (const stream of [live, resumed]) {
        if (stream === resumed && path.includes("around") && name === "updated") continue;
        expect(stream.text).toMatch(
          new RegExp(`event: ${name}\\ndata: .*"id":"${id.replaceAll("/", "\\/")}"`),
        );
      }
    }
    await live.close();
    await resumed.close();
  });

  test("entities that did not change enter and leave with the alias", async () => {
    await using own = await openHarness();
    const hosts = ["a", "b"].map((device, n) => ({
      mac: `00:00:00:00:00:0${n}`,
      locations: [{ elementId: device, port: "1" }],
    }));
    await own.replace({ devices: [{ id: "a", aliases: ["x"] }, { id: "b" }], hosts });
    const stream = await open(own, "hosts?device=x");
    await stream.readUntil(({ event }) => event === "synced");
    await own.replace({ devices: [{ id: "a" }, { id: "b", aliases: ["x"] }], hosts });
    expect(eventsOf(await stream.readToRevision(own.view.revision))).toEqual([
      "removed 00:00:00:00:00:00/None",
      "added 00:00:00:00:00:01/None",
    ]);
    await stream.close();
  });
});
