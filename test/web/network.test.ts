/** What the page knows of a network and how it walks, finds and tells it, without a browser. */
import { describe, expect, test } from "bun:test";
import { describeChange, type EntityChange } from "../../src/web/change-text.ts";
import { marksOf } from "../../src/web/history.ts";
import { applyChange } from "../../src/web/live.ts";
import { createFocus } from "../../src/web/map/highlights.ts";
import { neighbourhood, shortestPath } from "../../src/web/path.ts";
import { searchNetwork } from "../../src/web/search.ts";
import { DEFAULT_STATE } from "../../src/web/state.ts";
import { parseFilter } from "../../src/web/table/filter.ts";
import { device as sampleDevice } from "../support/sample-network.ts";
import { sampleCable, sampleHost, sampleNetwork } from "./sample-network.ts";

/** One direction. */
const linkOf = (from: string, to: string, more = {}) => sampleCable(from, to, more)[0];

describe("network", () => {
  test("two directions are one cable; one of them down is one-way, along the one that works", () => {
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

  test("a host that moves is counted where it is", () => {
    const network = sampleNetwork();
    expect([network.hostCount("a"), network.hostCount("b")]).toEqual([1, 0]);
    network.set({ resource: "hosts", value: sampleHost("02:00:00:00:00:01", "b/3") });
    expect([network.hostCount("a"), network.hostCount("b")]).toEqual([0, 1]);
    network.remove("hosts", "02:00:00:00:00:01/None");
    expect(network.hostCount("b")).toBe(0);
  });

  test("what a list told is not undone by an older change", () => {
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

describe("walk", () => {
  const device = (id: string) => ({ kind: "devices", id }) as const;

  test("the shortest way goes over what is up and works in that direction", () => {
    const network = sampleNetwork();
    expect(shortestPath(network, device("a"), device("c"))?.devices).toEqual(["a", "b", "c"]);
    expect(shortestPath(network, device("a"), device("d"))).toBeUndefined();
    network.set({ resource: "links", value: linkOf("b/2", "c/1", { state: "INACTIVE" }) });
    expect(shortestPath(network, device("a"), device("c"))).toBeUndefined();
    expect(shortestPath(network, device("c"), device("a"))?.cables).toHaveLength(2);
  });

  test("from host to host, and from a thing to itself", () => {
    const network = sampleNetwork();
    const from = { kind: "hosts", id: "02:00:00:00:00:01/None" } as const;
    const to = { kind: "hosts", id: "02:00:00:00:00:02/None" } as const;
    expect(shortestPath(network, from, to)?.devices).toEqual(["a", "b", "c"]);
    expect(shortestPath(network, from, from)).toEqual({ devices: ["a"], cables: [] });
    expect(shortestPath(network, from, { kind: "hosts", id: "gone" })).toBeUndefined();
  });

  test("a neighbourhood grows by hops", () => {
    const network = sampleNetwork();
    expect([...neighbourhood(network, "a", 1)]).toEqual(["a", "b"]);
    expect([...neighbourhood(network, "a", 9)].sort()).toEqual(["a", "b", "c", "d"]);
    expect(neighbourhood(network, "x", 2).size).toBe(0);
  });
});

describe("find", () => {
  const titles = (words: string) => searchNetwork(sampleNetwork(), words).hits.map((hit) => hit.title);

  test.each([
    ["192.0.2.77", ["192.0.2.77"]],
    ["192.0.2.0/25", ["192.0.2.77", "desk"]],
    ["2001:DB8:0::7", ["192.0.2.77"]],
    ["0200.0000.0001", ["desk"]],
    ["02-00-00-00-00-02", ["192.0.2.77"]],
    ["switch-b", ["switch-b"]],
    ["10.0.0.99", ["switch-c"]],
    ["", []],
    ["nowhere", []],
  ])("%s", (words, expected) => {
    expect(titles(words).toSorted()).toEqual(expected.toSorted());
  });

  test("what begins with the words goes first, and the rest is counted", () => {
    const { hits, total } = searchNetwork(sampleNetwork(), "s", 2);
    expect(hits.map((hit) => hit.title)).toEqual(["switch-a", "switch-b"]);
    expect(total).toBeGreaterThan(2);
  });
});

describe("telling", () => {
  const network = sampleNetwork();
  const device = (available: boolean) => sampleDevice("a", { available, annotations: { name: "core" } });
  test.each<[EntityChange, string, string]>([
    [
      { event: "updated", resource: "devices", value: device(false), changed: ["available"] },
      "went down",
      "bad",
    ],
    [
      { event: "updated", resource: "devices", value: device(true), changed: ["available"] },
      "came up",
      "good",
    ],
    [{ event: "removed", resource: "devices", value: device(true) }, "is gone", "bad"],
    [
      {
        event: "updated",
        resource: "links",
        value: linkOf("a/1", "b/1", { state: "INACTIVE" }),
        changed: ["state"],
      },
      "link went down",
      "bad",
    ],
    [
      {
        event: "updated",
        resource: "hosts",
        value: sampleHost("02:00:00:00:00:01", "b/3"),
        changed: ["location", "locations"],
      },
      "moved to switch-b port 3",
      "plain",
    ],
  ])("%#", (told, words, tone) => {
    expect(describeChange(network, told)).toMatchObject({ text: words, tone });
  });

  test("a comparison marks devices and cables, and the device a host came to", () => {
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

describe("focus", () => {
  const focus = (asked: Partial<typeof DEFAULT_STATE>) =>
    createFocus(sampleNetwork(), { ...DEFAULT_STATE, ...asked }, undefined);
  const lit = (asked: Partial<typeof DEFAULT_STATE>) =>
    [...sampleNetwork().devices.values()]
      .filter((device) => focus(asked).device(device).lit)
      .map(({ id }) => id);

  test("filters let what matches stand out and fade the rest; without one nothing does either", () => {
    expect(lit({})).toEqual([]);
    expect(lit({ states: ["down"] })).toEqual(["d"]);
    expect(lit({ types: ["ROUTER"] })).toEqual([]);
    expect(lit({ sources: ["demo"], types: ["SWITCH"] })).toEqual(["a", "b", "c", "d"]);
  });

  test("a neighbourhood hides what is beyond", () => {
    const { isShown } = focus({ around: "a", hops: 1 });
    expect(["a", "b", "c"].map(isShown)).toEqual([true, true, false]);
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
