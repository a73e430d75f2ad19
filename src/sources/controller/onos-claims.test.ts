/** Cases from bodies of ONOS 2.7.0's own REST application, unless they say otherwise. */
import { describe, expect, test } from "bun:test";
import { forKinds, type Kind } from "../../model/ids.ts";
import { mapOnosLists } from "./onos.ts";

const mapOne = (kind: Kind, record: unknown) => {
  const { claims, faults } = mapOnosLists({ ...forKinds(() => []), [kind]: [record] });
  return claims[kind][0] ?? faults[0]?.fault;
};

const A1 = "of:00000000000000a1";
const B2 = "of:00000000000000b2";

const CASES: readonly { name: string; kind: Kind; record: unknown; claim: unknown }[] = [
  {
    name: "a device: the text about its last update is not claimed",
    kind: "devices",
    record: {
      id: A1,
      type: "SWITCH",
      available: true,
      role: "MASTER",
      mfr: "Nicira, Inc.",
      hw: "Open vSwitch",
      sw: "2.17.9",
      serial: "None",
      driver: "ovs",
      chassisId: "1",
      lastUpdate: "1700000000000",
      humanReadableLastUpdate: "connected 1096d23h ago",
      annotations: { channelId: "192.0.2.1:4000", managementAddress: "192.0.2.1", protocol: "OF_13" },
    },
    claim: {
      id: A1,
      type: "SWITCH",
      available: true,
      role: "MASTER",
      mfr: "Nicira, Inc.",
      hw: "Open vSwitch",
      sw: "2.17.9",
      serial: "None",
      driver: "ovs",
      chassisId: "1",
      lastUpdate: "1700000000000",
      annotations: { channelId: "192.0.2.1:4000", managementAddress: "192.0.2.1", protocol: "OF_13" },
    },
  },
  {
    name: "a device with defaults and empty texts: what ONOS does not know is not claimed",
    kind: "devices",
    record: {
      id: "rest:roadm-1",
      type: "ROADM_OTN",
      available: false,
      role: "NONE",
      mfr: "",
      hw: "unknown",
      sw: "unknown",
      serial: "unknown",
      driver: "default",
      chassisId: "0",
      lastUpdate: "0",
      humanReadableLastUpdate: "disconnected 20000d ago",
      annotations: {},
    },
    claim: { id: "rest:roadm-1", type: "ROADM_OTN", available: false, role: "NONE" },
  },
  { name: "missing keys", kind: "devices", record: { id: A1 }, claim: { id: A1 } },
  {
    name: "null in place of a missing key, and a time before any update (constructed)",
    kind: "devices",
    record: { id: A1, mfr: null, annotations: null, lastUpdate: "-1" },
    claim: { id: A1 },
  },
  {
    name: "keys of a later version (constructed)",
    kind: "devices",
    record: { id: A1, uptime: 12, sources: ["x"], __proto__x: 1 },
    claim: { id: A1 },
  },
  {
    name: "a named port",
    kind: "ports",
    record: { element: B2, port: "[eth9](9)", isEnabled: true, type: "copper", portSpeed: 10000 },
    claim: {
      element: B2,
      port: "9",
      isEnabled: true,
      type: "copper",
      portSpeed: 10000,
      annotations: { portName: "eth9" },
    },
  },
  {
    name: "the port of the switch itself, in a list of ports",
    kind: "ports",
    record: {
      element: A1,
      port: "local",
      isEnabled: true,
      type: "copper",
      portSpeed: 10000,
      annotations: { portName: "br0" },
    },
    claim: {
      element: A1,
      port: "local",
      isEnabled: true,
      type: "copper",
      portSpeed: 10000,
      annotations: { portName: "br0" },
    },
  },
  {
    name: "a port without annotations has no such key",
    kind: "ports",
    record: { element: A1, port: "4", isEnabled: false, type: "och", portSpeed: 0 },
    claim: { element: A1, port: "4", isEnabled: false, type: "och", portSpeed: 0 },
  },
  {
    name: "a link between the ports LOCAL and a named one",
    kind: "links",
    record: {
      src: { port: "LOCAL", device: B2 },
      dst: { port: "[eth1](1)", device: A1 },
      type: "VIRTUAL",
      state: "ACTIVE",
    },
    claim: {
      src: { port: "local", device: B2 },
      dst: { port: "1", device: A1 },
      type: "VIRTUAL",
      state: "ACTIVE",
    },
  },
  {
    name: "a host with auxiliary locations, in the order of the ids",
    kind: "hosts",
    record: {
      id: "00:00:00:00:00:06/None",
      mac: "00:00:00:00:00:06",
      vlan: "None",
      innerVlan: "None",
      outerTpid: "0x0000",
      configured: false,
      suspended: false,
      ipAddresses: [],
      locations: [{ elementId: A1, port: "9" }],
      auxLocations: [
        { elementId: "of:00000000000000c3", port: "LOCAL" },
        { elementId: B2, port: "9" },
      ],
    },
    claim: {
      mac: "00:00:00:00:00:06",
      vlan: "None",
      innerVlan: "None",
      outerTpid: "0x0000",
      configured: false,
      suspended: false,
      ipAddresses: [],
      locations: [{ elementId: A1, port: "9" }],
      auxLocations: [
        { elementId: B2, port: "9" },
        { elementId: "of:00000000000000c3", port: "local" },
      ],
    },
  },
  {
    name: "the VLAN -1, and one location, as in old releases (constructed)",
    kind: "hosts",
    record: {
      id: "x",
      mac: "00:00:00:00:00:0a",
      vlan: "-1",
      location: { elementId: A1, port: "1", time: 9 },
    },
    claim: { mac: "00:00:00:00:00:0A", vlan: "None", locations: [{ elementId: A1, port: "1" }] },
  },
  {
    name: "a host of any VLAN",
    kind: "hosts",
    record: { mac: "00:00:00:00:00:08", vlan: "Any", locations: [{ elementId: A1, port: "2" }] },
    claim: { mac: "00:00:00:00:00:08", vlan: "Any", locations: [{ elementId: A1, port: "2" }] },
  },
];

describe("records", () => {
  for (const { name, kind, record, claim } of CASES) {
    test(name, () => {
      expect(mapOne(kind, record)).toEqual(claim as ReturnType<typeof mapOne>);
    });
  }
});

test("the order of locations does not matter", () => {
  const [one, other] = [
    { elementId: A1, port: "8" },
    { elementId: B2, port: "7" },
  ];
  const host = (locations: unknown[]) => mapOne("hosts", { mac: "00:00:00:00:00:03", locations });
  expect(host([other, one])).toEqual(host([one, other]));
});

test("malformed records are left out one by one, the rest is claimed", () => {
  const { claims, faults } = mapOnosLists({
    devices: [
      { id: A1 },
      null,
      "of:1",
      [],
      { id: "" },
      { id: 5 },
      { id: B2, type: "TOASTER" },
      { id: B2, available: "yes" },
    ],
    ports: [
      { element: A1, port: "x" },
      { element: A1, port: "1" },
    ],
    links: [
      { src: 1, dst: 2 },
      { src: { device: A1, port: "1" }, dst: { device: A1, port: "1" } },
    ],
    hosts: [
      { mac: "x", locations: [{ elementId: A1, port: "1" }] },
      { mac: "00:00:00:00:00:01", locations: [] },
    ],
  });
  expect(claims).toEqual({
    devices: [{ id: A1 }],
    ports: [{ element: A1, port: "1" }],
    links: [],
    hosts: [],
  });
  expect(faults.map(({ kind, fault }) => `${kind} ${fault.field}`)).toEqual([
    "devices ",
    "devices ",
    "devices ",
    "devices /id",
    "devices /id",
    "devices /type",
    "devices /available",
    "ports /port",
    "links /src",
    "links /dst",
    "hosts /mac",
    "hosts /locations",
  ]);
});
