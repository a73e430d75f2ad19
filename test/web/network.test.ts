/** The page's copy of the network, its paths, search, change texts, highlights and filters, without a browser. */
import { describe, expect, test } from "bun:test";
import type { SearchResult } from "../../src/client/client.ts";
import { cableOf } from "../../src/model/cable.ts";
import type { Host } from "../../src/model/entity.ts";
import { describeChange, type EntityChange } from "../../src/web/change-text.ts";
import { marksOf } from "../../src/web/history.ts";
import { Hosts, hostsAtDevice, hostWithId } from "../../src/web/hosts.ts";
import { applyChange } from "../../src/web/live.ts";
import { bundleStyle } from "../../src/web/map/bundle-style.ts";
import { createHighlights } from "../../src/web/map/highlights.ts";
import { PALETTES } from "../../src/web/map/palette.ts";
import { deviceStyle, type Emphasis, lineColor, STROKES } from "../../src/web/map/style.ts";
import { neighbourhood, pathUnion } from "../../src/web/path.ts";
import { createSearcher, describeHit } from "../../src/web/search.ts";
import { DEFAULT_STATE } from "../../src/web/state.ts";
import { parseFilter } from "../../src/web/table/filter.ts";
import { device as sampleDevice } from "../support/sample-network.ts";
import { sampleCable, sampleHost, sampleNetwork } from "./sample-network.ts";

/** One direction of a cable. */
const linkOf = (from: string, to: string, more = {}) => sampleCable(from, to, more)[0];

describe("network", () => {
  test("two directions are one cable; with one of them inactive it is one-way, in the active direction", () => {
    const network = sampleNetwork();
    expect(network.cables.size).toBe(3);
    network.set({ resource: "links", value: linkOf("a/1", "b/1", { state: "INACTIVE" }) });
    const [cable] = network.cablesOf("a");
    expect(cable).toMatchObject({ active: true, oneWay: true, from: { device: "b" }, to: { device: "a" } });
    network.remove("links", "b/1-a/1");
    expect(network.cablesOf("a")[0]).toMatchObject({ active: false });
    network.remove("links", "a/1-b/1");
    expect(network.cablesOf("a")).toEqual([]);
    expect(network.cables.size).toBe(2);
  });

  test("a host that moves is counted at its new device only", () => {
    const network = sampleNetwork();
    expect([network.hostCount("a"), network.hostCount("b")]).toEqual([1, 0]);
    const value = sampleHost("02:00:00:00:00:01", "b/3");
    const change = { resource: "hosts", value, time: 0 } as const;
    applyChange(network, { ...change, event: "updated", revision: 8, changed: ["locations"] });
    expect([network.hostCount("a"), network.hostCount("b")]).toEqual([0, 1]);
    applyChange(network, { ...change, event: "removed", revision: 9 });
    expect(network.hostCount("b")).toBe(0);
  });

  test("a change that is older than the entity from the list is ignored", () => {
    const network = sampleNetwork();
    network.set({ resource: "devices", value: sampleDevice("a", { revision: 9 }) });
    const value = sampleDevice("a", { available: false, revision: 5 });
    applyChange(network, {
      event: "updated",
      resource: "devices",
      value,
      revision: 5,
      time: 0,
      changed: ["available"],
    });
    expect(network.devices.get("a")?.available).toBe(true);
    applyChange(network, { event: "removed", resource: "devices", value, revision: 10, time: 0 });
    expect(network.devices.has("a")).toBe(false);
  });
});

describe("path", () => {
  const device = (id: string) => ({ kind: "devices", id }) as const;

  const explained = { src: { id: "a", device: "a" }, dst: { id: "d", device: "d" }, devices: [], links: [] };

  test("the union of paths is the cables of their links, in both directions", () => {
    const network = sampleNetwork();
    const links = ["a/1-b/1", "b/2-c/1", "b/1-a/1"];
    const union = pathUnion(network, {
      explanation: { ...explained, count: 1, devices: ["a", "b", "c"], links },
      paths: [],
    });
    expect(union.devices).toEqual(["a", "b", "c"]);
    expect(union.cables).toHaveLength(2);
    const highlights = createHighlights(
      network,
      { ...DEFAULT_STATE, path: [device("a"), device("c")] },
      undefined,
      union,
    );
    const onPath = [...network.cables.values()].map((cable) => highlights.cable(cable).onPath);
    expect(onPath.filter(Boolean)).toHaveLength(2);
  });

  test("without a path its ends and what parts them are highlighted", () => {
    const obstacles = [
      {
        resource: "links",
        id: "b/2-c/1",
        state: "lost",
        src: { device: "b", port: "2" },
        dst: { device: "c", port: "1" },
      },
    ] as const;
    const none = { reason: "parted" as const, needed: 1, obstacles: [...obstacles], obstacleCount: 1 };
    const union = pathUnion(sampleNetwork(), { explanation: { ...explained, count: 0, none }, paths: [] });
    expect(union).toEqual({ devices: ["a", "d", "b", "c"], cables: [] });
  });

  test("a neighbourhood contains the devices within the number of hops", () => {
    const network = sampleNetwork();
    expect([...neighbourhood(network, "a", 1)]).toEqual(["a", "b"]);
    expect([...neighbourhood(network, "a", 9)].sort()).toEqual(["a", "b", "c", "d"]);
    expect(neighbourhood(network, "x", 2).size).toBe(0);
  });
});

describe("hosts", () => {
  const counts = { counts: { a: 2, b: 1 }, total: 3, revision: 5 };
  const host = (n: number, end: string, revision = 1) =>
    sampleHost(`02:00:00:00:00:0${n}`, end, { revision });
  const change = (event: "added" | "updated" | "removed", value: Host, changed?: string[]) =>
    ({ resource: "hosts", event, value, revision: value.revision, ...(changed && { changed }) }) as const;

  test("changes of hosts that are not loaded change the counts, unless the counts contain them already", () => {
    const hosts = new Hosts(counts);
    hosts.apply(change("added", host(1, "a/1", 5)));
    expect([hosts.count("a"), hosts.total]).toEqual([2, 3]);
    hosts.apply(change("added", host(2, "a/1", 6)));
    hosts.apply(change("removed", host(3, "b/1", 7)));
    expect([hosts.count("a"), hosts.count("b"), hosts.total]).toEqual([3, 0, 3]);
    expect(hosts.opened.size).toBe(0);
    expect(hosts.countsAreStale).toBe(false);
  });

  test("a host that moves from an unknown place makes the counts stale until they are loaded again", async () => {
    const hosts = new Hosts(counts);
    hosts.apply(change("updated", host(1, "b/1", 6), ["ipAddresses"]));
    expect(hosts.countsAreStale).toBe(false);
    hosts.apply(change("updated", host(1, "b/1", 7), ["locations"]));
    expect(hosts.countsAreStale).toBe(true);
    await hosts.recount(async () => ({ counts: { a: 1, b: 2 }, total: 3, revision: 7 }));
    expect([hosts.count("a"), hosts.count("b"), hosts.countsAreStale]).toEqual([1, 2, false]);
  });

  test("a move that a list contains before the stream has it makes the counts stale", () => {
    const hosts = new Hosts(counts);
    const moved = host(1, "b/1", 7);
    hosts.open(hostWithId(moved.id));
    hosts.setLoaded(hostWithId(moved.id).key, [moved], true);
    hosts.apply(change("updated", moved, ["locations"]));
    expect(hosts.countsAreStale).toBe(true);
  });

  test("counts that are older than the stream by the time they arrive lose none of its changes", async () => {
    const hosts = new Hosts(counts);
    hosts.apply(change("updated", host(1, "b/1", 7), ["locations"]));
    let minRevision = 0;
    await hosts.recount(async (revision) => {
      minRevision = revision;
      hosts.apply(change("added", host(2, "a/1", 8)));
      hosts.apply(change("added", host(3, "a/1", 9)));
      hosts.apply(change("updated", host(4, "b/1", 10), ["locations"]));
      return { counts: { a: 2, b: 2 }, total: 4, revision: 8 };
    });
    expect(minRevision).toBe(7);
    // The host of revision 8 is in the counts already; that of 10 came from an unknown place.
    expect([hosts.count("a"), hosts.total, hosts.countsAreStale]).toEqual([3, 5, true]);
    hosts.apply(change("removed", host(3, "a/1", 11)));
    await hosts.recount(async () => ({ counts: { a: 1, b: 3 }, total: 4, revision: 11 }));
    expect([hosts.count("a"), hosts.count("b"), hosts.countsAreStale]).toEqual([1, 3, false]);
  });

  test("an opened device has its hosts, also those that the stream changed while they were loaded", () => {
    const hosts = new Hosts(counts);
    hosts.open(hostsAtDevice("a"));
    expect(hosts.stateOf("device a")).toBe("loading");
    hosts.apply(change("removed", host(1, "a/1", 6)));
    hosts.apply(change("updated", host(2, "b/1", 7), ["locations"]));
    hosts.apply(change("added", host(3, "a/2", 8)));
    hosts.setLoaded("device a", [host(1, "a/1"), host(2, "a/1"), host(4, "a/1")], true);
    expect(
      hosts
        .openedAt("a")
        .map(({ mac }) => mac.at(-1))
        .toSorted(),
    ).toEqual(["3", "4"]);
    expect(hosts.openedAt("b")).toEqual([]);
    expect(hosts.stateOf("device a")).toBe("complete");
  });

  test("a row of a long table shows the last change of its host, although the host is not opened", () => {
    const hosts = new Hosts(counts);
    const row = host(1, "a/1", 2);
    expect(hosts.latest(row)).toBe(row);
    hosts.apply(change("updated", host(1, "b/1", 6), ["locations"]));
    expect(hosts.latest(row).location.elementId).toBe("b");
    for (let n = 0; n < 2000; n++) hosts.apply(change("added", { ...host(2, "a/1", 7), id: `${n}` }));
    expect(hosts.latest(row)).toBe(row);
  });

  test("what is closed is forgotten, unless something else has it open", () => {
    const hosts = new Hosts(counts);
    for (const group of [hostsAtDevice("a"), hostWithId(host(1, "a/1").id)]) {
      hosts.open(group);
      hosts.setLoaded(
        group.key,
        [host(1, "a/1"), ...(group.key.startsWith("device") ? [host(2, "a/1")] : [])],
        true,
      );
    }
    hosts.close("device a");
    expect([...hosts.opened.values()].map(({ mac }) => mac.at(-1))).toEqual(["1"]);
    hosts.close(hostWithId(host(1, "a/1").id).key);
    expect(hosts.opened.size).toBe(0);
    expect(hosts.count("a")).toBe(2);
  });

  test("a host is known when it is loaded, and when it is known not to exist", () => {
    const hosts = new Hosts(counts);
    expect(hosts.isKnown("x")).toBe(false);
    hosts.open(hostWithId("x"));
    expect(hosts.isKnown("x")).toBe(false);
    hosts.setLoaded("host x", [], true);
    expect(hosts.isKnown("x")).toBe(true);
  });
});

describe("search", () => {
  test("an overtaken search is aborted, and its hits never show", async () => {
    const requests: {
      text: string;
      signal: AbortSignal | undefined;
      answer: (result: SearchResult) => void;
    }[] = [];
    const searcher = createSearcher({
      search: (text, _, options) =>
        new Promise((resolve) => requests.push({ text, signal: options?.signal, answer: resolve })),
    });
    const device = sampleNetwork().devices.get("a");
    if (!device) throw new Error("there is a device a");
    const found = { hits: [{ resource: "devices", value: device }], complete: true } as const;
    searcher.search("s", undefined);
    searcher.search(" sw ", undefined);
    expect(requests.map(({ text, signal }) => [text, signal?.aborted])).toEqual([
      ["s", true],
      ["sw", false],
    ]);
    requests[0]?.answer({ hits: [], complete: true });
    requests[1]?.answer(found);
    await searcher.settled();
    expect(searcher.result.value).toMatchObject({ ...found, searching: false });
    searcher.search("", undefined);
    expect(searcher.result.value.hits).toEqual([]);
    expect(requests).toHaveLength(2);
  });

  test("a host is described with its device and port", () => {
    const network = sampleNetwork();
    const value = sampleHost("02:00:00:00:00:01", "a/9", { ipAddresses: ["192.0.2.1"] });
    expect(describeHit(network, { resource: "hosts", value })).toEqual({
      ref: { kind: "hosts", id: "02:00:00:00:00:01/None" },
      title: "192.0.2.1",
      detail: "on switch-a port 9 · 02:00:00:00:00:01",
    });
  });
});

describe("changes", () => {
  const network = sampleNetwork();
  const device = (available: boolean) => sampleDevice("a", { available, annotations: { name: "core" } });
  test.each<[string, string, EntityChange]>([
    [
      "went down",
      "bad",
      { event: "updated", resource: "devices", value: device(false), changed: ["available"] },
    ],
    [
      "came up",
      "good",
      { event: "updated", resource: "devices", value: device(true), changed: ["available"] },
    ],
    ["is gone", "bad", { event: "removed", resource: "devices", value: device(true) }],
    [
      "link went down",
      "bad",
      {
        event: "updated",
        resource: "links",
        value: linkOf("a/1", "b/1", { state: "INACTIVE" }),
        changed: ["state"],
      },
    ],
    [
      "moved to switch-b port 3",
      "plain",
      {
        event: "updated",
        resource: "hosts",
        value: sampleHost("02:00:00:00:00:01", "b/3"),
        changed: ["location", "locations"],
      },
    ],
  ])("described as: %s", (text, tone, change) => {
    expect(describeChange(network, change)).toMatchObject({ text, tone });
  });

  test("a comparison marks changed devices and cables, and the device of an added host", () => {
    const { devices, cables } = marksOf([
      { event: "added", resource: "devices", value: sampleDevice("x") },
      { event: "removed", resource: "links", value: linkOf("a/1", "b/1") },
      { event: "removed", resource: "links", value: linkOf("b/1", "a/1") },
      { event: "added", resource: "links", value: linkOf("b/2", "c/1") },
      { event: "removed", resource: "links", value: linkOf("c/1", "b/2") },
      { event: "added", resource: "hosts", value: sampleHost("02:00:00:00:00:09", "c/5") },
    ]);
    expect([...devices]).toEqual([
      ["x", "added"],
      ["c", "updated"],
    ]);
    expect([...cables]).toEqual([
      ["a/1-b/1", "removed"],
      ["b/2-c/1", "updated"],
    ]);
  });
});

describe("highlights", () => {
  const highlights = (options: Partial<typeof DEFAULT_STATE>) =>
    createHighlights(sampleNetwork(), { ...DEFAULT_STATE, ...options }, undefined);
  const highlightedIds = (options: Partial<typeof DEFAULT_STATE>) =>
    [...sampleNetwork().devices.values()]
      .filter((device) => highlights(options).device(device).highlighted)
      .map(({ id }) => id);

  test("a filter highlights the devices that match; without a filter none is highlighted", () => {
    expect(highlightedIds({})).toEqual([]);
    expect(highlightedIds({ states: ["down"] })).toEqual(["d"]);
    expect(highlightedIds({ types: ["ROUTER"] })).toEqual([]);
    expect(highlightedIds({ sources: ["demo"], types: ["SWITCH"] })).toEqual(["a", "b", "c", "d"]);
  });

  test("devices outside the neighbourhood are hidden", () => {
    const { isVisible } = highlights({ around: "a", hops: 1 });
    expect(["a", "b", "c"].map(isVisible)).toEqual([true, true, false]);
  });
});

describe("filter", () => {
  test.each([
    [
      "type=SWITCH,ROUTER available=false",
      [
        ["type", "SWITCH,ROUTER"],
        ["available", "false"],
      ],
    ],
    [
      'mfr="Juniper Networks" core',
      [
        ["mfr", "Juniper Networks"],
        ["q", "core"],
      ],
    ],
    ["two words", [["q", "two words"]]],
    [
      'annotations.site=fra1 "open',
      [
        ["annotations.site", "fra1"],
        ["q", "open"],
      ],
    ],
    ["   ", []],
  ] as [string, [string, string][]][])("%s", (text, pairs) => {
    expect(parseFilter(text)).toEqual(pairs);
  });
});

test("an alarm is never faded by a filter, a path or a layer", () => {
  const network = sampleNetwork();
  network.set({ resource: "links", value: linkOf("a/1", "b/1", { state: "INACTIVE" }) });
  network.set({ resource: "links", value: linkOf("b/1", "a/1", { state: "INACTIVE" }) });
  const filters = { ...DEFAULT_STATE, types: ["ROUTER"] };
  for (const palette of Object.values(PALETTES)) {
    const highlights = createHighlights(network, filters, undefined);
    const colours = [...network.devices.values()].map((one) => {
      const emphasis = highlights.device(one);
      expect(emphasis.highlighted).toBe(false);
      return deviceStyle(one, emphasis, palette).color;
    });
    expect(colours).toEqual([palette.dimmed, palette.dimmed, palette.dimmed, palette.down]);
    const cables = [...network.cables.values()].map((cable) =>
      lineColor({ ...cable, partlyDown: false }, highlights.cable(cable), palette),
    );
    expect(cables).toEqual([palette.down, palette.dimmed, palette.dimmed]);
  }
});

test("a metric replaces no alarm and no mark, and a partly broken bundle differs by its stroke too", () => {
  const up = sampleCable("a/1", "b/1");
  const inConflict = sampleCable("a/2", "b/2", { annotations: { conflict: "two claims" } });
  const down = sampleCable("a/3", "b/3", { state: "INACTIVE" });
  const bundle = (...cables: ReturnType<typeof sampleCable>[]) => ({
    a: "a",
    b: "b",
    cables: cables.map(([forward, reverse]) => cableOf(forward, reverse)),
  });
  const values = new Map<string, number>(
    [up, inConflict, down].flatMap((links) => links.map(({ id }) => [id, 10] as const)),
  );
  const palette = PALETTES.dark;
  const plain = { highlighted: undefined, selected: false, onPath: false, mark: undefined };
  const style = (one: ReturnType<typeof bundle>, emphasis: Emphasis = plain, metric = values) =>
    bundleStyle(one, emphasis, {
      palette,
      overlay: { name: "Load", unit: "%", max: 100, values: metric },
      speedOf: () => 0,
    });
  const metricColor = style(bundle(up)).color;
  expect(style(bundle(up), plain, new Map()).color).toBe(palette.dimmed);
  expect(style(bundle(down))).toMatchObject({ color: palette.down, stroke: STROKES.dashed });
  for (const metric of [values, new Map<string, number>()]) {
    const partlyDown = style(bundle(up, down), plain, metric);
    expect(partlyDown).toMatchObject({ color: palette.down, stroke: STROKES.longDashed, fades: false });
    const conflict = style(bundle(inConflict), plain, metric);
    expect(conflict).toMatchObject({ color: palette.warning, stroke: STROKES.double, fades: false });
    const marked = style(bundle(up), { ...plain, mark: "problem" }, metric).color;
    expect(marked).not.toBe(metricColor);
    expect(marked).toBe(palette.down);
  }
});
