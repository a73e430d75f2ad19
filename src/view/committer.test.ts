import { describe, expect, test } from "bun:test";
import {
  ClaimedNetwork,
  clustersOf,
  describeBatch,
  openMemoryLog,
  pagesOf,
} from "../../test/support/claims.ts";
import { type Log, LogError, STORE_KINDS } from "../log/log.ts";
import type { HostClaim, LinkClaim } from "../model/claim.ts";
import type { View } from "./view.ts";

const A = "of:000000000000000a";
const B = "of:000000000000000b";
const link = (from: string, to: string, more: Partial<LinkClaim> = {}): LinkClaim => {
  const [device = "", port = ""] = from.split("/");
  const [otherDevice = "", otherPort = ""] = to.split("/");
  return { src: { device, port }, dst: { device: otherDevice, port: otherPort }, ...more };
};
const host = (n: number, at: string, more: Partial<HostClaim> = {}): HostClaim => {
  const [elementId = "", port = ""] = at.split("/");
  return { mac: `00:00:00:00:00:0${n}`, locations: [{ elementId, port }], ...more };
};
const hostId = (n: number, vlan = "None") => `00:00:00:00:00:0${n}/${vlan}`;

/** Devices A and B, claimed by the first source. */
async function twoDevices(): Promise<ClaimedNetwork> {
  const net = new ClaimedNetwork();
  await net.set("first", "devices", { id: A }, { id: B });
  return net;
}

/** Everything in a view, as text. */
function stateOf(view: View): unknown {
  const { revision, time, graphTime, versions } = view;
  const pages = STORE_KINDS.map((kind) =>
    pagesOf(view, kind).map((page) => Buffer.from(page.encode()).toString()),
  );
  return { revision, time, graphTime, versions, pages, clusters: clustersOf(view) };
}

describe("one device of several sources", () => {
  test("each field comes from the first source that claims it", async () => {
    const net = new ClaimedNetwork();
    await net.set("third", "devices", {
      id: A,
      mfr: "three",
      hw: "h3",
      annotations: { name: "c", room: "r" },
    });
    await net.set("first", "devices", { id: A, available: false, annotations: { name: "a" } });
    await net.set("second", "devices", { id: A, mfr: "two", available: true, type: "ROUTER" });
    expect(net.shown("devices", A)).toMatchObject({
      type: "ROUTER",
      available: false,
      mfr: "two",
      hw: "h3",
      sw: "unknown",
      driver: "default",
      chassisId: "0",
      role: "NONE",
      annotations: { name: "a", room: "r", managementAddress: "", channelId: "", protocol: "" },
      sources: ["first", "second", "third"],
    });
  });

  test("other claims stay when one source withdraws; the device is removed with the last claim", async () => {
    const net = new ClaimedNetwork();
    await net.set("first", "devices", { id: A, mfr: "one" });
    await net.set("second", "devices", { id: A, mfr: "two", sw: "s2" });
    await net.remove("first", "devices", A);
    expect(net.shown("devices", A)).toMatchObject({ mfr: "two", sw: "s2", sources: ["second"] });
    expect(describeBatch(await net.remove("third", "devices", A))).toEqual([]);
    expect(describeBatch(await net.remove("second", "devices", A))).toEqual([`removed devices ${A}`]);
    expect(STORE_KINDS.filter((kind) => net.view.size(kind) > 0)).toEqual(["settings"]);
  });

  test("a source that no longer lists a device does not remove the claim of another", async () => {
    const net = new ClaimedNetwork();
    await net.source("first").replace({ devices: [{ id: A }, { id: B }] });
    await net.source("second").replace({ devices: [{ id: B, hw: "h" }] });
    await net.source("first").replace({ devices: [{ id: A }] });
    expect(net.shown("devices", B)).toMatchObject({ hw: "h", sources: ["second"] });
    await net.source("second").replace({});
    expect(net.all("devices").map(({ id }) => id)).toEqual([A]);
  });
});

describe("revisions", () => {
  test("are created by real changes only", async () => {
    const net = await twoDevices();
    const claim = { id: A, mfr: "m", annotations: { b: "2", a: "1" } };
    const first = await net.set("second", "devices", claim);
    expect(first?.revision).toBe(2);
    net.clock.advance(1000);
    const before = stateOf(net.view);
    expect(await net.set("second", "devices", { ...claim, annotations: { a: "1", b: "2" } })).toBeUndefined();
    expect(await net.remove("third", "devices", A)).toBeUndefined();
    expect(stateOf(net.view)).toEqual(before);
    // A change that is undone in the same commit changes nothing either.
    await net.apply(
      "second",
      { op: "set", kind: "devices", claim: { id: "of:9" } },
      { op: "set", kind: "hosts", claim: host(9, "of:9/1") },
      { op: "remove", kind: "hosts", id: hostId(9) },
      { op: "remove", kind: "devices", id: "of:9" },
    );
    expect(stateOf(net.view)).toEqual(before);
  });

  test("update lastChanged and revision of the entity; firstSeen stays", async () => {
    const net = new ClaimedNetwork();
    await net.set("first", "devices", { id: A, hw: "1" });
    const start = net.shown("devices", A);
    expect(start).toMatchObject({
      firstSeen: "2026-11-15T01:00:00.000Z",
      lastChanged: "2026-11-15T01:00:00.000Z",
      revision: 1,
    });
    await net.clock.advance(60_000);
    const batch = await net.set("first", "devices", { id: A, hw: "2" });
    expect(describeBatch(batch)).toEqual([`updated devices ${A} (hw)`]);
    expect(net.shown("devices", A)).toEqual({
      ...start,
      hw: "2",
      lastChanged: "2026-11-15T01:01:00.000Z",
      revision: 2,
    } as NonNullable<typeof start>);
  });

  test("are created when a second source claims the same values", async () => {
    const net = await twoDevices();
    expect(describeBatch(await net.set("second", "devices", { id: A }))).toEqual([
      `updated devices ${A} (sources)`,
    ]);
  });

  test("never have an earlier time than the one before, even when the clock goes back", async () => {
    const net = await twoDevices();
    const now = net.view.time;
    await net.clock.advance(-5000);
    expect((await net.set("first", "devices", { id: "of:c" }))?.time).toBe(now);
  });
});

describe("availability", () => {
  test("lastUpdate is the time of its last change, as a number and as text", async () => {
    const net = new ClaimedNetwork();
    const start = net.clock.now();
    await net.set("first", "devices", { id: A, available: true });
    await net.clock.advance(5000);
    await net.set("first", "devices", { id: A, available: true, hw: "2" });
    expect(net.shown("devices", A)).toMatchObject({
      lastUpdate: String(start),
      humanReadableLastUpdate: "connected since 2026-11-15T01:00:00Z",
    });
    const batch = await net.set("first", "devices", { id: A, available: false, hw: "2" });
    expect(describeBatch(batch)).toEqual([
      `updated devices ${A} (available, lastUpdate, humanReadableLastUpdate)`,
    ]);
    expect(net.shown("devices", A)).toMatchObject({
      lastUpdate: String(start + 5000),
      humanReadableLastUpdate: "disconnected since 2026-11-15T01:00:05Z",
    });
  });

  test("a claimed lastUpdate wins", async () => {
    const net = new ClaimedNetwork();
    await net.set("first", "devices", { id: A, available: false, lastUpdate: "86400000" });
    expect(net.shown("devices", A)).toMatchObject({
      lastUpdate: "86400000",
      humanReadableLastUpdate: "disconnected since 1970-01-02T00:00:00Z",
    });
  });
});

describe("without their device", () => {
  test("ports, links and hosts are held back; they are added and removed with the device", async () => {
    const net = new ClaimedNetwork();
    await net.set("first", "devices", { id: A });
    const explicit = net.view.size("claims");
    const heldBack = await net.apply(
      "second",
      { op: "set", kind: "ports", claim: { element: B, port: 1 } },
      { op: "set", kind: "links", claim: link(`${A}/1`, `${B}/1`) },
      { op: "set", kind: "hosts", claim: host(1, `${B}/2`) },
    );
    expect(describeBatch(heldBack)).toEqual([]);
    expect(net.view.size("claims")).toBe(explicit + 3);
    const dependents = [`ports ${B}/1`, `links ${A}/1-${B}/1`, `hosts ${hostId(1)}`];
    expect(describeBatch(await net.set("first", "devices", { id: B }))).toEqual(
      [`devices ${B}`, ...dependents].map((what) => `added ${what}`).sort(),
    );
    expect(describeBatch(await net.remove("first", "devices", B))).toEqual(
      [`devices ${B}`, ...dependents].map((what) => `removed ${what}`).sort(),
    );
    // Claims that are withdrawn while held back are deleted.
    await net.source("second").replace({});
    expect(net.view.size("claims")).toBe(explicit);
    expect(describeBatch(await net.set("first", "devices", { id: B }))).toEqual([`added devices ${B}`]);
  });

  test("a host keeps the locations whose device exists", async () => {
    const net = await twoDevices();
    const locations = [
      { elementId: B, port: "1" },
      { elementId: A, port: "2" },
    ];
    await net.set("first", "hosts", { mac: "00:00:00:00:00:01", locations });
    expect(net.shown("hosts", hostId(1))).toMatchObject({ locations, location: locations[0] });
    expect(describeBatch(await net.remove("first", "devices", B))).toEqual([
      `removed devices ${B}`,
      `updated hosts ${hostId(1)} (locations, location)`,
    ]);
    expect(net.shown("hosts", hostId(1))?.locations).toEqual(locations.slice(1));
    await net.set("first", "devices", { id: B });
    expect(net.shown("hosts", hostId(1))).toMatchObject({ locations, location: locations[0] });
  });
});

describe("links", () => {
  test("become bidirectional both at once", async () => {
    const net = await twoDevices();
    await net.set("first", "links", link(`${A}/1`, `${B}/1`));
    expect(net.all("links").map(({ bidirectional }) => bidirectional)).toEqual([false]);
    const batch = await net.set("second", "links", link(`${B}/1`, `${A}/1`));
    expect(describeBatch(batch)).toEqual([
      `added links ${B}/1-${A}/1`,
      `updated links ${A}/1-${B}/1 (bidirectional)`,
    ]);
    expect(net.all("links").map(({ bidirectional }) => bidirectional)).toEqual([true, true]);
    await net.remove("second", "links", `${B}/1-${A}/1`);
    expect(net.all("links").map(({ bidirectional }) => bidirectional)).toEqual([false]);
  });

  test("are verified by one verified claim", async () => {
    const net = await twoDevices();
    await net.set("first", "links", link(`${A}/1`, `${B}/1`, { verified: false }));
    expect(net.all("links").map(({ verified }) => verified)).toEqual([false]);
    await net.set("second", "links", link(`${A}/1`, `${B}/1`, { verified: true }));
    expect(net.all("links").map(({ verified }) => verified)).toEqual([true]);
  });
});

test("a failed append leaves the view exactly as it was", async () => {
  const real = openMemoryLog();
  let full = false;
  const failing = new Proxy(real, {
    get: (log, name) => {
      if (name === "append" && full) {
        return () => {
          throw new LogError("write-failed", "the disk is full");
        };
      }
      const member: unknown = log[name as keyof Log];
      return typeof member === "function" ? member.bind(log) : member;
    },
  });
  const net = new ClaimedNetwork(["first", "second"], failing);
  await net.set("first", "devices", { id: A }, { id: B });
  await net.set("first", "links", link(`${A}/1`, `${B}/1`));
  await net.set("first", "hosts", host(1, `${A}/3`, { ipAddresses: ["10.0.0.1"] }));
  const before = stateOf(net.view);
  const addresses = () => [...net.view.indexes("hosts").named("ip").keys()];
  const addressesBefore = addresses();
  await net.clock.advance(1000);
  full = true;
  const attempt = net.apply(
    "second",
    { op: "set", kind: "devices", claim: { id: A, available: false } },
    { op: "set", kind: "devices", claim: { id: "of:c" } },
    { op: "set", kind: "hosts", claim: host(2, `${A}/3`, { ipAddresses: ["10.0.0.1", "10.0.0.2"] }) },
    { op: "set", kind: "links", claim: link(`${B}/1`, `${A}/1`) },
  );
  await expect(attempt).rejects.toThrow("the disk is full");
  await expect(net.remove("first", "devices", A)).rejects.toThrow("the disk is full");
  expect(stateOf(net.view)).toEqual(before);
  expect(addresses()).toEqual(addressesBefore);
  expect(net.batches.length).toBe(3);
  full = false;
  expect((await net.remove("first", "devices", A))?.revision).toBe(4);
});

test("an invalid record is dropped, counted and logged; the rest is committed", async () => {
  const net = new ClaimedNetwork();
  const invalid = Array.from({ length: 12 }, (_, i) => ({ id: `switch ${i}` }));
  await net.source("first").replace({ devices: [...invalid, { id: A }] });
  expect(net.all("devices").map(({ id }) => id)).toEqual([A]);
  expect(net.source("first").rejectedCount).toBe(12);
  expect(net.logLines.length).toBe(10);
  expect(net.logLines[0]).toContain(
    'warn record refused source=first kind=devices record="switch 0" field=/id',
  );
});

test("calls of one source are committed in order, a large set in several revisions", async () => {
  const net = new ClaimedNetwork();
  const many = Array.from({ length: 5_000 }, (_, i) => ({ id: `of:${i}` }));
  const both = [net.source("first").replace({ devices: many }), net.remove("first", "devices", "of:4999")];
  await Promise.all(both);
  expect(net.view.size("devices")).toBe(4_999);
  expect(net.batches.map(({ entries }) => entries.filter(({ kind }) => kind !== "settings").length)).toEqual([
    ...Array.from({ length: 5 }, () => 2000),
    2,
  ]);
});
