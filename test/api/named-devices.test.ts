/**
 * An alias and a name of a device in every place that takes an id: now, in the past, in changes and on streams, and in what is
 * cached. The source renames a device: `old` becomes `new`, which is called `old`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ClaimChange, Claims, DeviceClaim } from "../../src/model/claim.ts";
import type { Device } from "../../src/model/entity.ts";
import { EventReader, revisionOf } from "./events.ts";
import { type Harness, openHarness } from "./harness.ts";

const HOST = "00:00:00:00:00:01/None";
const point = (device: string, port: string) => ({ device, port });

type Called = Pick<DeviceClaim, "aliases" | "annotations">;

/** A network in which one device has this id. */
const networkOf = (id: string, called: Called = {}): Claims => ({
  devices: [{ id, ...called }, { id: "far" }, { id: "other" }],
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

/** How a device is called `name`: names are found without the spaces around them. */
const WAYS: readonly [what: "alias" | "name", called: (name: string) => Called][] = [
  ["alias", (name) => ({ aliases: [name] })],
  ["name", (name) => ({ annotations: { name: ` ${name} ` } })],
];

describe.each(WAYS)("by %s", (what, called) => {
  let api: Harness;
  /** Revisions: `old` is the device; `new` is it; `new` is called so; something else changed. */
  let asOld = 0;
  let unnamed = 0;
  let renamed = 0;
  beforeAll(async () => {
    api = await openHarness({ aliases: ["onos"] });
    await api.replace(networkOf("old"));
    asOld = api.view.revision;
    await api.replace(networkOf("new"));
    unnamed = api.view.revision;
    await api.replace(networkOf("new", called("OLD")));
    renamed = api.view.revision;
    await api.apply([{ op: "set", kind: "devices", claim: { id: "other", mfr: "maker" } }]);
  });
  afterAll(() => api.stop());

  describe.each(PLACES)("%s", (path, expected) => {
    test("now it means the device that is called so", async () => {
      expect(await idsIn(api, path)).toEqual(expected("new"));
      expect(await idsIn(api, path)).toEqual(expected("new"));
    });

    test("in the past it means what it meant then", async () => {
      expect(await idsIn(api, `${path}&at=${renamed}`)).toEqual(expected("new"));
      expect(await idsIn(api, `${path}&at=${asOld}`)).toEqual(expected("old"));
    });

    test("what exists only later means nothing", async () => {
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

    test("under onos an alias is resolved too, and a name is not", async () => {
      const response = await api.fetch("/onos/v1/devices/old");
      expect(response.status).toBe(what === "alias" ? 200 : 404);
      if (what === "alias") expect(await response.json()).toMatchObject({ id: "new" });
      const { links } = (await (await api.fetch("/onos/v1/links?device=old&direction=EGRESS")).json()) as {
        links: unknown[];
      };
      expect(links).toHaveLength(what === "alias" ? 1 : 0);
      const { paths } = (await (await api.fetch("/onos/v1/paths/old/far")).json()) as { paths: unknown[] };
      expect(paths).toHaveLength(what === "alias" ? 1 : 0);
      expect((await api.fetch("/onos/v1/devices?around=old")).status).toBe(what === "alias" ? 200 : 400);
    });

    test("diff compares what it means in each state", async () => {
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
      // The host does not change when its device is called so, and yet it begins to match.
      expect(await eventsOf(`hosts?device=old&since=${unnamed}&fold=${fold}`)).toEqual([`added ${HOST}`]);
    });

    test("a device of that id wins, and what two devices are called means neither", async () => {
      await using own = await openHarness();
      const set = (id: string, name?: string): ClaimChange => ({
        op: "set",
        kind: "devices",
        claim: { id, ...(name !== undefined && called(name)) },
      });
      const shown = async () => {
        const response = await own.fetch("devices/x");
        return response.status === 200 ? ((await response.json()) as Device).id : response.status;
      };
      // Both have the same revision: the version of the one must not be that of the other.
      await own.apply([set("x"), set("a", "x")]);
      expect([await shown(), await shown(), await shown()]).toEqual(["x", "x", "x"]);
      const tag = (await own.fetch("devices/x")).headers.get("etag") ?? "";
      await own.apply([{ op: "remove", kind: "devices", id: "x" }]);
      expect([await shown(), await shown()]).toEqual(["a", "a"]);
      expect((await own.fetch("devices/x", { headers: { "If-None-Match": tag } })).status).toBe(200);
      await own.apply([set("b", "X")]);
      expect(await shown()).toBe(400);
      await own.apply([set("a")]);
      expect(await shown()).toBe("b");
    });
  });

  describe("what is cached changes when another device is called so", () => {
    test.each([
      "hosts?device=x",
      "links?device=x",
      "links?id=x/1-c/1",
      "hosts?device=x&limit=1",
      "paths/x/c",
      "topology/infrastructure/x:1",
    ])("%s", async (path) => {
      await using own = await openHarness();
      const claims = (a: Called, b: Called): Claims => ({
        devices: [{ id: "a", ...a }, { id: "b", ...b }, { id: "c" }],
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
      await own.replace(claims(called("x"), {}));
      const atA = await read();
      for (let i = 0; i < 3; i++) expect(await read()).toBe(atA);
      await own.replace(claims({}, called("x")));
      const atB = await read();
      expect(atB).not.toBe(atA);
      expect(await read()).toBe(atB);
      await own.replace(claims(called("x"), {}));
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
      await own.replace({ devices: [{ id: "a", ...called("x") }, { id: "b" }], hosts });
      await own.replace({ devices: [{ id: "a" }, { id: "b", ...called("x") }], hosts });
      const first = await own.json<{ hosts: { id: string }[]; next: string }>("hosts?device=x&limit=1");
      const second = await own.json<{ hosts: { id: string }[] }>(
        `hosts?device=x&limit=1&cursor=${first.next}`,
      );
      expect([...first.hosts, ...second.hosts].map(({ id }) => id.slice(15, 17))).toEqual(["03", "04"]);
    });
  });

  describe("a stream goes on when the device is renamed", () => {
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
      await own.replace(networkOf("new", called("old")));
      await live.readUntil(({ id }) => revisionOf(id) >= own.view.revision);
      const resumed = await open(own, path, before);
      await own.apply([
        { op: "set", kind: "devices", claim: { id: "new", ...called("old"), mfr: "maker" } },
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

    test("entities that did not change enter and leave with what devices are called", async () => {
      await using own = await openHarness();
      const hosts = ["a", "b"].map((device, n) => ({
        mac: `00:00:00:00:00:0${n}`,
        locations: [{ elementId: device, port: "1" }],
      }));
      await own.replace({ devices: [{ id: "a", ...called("x") }, { id: "b" }], hosts });
      const stream = await open(own, "hosts?device=x");
      await stream.readUntil(({ event }) => event === "synced");
      await own.replace({ devices: [{ id: "a" }, { id: "b", ...called("x") }], hosts });
      expect(eventsOf(await stream.readToRevision(own.view.revision))).toEqual([
        "removed 00:00:00:00:00:00/None",
        "added 00:00:00:00:00:01/None",
      ]);
      await stream.close();
    });
  });
});

describe("a name that several devices have", () => {
  const named = (id: string, name: string): ClaimChange => ({
    op: "set",
    kind: "devices",
    claim: { id, annotations: { name } },
  });
  const host = (n: number, device: string): ClaimChange => ({
    op: "set",
    kind: "hosts",
    claim: { mac: `00:00:00:00:00:0${n}`, locations: [{ elementId: device, port: "1" }] },
  });

  test.each([
    "devices/LEAF",
    "devices/leaf/ports",
    "devices/leaf/ports/1",
    "devices/leaf?explain=true",
    "links/leaf/1-c/1",
    "paths/leaf/c",
    "paths/c/leaf/disjoint",
    "paths/c/leaf?explain=true",
    "topology/broadcast/leaf:1",
    "topology/infrastructure/leaf:1",
    "topology?around=leaf",
    "topology/problems?device=leaf",
    "devices?id=c,leaf",
    "devices/ports?element=leaf",
    "links?src=%20leaf%20",
    "links?dst=leaf",
    "links?device=leaf&limit=1",
    "links?id=leaf/1-c/1",
    "hosts?device=leaf",
    "hosts?device=leaf&count=device",
    "hosts?around=leaf",
    "hosts?device=leaf&since=1",
    "hosts?device=leaf&diff=1..2",
    "hosts?around=leaf&diff=1..2",
    "hosts?device=leaf&at=2",
    "hosts?device=leaf&format=events",
    "hosts?around=leaf&format=events",
    "topology/problems?device=leaf&format=events",
  ])("%s is a 400 with the candidates", async (path) => {
    const { status, body } = await ambiguous(path);
    expect(status).toBe(400);
    expect(body).toMatchObject({ type: "/docs/errors#ambiguous-name", candidates: ["a", "b"] });
    expect(body.detail).toBe('2 devices are called "leaf": "a", "b"; give the id of one of them.');
  });

  const ambiguous = async (path: string) => {
    const response = await own.fetch(path);
    const body = (await response.json()) as Record<string, unknown>;
    return {
      status: response.status,
      body: {
        ...body,
        detail: String(body.detail)
          .replace("LEAF", "leaf")
          .replace(/" ?leaf ?"/, '"leaf"'),
      },
    };
  };
  let own: Harness;
  beforeAll(async () => {
    own = await openHarness();
    await own.apply([named("a", "leaf"), named("c", "core"), host(1, "a")]);
    await own.apply([named("b", "Leaf")]);
  });
  afterAll(() => own.stop());

  test("names ten candidates, and how many more there are", async () => {
    await using many = await openHarness();
    await many.apply(Array.from({ length: 13 }, (_, n) => named(`d${n}`, "leaf")));
    const { detail, candidates } = (await (await many.fetch("devices/leaf")).json()) as {
      detail: string;
      candidates: string[];
    };
    expect(candidates).toHaveLength(10);
    expect(detail).toStartWith('13 devices are called "leaf": "d0", ');
    expect(detail).toEndWith(" and 3 more; give the id of one of them.");
  });

  test("matches nothing on an open stream, and something again when one of them is called otherwise", async () => {
    await using live = await openHarness();
    await live.apply([named("a", "leaf"), host(1, "a")]);
    const before = live.view.revision;
    const open = async (since?: number) =>
      new EventReader(
        await live.fetch("hosts?device=leaf&format=events", {
          headers: since === undefined ? {} : { "Last-Event-ID": String(since) },
        }),
      );
    const streams = [await open()];
    await streams[0]?.readUntil(({ event }) => event === "synced");
    await live.apply([named("b", "leaf"), host(2, "b")]);
    // A browser that resumes gives up for good on a 400.
    streams.push(await open(before), await open(live.view.revision));
    await live.apply([named("a", "other")]);
    await live.apply([host(3, "b")]);
    const expected = [
      "removed 00:00:00:00:00:01/None",
      "added 00:00:00:00:00:02/None",
      "added 00:00:00:00:00:03/None",
    ];
    for (const [n, stream] of streams.entries()) {
      const events = await stream.readToRevision(live.view.revision);
      const texts = events.map(
        ({ event, data }) => `${event} ${(data.value as { id?: string } | undefined)?.id}`,
      );
      expect(texts).toEqual(n === 2 ? expected.slice(1) : expected);
      await stream.close();
    }
  });
});

test("an id goes before a name, that of a device and that of a host", async () => {
  await using own = await openHarness();
  const mac = "00:00:00:00:00:01";
  await own.replace({
    devices: [
      { id: "a" },
      { id: "b", annotations: { name: "A" } },
      { id: "c", annotations: { name: `${mac}/none` } },
    ],
    hosts: [{ mac, locations: [{ elementId: "a", port: "1" }] }],
  });
  expect((await own.json<Device>("devices/a")).id).toBe("a");
  expect(await idsIn(own, `devices?around=${mac}%2FNone&hops=0`)).toEqual(["a"]);
  const { dst } = await own.json<{ dst: object }>(`paths/b/${mac}%2FNone?explain=true`);
  expect(dst).toMatchObject({ resource: "hosts", device: "a" });
});

test("a name finds nothing where nobody is called so, and finds the device once it is", async () => {
  await using own = await openHarness();
  await own.apply([{ op: "set", kind: "devices", claim: { id: "a" } }]);
  expect(await idsIn(own, "devices?id=leaf")).toEqual([]);
  expect(await idsIn(own, "links?device=leaf")).toEqual([]);
  expect((await own.fetch("devices/leaf")).status).toBe(404);
  expect((await own.fetch("devices?around=leaf")).status).toBe(400);
  await own.apply([{ op: "set", kind: "devices", claim: { id: "a", annotations: { name: "Leaf" } } }]);
  expect(await idsIn(own, "devices?id=leaf")).toEqual(["a"]);
  expect((await own.json<Device>("devices/%20LEAF%20")).id).toBe("a");
  expect((await own.fetch("devices?around=leaf")).status).toBe(200);
});
