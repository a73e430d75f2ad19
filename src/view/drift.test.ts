import { describe, expect, test } from "bun:test";
import { ClaimedNetwork, describeBatch, pagesOf } from "../../test/support/claims.ts";
import type { ClaimTypes } from "../model/claim.ts";
import type { Kind } from "../model/ids.ts";
import { DEFAULT_IDENTITY, type MergeSettings } from "../model/merge-settings.ts";
import { Committer } from "./committer.ts";
import { restoreView } from "./restore.ts";
import type { View } from "./view.ts";

const SETTINGS: MergeSettings = {
  identity: DEFAULT_IDENTITY,
  sources: [
    { name: "plan", role: "intended", merge: true },
    { name: "seen", role: "observed", merge: true },
    { name: "also", role: "observed", merge: true },
  ],
};

/** All sources have synced. */
async function plannedNetwork(): Promise<ClaimedNetwork> {
  const net = new ClaimedNetwork(SETTINGS);
  await net.sync("plan", "seen", "also");
  return net;
}

const AT = { elementId: "a", port: 1 };
type Case = {
  [K in Kind]: [
    kind: K,
    name: string,
    intended: Partial<ClaimTypes[K]>,
    observed: Partial<ClaimTypes[K]>,
    fields: object | undefined,
  ];
}[Kind];
const CASES: Case[] = [
  ["devices", "as intended", { type: "ROUTER" }, { type: "ROUTER" }, undefined],
  ["devices", "a field that the plan does not name", {}, { type: "ROUTER", mfr: "m" }, undefined],
  ["devices", "another type", { type: "ROUTER" }, {}, { type: { intended: "ROUTER", observed: "SWITCH" } }],
  ["devices", "not available", { available: true }, { available: false }, { available: { intended: true, observed: false } }],
  ["devices", "aliases and lastUpdate", { aliases: ["x"], lastUpdate: "1" }, { aliases: ["y"], lastUpdate: "2" }, undefined],
  ["devices", "the case of the id", { id: "A" }, { id: "a" }, undefined],
  ["devices", "an annotation that the plan does not name", { annotations: { site: "b1" } }, { annotations: { site: "b1", rack: "2" } }, undefined],
  [
    "devices",
    "annotations",
    { annotations: { site: "b1", rack: "1" } },
    { annotations: { rack: "2" } },
    { "annotations.site": { intended: "b1" }, "annotations.rack": { intended: "1", observed: "2" } },
  ],
  ["devices", "an annotation named as the prototype", { annotations: JSON.parse('{"__proto__":"x"}') }, {}, { "annotations.__proto__": { intended: "x" } }],
  [
    "devices",
    "another spelling of what identifies it",
    { chassisId: "52:54:00:A1:B2:01", serial: "s1", annotations: { name: "Leaf1", managementAddress: "2001:DB8::1" } },
    { chassisId: "525400a1b201", serial: "S1", annotations: { name: "leaf1", managementAddress: "2001:db8:0::1" } },
    undefined,
  ],
  ["devices", "an empty text", { serial: "", annotations: { name: "" } }, { serial: "s1", annotations: { name: "leaf1" } }, undefined],
  ["devices", "another serial number", { serial: "s1" }, { serial: "s2" }, { serial: { intended: "s1", observed: "s2" } }],
  ["devices", "another case of any other text", { hw: "OVS", annotations: { site: "B1" } }, { hw: "ovs", annotations: { site: "b1" } }, { hw: { intended: "OVS", observed: "ovs" }, "annotations.site": { intended: "B1", observed: "b1" } }],
  ["ports", "another spelling of its MAC address and name", { annotations: { mac: "52-54-00-a1-b2-11", portName: "Eth1" } }, { annotations: { mac: "52:54:00:A1:B2:11", portName: "eth1" } }, undefined],
  ["ports", "another MAC address", { annotations: { mac: "52:54:00:A1:B2:11" } }, { annotations: { mac: "52:54:00:A1:B2:12" } }, { "annotations.mac": { intended: "52:54:00:A1:B2:11", observed: "52:54:00:A1:B2:12" } }],
  ["ports", "as intended", { portSpeed: 1000 }, { portSpeed: 1000, isEnabled: false }, undefined],
  ["ports", "speed and state", { portSpeed: 1000, isEnabled: true }, { portSpeed: 100, isEnabled: false }, { portSpeed: { intended: 1000, observed: 100 }, isEnabled: { intended: true, observed: false } }],
  ["links", "as intended", { src: { device: "A", port: 1 } }, { state: "INACTIVE" }, undefined],
  ["links", "state", { state: "ACTIVE" }, { state: "INACTIVE" }, { state: { intended: "ACTIVE", observed: "INACTIVE" } }],
  ["hosts", "lists in another order", { ipAddresses: ["10.0.0.2", "10.0.0.1"], locations: [AT, { elementId: "B", port: 1 }] }, { ipAddresses: ["10.0.0.1", "10.0.0.2"], locations: [{ elementId: "b", port: 1 }, AT] }, undefined],
  ["hosts", "addresses", { ipAddresses: ["10.0.0.1"] }, { ipAddresses: ["10.0.0.2"] }, { ipAddresses: { intended: ["10.0.0.1"], observed: ["10.0.0.2"] } }],
  ["hosts", "a location", { locations: [{ elementId: "B", port: 2 }] }, {}, { locations: { intended: [{ elementId: "b", port: "2" }], observed: [{ elementId: "a", port: "1" }] } }],
  ["hosts", "a location at a missing device", { locations: [{ elementId: "c", port: 2 }] }, {}, { locations: { intended: [{ elementId: "c", port: "2" }], observed: [{ elementId: "a", port: "1" }] } }],
]; // biome-ignore format: a table

const BASE: { [K in Kind]: ClaimTypes[K] } = {
  devices: { id: "a" },
  ports: { element: "a", port: 1 },
  links: { src: { device: "a", port: 1 }, dst: { device: "b", port: 1 } },
  hosts: { mac: "00:00:00:00:00:01", vlan: "None", locations: [AT] },
};
const IDS: Record<Kind, string> = {
  devices: "a",
  ports: "a/1",
  links: "a/1-b/1",
  hosts: "00:00:00:00:00:01/None",
};

describe("an observed entity differs from the plan", () => {
  for (const [kind, name, intended, observed, fields] of CASES) {
    test(`${kind}: ${name}`, async () => {
      const net = await plannedNetwork();
      await net.set("seen", "devices", { id: "a" }, { id: "b" });
      await net.set("seen", kind, { ...BASE[kind], ...observed } as never);
      await net.set("plan", kind, { ...BASE[kind], ...intended } as never);
      const shown = net.shown(kind, IDS[kind]);
      expect(shown?.sources).toEqual(["seen"]);
      const { since, ...drift } = shown?.drift ?? {};
      expect(drift).toEqual(fields ? { state: "differs", fields } : {});
      expect(net.view.size("missing")).toBe(0);
      await net.remove("plan", kind, IDS[kind]);
      expect(net.shown(kind, IDS[kind])?.drift).toBeUndefined();
      expect(net.view.indexes("claims").named("plannedKind").size).toBe(0);
      await net.log.close();
    });
  }

  test("the first intended source that names a field decides", async () => {
    const second = { name: "second", role: "intended", merge: true } as const;
    const net = new ClaimedNetwork({ ...SETTINGS, sources: [...SETTINGS.sources, second] });
    await net.sync("plan", "seen", "also", "second");
    await net.set("second", "devices", { id: "a", type: "SWITCH", mfr: "m" });
    await net.set("plan", "devices", { id: "a", type: "ROUTER" });
    await net.set("seen", "devices", { id: "a", type: "SWITCH", mfr: "m" });
    expect(net.shown("devices", "a")?.drift?.fields).toEqual({
      type: { intended: "ROUTER", observed: "SWITCH" },
    });
  });
});

describe("missing", () => {
  test("what is intended and not observed, until it is observed, and again", async () => {
    const net = await plannedNetwork();
    await net.set("plan", "devices", { id: "Leaf", type: "ROUTER" }, { id: "b" });
    await net.set("plan", "ports", { element: "leaf", port: 1 });
    await net.set("plan", "links", { src: { device: "leaf", port: 1 }, dst: { device: "b", port: 1 } });
    await net.set("plan", "hosts", { ...BASE.hosts, locations: [{ elementId: "LEAF", port: 2 }] });
    expect(net.view.size("devices")).toBe(0);
    expect(net.view.heldBack).toEqual({ devices: 0, ports: 0, links: 0, hosts: 0 });
    const missing = net.missing("devices", "Leaf");
    expect(missing).toMatchObject({ type: "ROUTER", sources: [], drift: { state: "missing" } });
    expect(net.missing("ports", "Leaf/1")?.element).toBe("Leaf");
    expect(net.missing("links", "Leaf/1-b/1")?.drift?.state).toBe("missing");
    expect(net.missing("hosts", IDS.hosts)?.location).toEqual({ elementId: "Leaf", port: "2" });

    await net.clock.advance(1000);
    const observed = await net.set("seen", "devices", { id: "leaf", type: "ROUTER" });
    // The planned entities at the device follow the spelling of its id.
    expect(observed?.entries.filter(({ kind }) => kind !== "claims").map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      "missing devices Leaf",
      "missing ports Leaf/1",
      "missing links Leaf/1-b/1",
      "devices leaf",
      "missing ports leaf/1",
      "missing links leaf/1-b/1",
      `missing hosts ${IDS.hosts}`,
    ]); // biome-ignore format: a list
    expect(net.shown("devices", "leaf")?.drift).toBeUndefined();
    expect(net.missing("ports", "leaf/1")?.drift?.since).toBe(missing?.drift?.since as never);

    await net.clock.advance(1000);
    const removed = await net.remove("seen", "devices", "leaf");
    expect(removed?.entries.at(-1)?.kind).not.toBe("devices");
    expect(net.missing("devices", "Leaf")?.drift?.since).toBe(new Date(net.clock.now()).toISOString());
    await net.source("plan").replace({});
    expect(net.view.size("missing")).toBe(0);
    expect(net.view.size("claims")).toBe(0);
  });

  test("is not in operation, whatever the plan says, and is compared by what the plan says", async () => {
    const net = await plannedNetwork();
    await net.set("plan", "devices", { id: "a", available: true }, { id: "b" });
    await net.set("plan", "ports", { element: "a", port: 1, isEnabled: true });
    await net.set("plan", "links", {
      src: { device: "a", port: 1 },
      dst: { device: "b", port: 1 },
      state: "ACTIVE",
    });
    for (const id of ["a", "b"]) {
      const device = net.missing("devices", id);
      expect(device?.available).toBe(false);
      expect(device?.humanReadableLastUpdate).toStartWith("disconnected since ");
    }
    expect(net.missing("ports", "a/1")?.isEnabled).toBe(false);
    expect(net.missing("links", "a/1-b/1")?.state).toBe("INACTIVE");
    await net.set("seen", "devices", { id: "a" });
    expect(net.shown("devices", "a")).toMatchObject({ available: true });
    expect(net.shown("devices", "a")?.drift).toBeUndefined();
  });

  test("a link in both directions is bidirectional, also where only one of them is missing", async () => {
    const net = await plannedNetwork();
    const [src, dst] = [{ device: "a", port: 1 }, { device: "b", port: 1 }]; // biome-ignore format: short
    await net.set("plan", "links", { src, dst }, { src: dst, dst: src });
    expect(net.missing("links", "a/1-b/1")?.bidirectional).toBe(true);
    await net.set("seen", "devices", { id: "a" }, { id: "b" });
    await net.set("seen", "links", { src, dst });
    expect(net.missing("links", "b/1-a/1")?.bidirectional).toBe(true);
    expect(net.shown("links", "a/1-b/1")?.bidirectional).toBe(false);
    await net.remove("plan", "links", "a/1-b/1");
    await net.remove("seen", "links", "a/1-b/1");
    expect(net.missing("links", "b/1-a/1")?.bidirectional).toBe(false);
  });

  test("what is observed at a device that is not is held back and missing", async () => {
    const net = await plannedNetwork();
    await net.set("plan", "ports", BASE.ports);
    await net.set("seen", "ports", BASE.ports);
    expect(net.missing("ports", "a/1")?.drift?.state).toBe("missing");
    expect(net.view.heldBack.ports).toBe(1);
    await net.remove("seen", "ports", "a/1");
    expect(net.view.heldBack.ports).toBe(0);
  });
});

describe("unplanned", () => {
  test("is what is observed of a kind that the plan contains", async () => {
    const net = await plannedNetwork();
    await net.set("seen", "devices", { id: "a" }, { id: "b" }, { id: "c" });
    await net.set("seen", "hosts", BASE.hosts);
    expect(net.shown("devices", "b")?.drift).toBeUndefined();
    await net.set("plan", "devices", { id: "a" });
    expect(net.shown("devices", "b")?.drift?.state).toBe("unplanned");
    expect(net.shown("devices", "a")?.drift).toBeUndefined();
    expect(net.shown("hosts", IDS.hosts)?.drift).toBeUndefined();
    expect([...net.view.indexes("devices").named("drift").get("unplanned")].sort()).toEqual(["b", "c"]);
    const since = net.shown("devices", "b")?.drift?.since;
    await net.clock.advance(1000);
    await net.set("seen", "devices", { id: "b", mfr: "m" });
    expect(net.shown("devices", "b")?.drift?.since).toBe(since as never);
    await net.remove("plan", "devices", "a");
    for (const id of ["a", "b", "c"]) expect(net.shown("devices", id)?.drift).toBeUndefined();
  });

  test("a port is unplanned only at a device whose ports the plan lists", async () => {
    const net = await plannedNetwork();
    const ports = [1, 2].flatMap((port) => ["a", "b", "c"].map((element) => ({ element, port })));
    await net.set("seen", "devices", { id: "a" }, { id: "b" }, { id: "c" });
    await net.set("seen", "ports", ...ports);
    const unplanned = () => net.all("ports").filter(({ drift }) => drift?.state === "unplanned").map(({ element, port }) => `${element}/${port}`); // biome-ignore format: one line
    await net.set("plan", "devices", { id: "a" }, { id: "b" });
    expect(unplanned()).toEqual([]);
    await net.set("plan", "ports", { element: "A", port: 1 });
    expect(unplanned()).toEqual(["a/2"]);
    await net.set("plan", "ports", { element: "b", port: 2 });
    expect(unplanned()).toEqual(["a/2", "b/1"]);
    await net.remove("plan", "ports", "A/1");
    expect(unplanned()).toEqual(["b/1"]);
    await net.set("seen", "ports", { element: "b", port: 3 }, { element: "c", port: 3 });
    expect(unplanned()).toEqual(["b/1", "b/3"]);
    await net.remove("plan", "ports", "b/2");
    expect(unplanned()).toEqual([]);
  });
});

describe("nothing is compared", () => {
  test("before every observed source has synced once, and a plan", async () => {
    const net = new ClaimedNetwork(SETTINGS);
    await net.set("plan", "devices", { id: "a" }, { id: "b", type: "ROUTER" });
    await net.set("seen", "devices", { id: "b" }, { id: "c" });
    await net.sync("plan", "seen");
    expect(net.view.size("missing")).toBe(0);
    expect(net.all("devices").map(({ drift }) => drift)).toEqual([undefined, undefined]);
    expect(net.view.heldBack.devices).toBe(0);
    await net.sync("also");
    expect(net.missing("devices", "a")?.drift?.state).toBe("missing");
    expect(net.all("devices").map(({ drift }) => drift?.state)).toEqual(["differs", "unplanned"]);
  });

  test("without a plan, and nothing is written for it", async () => {
    const net = new ClaimedNetwork(["seen"]);
    await net.sync("seen");
    await net.set("seen", "devices", { id: "a", type: "SWITCH", available: true, role: "NONE" });
    const hosts = Array.from({ length: 900 }, (_, i) => ({
      ...BASE.hosts,
      mac: `00:00:00:00:${(i >> 8).toString(16).padStart(2, "0")}:${(i & 255).toString(16).padStart(2, "0")}`,
    }));
    const batch = await net.set("seen", "hosts", ...hosts);
    expect(batch?.entries.length).toBe(900);
    expect(net.batches.flatMap(({ entries }) => entries).filter(({ kind }) => kind === "claims" || kind === "missing")).toEqual([]); // biome-ignore format: one line
    expect(net.view.size("missing")).toBe(0);
    expect(pagesOf(net.view, "hosts").every((page) => !page.bytes.toString().includes("drift"))).toBe(true);
    for (const name of ["drift"] as const) expect(net.view.indexes("hosts").named(name).size).toBe(0);
  });
});

test("a batch that fails leaves what is missing as it was", async () => {
  const net = await plannedNetwork();
  await net.set("plan", "devices", { id: "Leaf" });
  const before = [
    net.view.indexes("missing").named("key").keys(),
    net.view.indexes("claims").named("plannedKind").size,
  ];
  const append = net.log.append;
  net.log.append = () => Promise.reject(new Error("disk full"));
  await expect(net.set("seen", "devices", { id: "leaf" })).rejects.toThrow("disk full");
  await expect(net.set("plan", "devices", { id: "x" })).rejects.toThrow("disk full");
  expect([
    net.view.indexes("missing").named("key").keys(),
    net.view.indexes("claims").named("plannedKind").size,
  ]).toEqual(before);
  expect(net.missing("devices", "Leaf")?.drift?.state).toBe("missing");
  net.log.append = append;
  expect(describeBatch(await net.set("seen", "devices", { id: "leaf" }))).toEqual([
    "added devices leaf",
    "removed missing devices Leaf",
  ]);
});

test("a service that ends while a kind is compared with a new plan goes on at the next start", async () => {
  const net = await plannedNetwork();
  const ids = Array.from({ length: 700 }, (_, i) => `d${i}`);
  await net.set("seen", "devices", ...ids.map((id) => ({ id })));
  const append = net.log.append.bind(net.log);
  let left = 2;
  net.log.append = (batch) => (left-- > 0 ? append(batch) : Promise.reject(new Error("disk full")));
  await expect(net.set("plan", "devices", { id: "d0" }, { id: "x" })).rejects.toThrow("disk full");
  const unplanned = (view: View) => [...view.indexes("devices").named("drift").get("unplanned")].length;
  expect(unplanned(net.view)).toBeWithin(1, 699);

  net.log.append = append;
  const { view } = restoreView(net.log);
  const committer = new Committer(view, net.log, net.clock, SETTINGS);
  await committer.mergeAgain();
  expect(unplanned(view)).toBe(699);
  expect(view.has("missing", "devices x")).toBe(true);
  const { revision } = view;
  await committer.mergeAgain();
  expect(view.revision).toBe(revision);
});

test("a plan that is removed from the configuration leaves nothing", async () => {
  const net = await plannedNetwork();
  await net.set("seen", "devices", { id: "a" });
  await net.set("plan", "devices", { id: "a", type: "ROUTER" }, { id: "x" });
  const [, ...sources] = SETTINGS.sources;
  await net.committer.setSettings({ ...SETTINGS, sources });
  // Until its claims are removed it has its role.
  expect(net.shown("devices", "a")?.drift?.state).toBe("differs");
  await net.source("plan").replace({});
  await net.committer.forgetSource("plan");
  expect(net.all("devices").map(({ id, drift }) => [id, drift])).toEqual([["a", undefined]]);
  expect(net.view.size("missing")).toBe(0);
  expect(net.view.has("settings", "plan")).toBe(false);
});

test("a plan of several batches flags nothing as unplanned before it is complete", async () => {
  const net = new ClaimedNetwork(SETTINGS);
  await net.sync("seen", "also");
  const devices = Array.from({ length: 1500 }, (_, i) => ({ id: `d${i}` }));
  await net.source("seen").replace({ devices });
  await net.source("plan").replace({ devices });
  await net.sync("plan");
  expect(net.batches.some(({ entries }) => entries.some(({ after }) => after?.includes("drift")))).toBe(
    false,
  );
});
