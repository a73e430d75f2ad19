/** Part 2 of the interface: the fields of the bodies, with the names and types of ONOS. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import Type from "typebox";
import { Compile } from "typebox/compile";
import {
  Cluster,
  type Device,
  ENTITY_SCHEMAS,
  type Host,
  type Link,
  Topology,
} from "../../src/model/entity.ts";
import { KINDS, type Kind } from "../../src/model/ids.ts";
import { runs } from "../support/property.ts";
import { type Harness, openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import { anyNetwork, anyStep, deviceId, SAMPLE } from "./network.ts";

let h: Harness;
beforeAll(async () => {
  h = await openHarness();
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

const pathOf = (kind: Kind) => (kind === "ports" ? "devices/ports" : kind);
const lists = Object.fromEntries(
  KINDS.map((kind) => {
    const item = Type.Object(ENTITY_SCHEMAS[kind].properties, { additionalProperties: false });
    return [kind, Compile(Type.Object({ [kind]: Type.Array(item) }, { additionalProperties: false }))];
  }),
);

test.each([...KINDS])("%s: exactly the fields of the schema, with their types", async (kind) => {
  const body = await h.json(pathOf(kind));
  expect(lists[kind]?.Errors(body)).toEqual([]);
});

test("a device with all fields, byte for byte in the order of ONOS", async () => {
  const text = await (await h.fetch(`devices/${deviceId(1)}`)).text();
  expect(text).toBe(
    JSON.stringify({
      id: deviceId(1),
      type: "ROUTER",
      available: true,
      role: "MASTER",
      mfr: "Maker, Inc.",
      hw: "H1",
      sw: "1.0",
      serial: "S1",
      driver: "ovs",
      chassisId: "1",
      lastUpdate: "1794704401000",
      humanReadableLastUpdate: "connected since 2026-11-15T01:00:01Z",
      annotations: {
        channelId: "192.0.2.1:6653",
        managementAddress: "192.0.2.1",
        name: "core",
        protocol: "OF_13",
      },
      firstSeen: "2026-11-15T01:00:01.000Z",
      lastChanged: "2026-11-15T01:00:01.000Z",
      sources: ["first"],
      revision: 1,
    }),
  );
});

test("a device claimed with nothing but its id has every field", async () => {
  expect(await h.json(`devices/${deviceId(3)}`)).toMatchObject({
    type: "SWITCH",
    available: true,
    role: "NONE",
    mfr: "unknown",
    hw: "unknown",
    sw: "unknown",
    serial: "unknown",
    driver: "default",
    chassisId: "0",
    annotations: { managementAddress: "", channelId: "", protocol: "" },
  });
});

test("an unavailable device has the time since when", async () => {
  expect(await h.json(`devices/${deviceId(5)}`)).toMatchObject({
    available: false,
    humanReadableLastUpdate: "disconnected since 2026-11-15T01:00:01Z",
  });
});

test("links: ends with port and device as strings, state, direction and verification", async () => {
  const { links } = await h.json<{ links: Link[] }>("links");
  expect(links).toHaveLength(10);
  const oneWay = links.find(({ src }) => src.port === "9");
  expect(oneWay).toMatchObject({
    src: { port: "9", device: deviceId(4) },
    dst: { port: "9", device: deviceId(5) },
    type: "DIRECT",
    state: "ACTIVE",
    id: `${deviceId(4)}/9-${deviceId(5)}/9`,
    bidirectional: false,
    verified: false,
  });
  expect(oneWay).not.toHaveProperty("annotations");
  expect(links.filter((link) => link.bidirectional)).toHaveLength(8);
  expect(links.find(({ type }) => type === "TUNNEL")).toMatchObject({
    state: "INACTIVE",
    annotations: { metric: "5" },
  });
});

test("hosts: VLANs as strings, canonical addresses, all locations and the first of them", async () => {
  expect(await h.json("hosts/00:00:00:00:00:02/10")).toMatchObject({
    id: "00:00:00:00:00:02/10",
    mac: "00:00:00:00:00:02",
    vlan: "10",
    innerVlan: "20",
    outerTpid: "0x0000",
    configured: true,
    suspended: false,
    ipAddresses: ["10.0.1.2"],
    locations: [
      { elementId: deviceId(2), port: "3" },
      { elementId: deviceId(1), port: "4" },
    ],
    location: { elementId: deviceId(2), port: "3" },
    annotations: { name: "printer" },
  });
  const host = await h.json("hosts/0A:00:00:00:00:03/None");
  expect(host).toMatchObject({ vlan: "None", innerVlan: "None", suspended: true, ipAddresses: [] });
  expect(host).not.toHaveProperty("annotations");
});

test("a device with its ports, as ONOS nests them", async () => {
  const device = await h.json(`devices/${deviceId(1)}`);
  const withPorts = await h.json<{ ports: unknown[] }>(`devices/${deviceId(1)}/ports`);
  const { ports, ...rest } = withPorts;
  expect(rest).toEqual(device);
  expect(ports).toMatchObject([
    {
      element: deviceId(1),
      port: "1",
      isEnabled: true,
      type: "copper",
      portSpeed: 10_000,
      annotations: { portName: "eth1" },
    },
    { element: deviceId(1), port: "local", isEnabled: false, portSpeed: 0 },
  ]);
  expect(await h.json(`devices/${deviceId(4)}/ports`)).toMatchObject({ ports: [] });
});

test("topology: the counts agree with the lists", async () => {
  const body = await h.json("topology");
  expect(Compile(Type.Object(Topology.properties, { additionalProperties: false })).Errors(body)).toEqual([]);
  // One cluster is the ring of four, the other the firewall alone; device 5 is unavailable.
  expect(body).toEqual({ time: 1794704401000, devices: 6, links: 10, clusters: 2, hosts: 3 });
});

test("clusters count from 0, with their devices and links", async () => {
  const { clusters } = await h.json<{ clusters: unknown[] }>("topology/clusters");
  for (const cluster of clusters) expect(Compile(Cluster).Check(cluster)).toBe(true);
  expect(clusters).toEqual([
    { id: 0, deviceCount: 1, linkCount: 0, root: "netconf:198.51.100.7:830" },
    { id: 1, deviceCount: 4, linkCount: 8, root: deviceId(1) },
  ]);
  expect(await h.json<unknown>("topology/clusters/1")).toEqual(clusters[1]);
  expect(await h.json("topology/clusters/1/devices")).toEqual({ devices: [1, 2, 3, 4].map(deviceId) });
  const { links } = await h.json<{ links: Link[] }>("topology/clusters/1/links");
  expect(links).toHaveLength(8);
  expect(links.every((link) => link.state === "ACTIVE")).toBe(true);
});

test("a link or host at an unknown device is held back, and counted in the metrics", async () => {
  const metrics = await (await h.fetch("/metrics")).text();
  expect(metrics).toContain('gazetteer_held_back{kind="links"} 1\n');
  expect(metrics).toContain('gazetteer_held_back{kind="hosts"} 1\n');
});

test(
  "after any changes the lists are in order, complete, and without dangling references",
  async () => {
    await fc.assert(
      fc.asyncProperty(anyNetwork, fc.array(anyStep, { maxLength: 8 }), async (first, steps) => {
        await using random = await openHarness();
        for (const step of [first, ...steps]) await random.apply(step.changes, step.source);
        for (const kind of KINDS) expect(lists[kind]?.Errors(await random.json(pathOf(kind)))).toEqual([]);
        const { devices } = await random.json<{ devices: Device[] }>("devices");
        const { links } = await random.json<{ links: Link[] }>("links");
        const { hosts } = await random.json<{ hosts: Host[] }>("hosts");
        const known = new Set(devices.map(({ id }) => id));
        for (const list of [devices, links, hosts]) {
          const ids = list.map(({ id }) => id);
          expect(ids).toEqual([...new Set(ids)].sort());
        }
        for (const { src, dst } of links) expect(known.has(src.device) && known.has(dst.device)).toBe(true);
        for (const { locations } of hosts) {
          expect(locations.length).toBeGreaterThan(0);
          expect(locations.every(({ elementId }) => known.has(elementId))).toBe(true);
        }
        const ids = new Set(links.map(({ id }) => id));
        for (const { src, dst, bidirectional } of links)
          expect(ids.has(`${dst.device}/${dst.port}-${src.device}/${src.port}`)).toBe(bidirectional);
        const topology = await random.json("topology");
        const clusters = await random.json<{ clusters: unknown[] }>("topology/clusters");
        expect(topology).toMatchObject({
          devices: devices.length,
          links: links.length,
          hosts: hosts.length,
          clusters: clusters.clusters.length,
        });
      }),
      { numRuns: runs(25) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);
