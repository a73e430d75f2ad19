import { expect, test } from "bun:test";
import type { Device, Host, Link } from "../model/entity.ts";
import { type EntityChange, renderChangeLine } from "./change-line.ts";
import type { ConnectPointJson } from "./network-names.ts";

const tracking = { firstSeen: "", lastChanged: "", sources: [], revision: 1 };
const device = (overrides: Partial<Device> = {}): Device => ({
  id: "of:1",
  type: "SWITCH",
  available: true,
  role: "MASTER",
  mfr: "Edgecore",
  hw: "AS7726",
  sw: "1",
  serial: "1",
  driver: "default",
  chassisId: "1",
  lastUpdate: "0",
  humanReadableLastUpdate: "connected",
  annotations: {},
  ...tracking,
  ...overrides,
});
const host = (port: string): Host => ({
  id: "AA:BB:CC:DD:EE:FF/None",
  mac: "AA:BB:CC:DD:EE:FF",
  vlan: "None",
  innerVlan: "None",
  outerTpid: "0x0000",
  configured: false,
  suspended: false,
  ipAddresses: ["10.0.0.1"],
  locations: [{ elementId: "of:1", port }],
  location: { elementId: "of:1", port },
  ...tracking,
});

/** Nothing has a name but the port 2 of `of:1`. */
const textOf = ({ device, port }: ConnectPointJson): string =>
  `${device}/${port}${port === "2" ? "[eth2]" : ""}`;
const render = (change: EntityChange, colour: boolean): string =>
  renderChangeLine(change, colour, { textOf });

test("an added entity is shown with its main fields", () => {
  expect(render({ event: "added", resource: "devices", value: device() }, false)).toBe(
    "+ device of:1  type: SWITCH  available: yes  mfr: Edgecore  hw: AS7726",
  );
});

test("an updated entity is shown without derived fields", () => {
  const changed = ["available", "lastUpdate", "humanReadableLastUpdate"];
  const value = device({ available: false });
  expect(render({ event: "updated", resource: "devices", value, changed }, false)).toBe(
    "~ device of:1  available: no",
  );
});

test("the value before is shown where it is known", () => {
  const change = { event: "updated", resource: "hosts", value: host("2"), before: host("1") } as const;
  expect(render({ ...change, changed: ["locations", "location"] }, false)).toBe(
    "~ host   AA:BB:CC:DD:EE:FF/None  locations: of:1/1 → of:1/2[eth2]",
  );
});

test("an entity that changed and changed back says so", () => {
  const change = { event: "updated", resource: "hosts", value: host("1"), before: host("1") } as const;
  expect(render({ ...change, changed: [] }, false)).toEndWith("changed and changed back");
});

test("a removed entity is shown in red", () => {
  expect(render({ event: "removed", resource: "hosts", value: host("1") }, true)).toBe(
    "\u001b[31m- host   AA:BB:CC:DD:EE:FF/None\u001b[0m",
  );
});

test("control characters are escaped and long values are cut", () => {
  const value = device({
    id: "of:1\n+ device of:666\u001b[2J\u009b",
    mfr: "x".repeat(10_000),
    hw: "\u202egnirts",
  });
  const line = render({ event: "added", resource: "devices", value }, false);
  expect(line).toStartWith("+ device of:1\\u000a+ device of:666\\u001b[2J\\u009b  ");
  expect(line).toContain("\\u202egnirts");
  expect(line.length).toBeLessThan(400);
});

test("names of an entity, and of the devices and ports that it refers to, are beside the id", () => {
  const named = device({ annotations: { name: " leaf-1 " } });
  expect(render({ event: "removed", resource: "devices", value: named }, false)).toBe(
    "- device of:1 (leaf-1)",
  );
  const web = { ...host("1"), annotations: { name: "web\n7" } };
  expect(render({ event: "removed", resource: "hosts", value: web }, false)).toBe(
    "- host   AA:BB:CC:DD:EE:FF/None (web\\u000a7)",
  );
  const link = (port: string): Link => ({
    src: { device: "of:1", port },
    dst: { device: "of:2", port: "1" },
    type: "DIRECT",
    state: "ACTIVE",
    id: `of:1/${port}-of:2/1`,
    bidirectional: true,
    verified: true,
    ...tracking,
  });
  expect(render({ event: "removed", resource: "links", value: link("2") }, false)).toBe(
    "- link   of:1/2-of:2/1 (of:1/2[eth2] > of:2/1)",
  );
  expect(render({ event: "removed", resource: "links", value: link("3") }, false)).toBe(
    "- link   of:1/3-of:2/1",
  );
});
