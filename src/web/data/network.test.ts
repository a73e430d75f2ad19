/** The page's copy of the network, its paths, search, change texts and filters, without a browser. */
import { describe, expect, test } from "bun:test";
import { sampleCable, sampleHost, sampleNetwork } from "../../../test/support/page-network.ts";
import { device as sampleDevice } from "../../../test/support/sample-network.ts";
import type { SearchResult } from "../../client/client.ts";
import { createHighlights } from "../map/highlights.ts";
import { parseFilter } from "../table/table-filter.ts";
import { describeChange, type ShownChange } from "./change-groups.ts";
import { createSearcher, describeHit } from "./entity-search.ts";
import { applyChange } from "./live.ts";
import { marksOf } from "./load-network.ts";
import { neighbourhood, pathUnion } from "./shown-path.ts";
import { DEFAULT_STATE } from "./view-state.ts";

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
    const union = pathUnion(sampleNetwork(), { explanation: { ...explained, count: 0, none } });
    expect(union).toEqual({ devices: ["a", "d", "b", "c"], cables: [] });
  });

  test("a neighbourhood contains the devices within the number of hops", () => {
    const network = sampleNetwork();
    expect([...neighbourhood(network, "a", 1)]).toEqual(["a", "b"]);
    expect([...neighbourhood(network, "a", 9)].sort()).toEqual(["a", "b", "c", "d"]);
    expect(neighbourhood(network, "x", 2).size).toBe(0);
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
  test.each<[string, string, ShownChange]>([
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
      "cable went down",
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
