/** System, equipment, interfaces, aggregates, forwarding and address tables of one agent. */
import { describe, expect, test } from "bun:test";
import { type AgentObjects, agentReport, bytes, interfaces } from "../../../../test/support/snmp-agent.ts";

describe("the device", () => {
  test("from ENTITY-MIB: the chassis, and the stack where the chassis is silent", () => {
    const { device } = agentReport({
      sysDescr: "NX-OS 7.0",
      sysName: "core-1",
      sysObjectID: "1.3.6.1.4.1.9.12.3",
      sysLocation: "Room 4",
      sysContact: "noc@example.net",
      entPhysicalClass: { 1: 10, 10: 11, 149: 3, 150: 3 },
      entPhysicalModelName: { 10: "Stack", 149: "N3K", 150: "N2K" },
      entPhysicalSerialNum: { 10: "FOX0", 149: "FOX1" },
      entPhysicalMfgName: { 10: "Cisco Systems", 149: "" },
      entPhysicalSoftwareRev: { 1: "ignored" },
    });
    expect(device).toEqual({
      type: "OTHER",
      mfr: "Cisco Systems",
      hw: "N3K",
      sw: "NX-OS 7.0",
      serial: "FOX1",
      annotations: {
        channelId: "192.0.2.1:161",
        protocol: "SNMP",
        managementAddress: "192.0.2.1",
        name: "core-1",
        description: "NX-OS 7.0",
        sysObjectID: "1.3.6.1.4.1.9.12.3",
        location: "Room 4",
        contact: "noc@example.net",
      },
    });
  });

  test("without ENTITY-MIB: the manufacturer by sysObjectID, the rest by sysDescr", () => {
    const { device } = agentReport({ sysDescr: "RouterOS CRS317", sysObjectID: "1.3.6.1.4.1.14988.1" });
    expect(device).toMatchObject({ mfr: "MikroTik", hw: "RouterOS CRS317", sw: "RouterOS CRS317" });
  });

  test.each<[string, AgentObjects, string]>([
    ["capabilities of LLDP", { lldpLocSysCapEnabled: bytes("28"), sysServices: 72 }, "SWITCH"],
    ["a router by LLDP", { lldpLocSysCapEnabled: bytes("08"), sysServices: 2 }, "ROUTER"],
    ["layer 2 and 3", { sysServices: 78 }, "SWITCH"],
    ["layer 3", { sysServices: 4 }, "ROUTER"],
    ["a host", { sysServices: 72 }, "SERVER"],
    ["a bridge", { sysServices: 72, dot1dBasePortIfIndex: { 1: 1 } }, "SWITCH"],
    ["nothing", {}, "OTHER"],
  ])("its type: %s", (_, objects, type) => {
    expect<string | undefined>(agentReport(objects).device.type).toBe(type);
  });
});

describe("the identity", () => {
  test("has the MAC addresses and IP addresses of the device", () => {
    const { identity } = agentReport({
      ...interfaces({
        1: { name: "lo", type: 24, mac: "00:00:00:00:00:00" },
        2: { name: "eth0", mac: "52:54:00:00:00:01" },
        3: { name: "eth1", mac: "00:1C:73:00:00:02" },
        4: { name: "vlan1", type: 135, mac: "00:1C:73:00:00:01" },
        5: { name: "vrrp", mac: "00:00:5E:00:01:0A" },
      }),
      dot1dBaseBridgeAddress: bytes("001C730000FF"),
      ipAdEntIfIndex: { "10.0.0.1": 2, "127.0.0.1": 1 },
      ipAddressIfIndex: { "2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1": 2, "2": 7 },
    });
    expect(identity).toEqual({
      bridgeAddress: "00:1C:73:00:00:FF",
      // Burnt in, not of a VLAN and not locally administered.
      lowestMac: "00:1C:73:00:00:02",
      macs: ["00:1C:73:00:00:01", "00:1C:73:00:00:02", "00:1C:73:00:00:FF", "52:54:00:00:00:01"],
      addresses: ["10.0.0.1", "192.0.2.1", "2001:db8::1"],
    });
  });

  test("placeholders are no serial number and no name", () => {
    const objects = {
      sysName: "localhost",
      entPhysicalClass: { 1: 3 },
      entPhysicalSerialNum: { 1: "0000000" },
    };
    expect(agentReport(objects).identity).toEqual({ macs: [], addresses: ["192.0.2.1"] });
  });
});

describe("interfaces", () => {
  test("names, speeds and states", () => {
    const { interfaces: ports } = agentReport({
      ifDescr: { 1: "Ethernet One", 2: "Two", 3: "", 4: "Four" },
      ifName: { 1: "e1" },
      ifAlias: { 1: "to core" },
      ifType: { 1: 6, 2: 6, 3: 6, 4: 6 },
      ifHighSpeed: { 1: 10_000, 2: 0 },
      ifSpeed: { 1: 4_294_967_295, 2: 100_000_000, 3: 4_294_967_295 },
      ifAdminStatus: { 1: 1, 2: 2, 3: 1 },
      ifOperStatus: { 1: 1, 2: 1, 3: 7, 4: 1 },
    });
    expect(ports.map(({ name, alias, speedMbps, isUp }) => [name, alias, speedMbps, isUp])).toEqual([
      ["e1", "to core", 10_000, true],
      ["Two", "", 100, false],
      ["3", "", 0, false],
      ["Four", "", 0, true],
    ]);
  });

  test("a row whose index is no number of an interface is left out", () => {
    const { interfaces: ports } = agentReport({
      ifName: { "0": "zero", "7.1": "x", "-1": "y", "8": "eth8" },
    });
    expect(ports.map(({ name }) => name)).toEqual(["eth8"]);
  });

  const LAG = {
    ...interfaces({
      1: { name: "A1", mac: "02:00:00:00:00:01" },
      2: { name: "A2", mac: "02:00:00:00:00:02" },
      9: { name: "Trk1", type: 161, mac: "02:00:00:00:00:01" },
      20: { name: "VLAN1", type: 53, mac: "02:00:00:00:00:01" },
    }),
  };
  const aggregates = (objects: AgentObjects) =>
    agentReport(objects).interfaces.flatMap(({ index, aggregate }) =>
      aggregate ? [[index, aggregate]] : [],
    );

  test.each<[string, AgentObjects, number[][]]>([
    [
      "IEEE8023-LAG-MIB",
      { dot3adAggPortAttachedAggID: { 1: 9, 2: 9 } },
      [
        [1, 9],
        [2, 9],
      ],
    ],
    [
      "selected, not attached yet",
      { dot3adAggPortSelectedAggID: { 2: 9 }, dot3adAggPortAttachedAggID: { 2: 0 } },
      [[2, 9]],
    ],
    [
      "attached to itself or to no interface: not aggregated",
      { dot3adAggPortAttachedAggID: { 1: 1, 2: 77 } },
      [],
    ],
    [
      "ifStackTable",
      { ifStackStatus: { "0.9": 1, "9.1": 1, "9.2": 1, "1.0": 1 } },
      [
        [1, 9],
        [2, 9],
      ],
    ],
    ["ifStackTable: a VLAN is no aggregate", { ifStackStatus: { "9.2": 1, "20.1": 1 } }, [[2, 9]]],
    ["no table: the ports with its MAC address", {}, [[1, 9]]],
  ])("aggregates: %s", (_, objects, expected) => {
    expect(aggregates({ ...LAG, ...objects })).toEqual(expected);
  });

  test("aggregates of Linux: by name, all members with its address", () => {
    const mac = "52:54:00:00:00:01";
    const objects = interfaces({
      2: { name: "eth0", mac },
      3: { name: "eth1", mac },
      4: { name: "bond0", mac },
    });
    expect(aggregates(objects)).toEqual([
      [2, 4],
      [3, 4],
    ]);
  });
});

describe("the forwarding table", () => {
  const PORTS = interfaces({ 101: { name: "p1", mac: "02:00:00:00:00:01" }, 102: "p2", 5: "p5" });
  const bridge = { ...PORTS, dot1dBasePortIfIndex: { 1: 101, 2: 102, 4105: 5 } };
  const entries = (objects: AgentObjects) =>
    agentReport(objects).forwarding.map(({ mac, vlan, port, isUntagged }) => [mac, vlan, port, isUntagged]);
  const A = "0.27.33.0.0.1";
  const MAC_A = "00:1B:21:00:00:01";

  test("bridge ports are not ifIndexes", () => {
    expect(entries({ ...bridge, dot1dTpFdbPort: { [A]: 2 } })).toEqual([[MAC_A, undefined, 102, true]]);
    expect(entries({ ...bridge, dot1dTpFdbPort: { [A]: 4105 } })).toEqual([[MAC_A, undefined, 5, true]]);
  });

  test("without a table of bridge ports they are", () => {
    expect(entries({ ...PORTS, dot1dTpFdbPort: { [A]: 102 } })).toEqual([[MAC_A, undefined, 102, true]]);
  });

  test("RouterOS has ifIndexes although it has bridge ports: its own entries show it", () => {
    const dot1dBasePortIfIndex = { 101: 5, 102: 101, 5: 102 };
    const own = { "2.0.0.0.0.1": 101 };
    const objects = { ...PORTS, dot1dBasePortIfIndex, dot1dTpFdbPort: { [A]: 5, ...own } };
    expect(entries(objects)).toEqual([[MAC_A, undefined, 5, true]]);
    const status = { dot1dTpFdbStatus: { [A]: 3, "2.0.0.0.0.1": 4 } };
    expect(entries({ ...objects, ...status })).toEqual([[MAC_A, undefined, 5, true]]);
    const without = { ...objects, dot1dTpFdbPort: { [A]: 5 } };
    expect(entries(without)).toEqual([[MAC_A, undefined, 102, true]]);
  });

  test("port 0, ports that no interface has, group addresses and the device itself are left out", () => {
    const dot1dTpFdbPort = {
      "0.27.33.0.0.2": 0,
      "0.27.33.0.0.3": 4106,
      "1.0.94.0.0.1": 1,
      "2.0.0.0.0.1": 1,
      "0.27.33": 1,
      "0.27.33.0.0.999": 1,
    };
    expect(entries({ ...bridge, dot1dTpFdbPort })).toEqual([]);
    expect(entries({ ...bridge, dot1dTpFdbPort: { [A]: 1 }, dot1dTpFdbStatus: { [A]: 2 } })).toEqual([]);
  });

  test.each<[string, AgentObjects, number | undefined, boolean]>([
    ["an access VLAN: the PVID", { dot1qPvid: { 2: 10 } }, 10, true],
    ["a tagged VLAN", { dot1qPvid: { 2: 1 } }, 10, false],
    ["the untagged ports of the VLAN", { dot1qVlanCurrentUntaggedPorts: { "0.10": bytes("40") } }, 10, true],
    [
      "another PVID, but untagged there",
      { dot1qPvid: { 2: 1 }, dot1qVlanCurrentUntaggedPorts: { "0.10": bytes("40") } },
      10,
      true,
    ],
    ["a database with another number", { dot1qVlanFdbId: { "0.30": 10 }, dot1qPvid: { 2: 30 } }, 30, true],
    [
      "a database of several VLANs, one with its number",
      { dot1qVlanFdbId: { "0.10": 10, "0.24": 10 } },
      10,
      false,
    ],
  ])("VLANs: %s", (_, objects, vlan, isUntagged) => {
    const table = { ...bridge, dot1qTpFdbPort: { [`10.${A}`]: 2 } };
    expect(entries({ ...table, ...objects })).toEqual([[MAC_A, vlan, 102, isUntagged]]);
  });
});

test("ARP and ND tables, with zones, without invalid entries", () => {
  const { addressTable } = agentReport({
    ipNetToMediaPhysAddress: {
      "3.192.0.2.7": bytes("001B21000001"),
      "3.192.0.2.8": bytes("001B21000002"),
      "3.0.0.0.0": bytes("001B21000003"),
    },
    ipNetToMediaType: { "3.192.0.2.7": 3, "3.192.0.2.8": 2 },
    ipNetToPhysicalPhysAddress: {
      "3.1.4.192.0.2.7": bytes("001B21000001"),
      "3.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.7": bytes("001B21000001"),
      "3.4.20.254.128.0.0.0.0.0.0.0.0.0.0.0.0.0.7.0.0.0.3": bytes("001B21000001"),
      "3.1": bytes("001B21000001"),
    },
  });
  expect(addressTable).toEqual([
    { mac: "00:1B:21:00:00:01", ip: "192.0.2.7", port: 3 },
    { mac: "00:1B:21:00:00:01", ip: "2001:db8::7", port: 3 },
    { mac: "00:1B:21:00:00:01", ip: "fe80::7", port: 3 },
  ]);
});
