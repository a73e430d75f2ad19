/** Habits of agents in LLDP-MIB and CISCO-CDP-MIB, as recordings of real devices have them. */
import { describe, expect, test } from "bun:test";
import { type AgentObjects, agentReport, bytes, interfaces } from "../../../../test/support/snmp-agent.ts";
import { readLldp } from "../../openflow/codec/lldp.ts";
import type { Neighbour } from "./agent-report.ts";

const MAC = "64:D1:54:F2:A4:16";
const PORTS = interfaces({
  1: { name: "ether1", mac: "02:00:00:00:00:01" },
  2: { name: "ether2", mac: "02:00:00:00:00:02" },
  7: { name: "ether7", mac: "02:00:00:00:00:07" },
  48: { name: "ether48" },
});

/** A row of the remote table with a usual chassis and port, unless given. */
const row = (index: string, more: AgentObjects = {}): AgentObjects => ({
  lldpRemChassisIdSubtype: { [index]: 4 },
  lldpRemChassisId: { [index]: bytes(MAC) },
  lldpRemPortIdSubtype: { [index]: 5 },
  lldpRemPortId: { [index]: "Gi0/1" },
  ...more,
});

const only = (objects: AgentObjects): Neighbour | undefined => agentReport(objects).neighbours[0];

describe("the local port", () => {
  const cases: readonly [string, AgentObjects, string | undefined][] = [
    ["an ifIndex", row("0.7.1"), "7 ifIndex"],
    ["a bridge port", row("0.33.1", { dot1dBasePortIfIndex: { 33: 7 } }), "7 dot1dBasePort"],
    [
      "both an ifIndex and a bridge port: the ifIndex",
      row("0.1.1", { dot1dBasePortIfIndex: { 1: 7 } }),
      "1 ifIndex",
    ],
    [
      "both, and the local port table names another one",
      row("0.1.1", { dot1dBasePortIfIndex: { 1: 7 }, lldpLocPortId: { 1: "ether7" } }),
      "7 lldpLocPortId ifName",
    ],
    [
      "found by the name alone",
      row("0.901.1", { lldpLocPortId: { 901: "ether2" } }),
      "2 lldpLocPortId ifName",
    ],
    [
      "found by ifDescr",
      row("0.901.1", { ifDescr: { 2: "Gigabit 2" }, lldpLocPortId: { 901: "Gigabit 2" } }),
      "2 lldpLocPortId ifDescr",
    ],
    [
      "found by the description of the local port",
      row("0.901.1", { ifAlias: { 2: "uplink" }, lldpLocPortDesc: { 901: "uplink" } }),
      "2 lldpLocPortDesc ifAlias",
    ],
    [
      "found by MAC address, without a subtype",
      row("0.901.1", { lldpLocPortId: { 901: bytes("02:00:00:00:00:02") } }),
      "2 lldpLocPortId ifPhysAddress",
    ],
    ["one part of the index (Cambium)", row("7"), "7 ifIndex"],
    [
      "one part of the index, with RouterOS' own table",
      row("7", { mtxrNeighborInterfaceID: { 7: 2 } }),
      "2 mtxrNeighborInterfaceID",
    ],
    ["two parts of the index (TP-Link)", row("7.1"), "7 ifIndex"],
    ["two parts, of which the first is no port", row("0.7"), "7 ifIndex"],
    ["a time mark that is a port too", row("2.7.1"), "7 ifIndex"],
    ["no interface", row("0.901.1"), undefined],
    ["an index that is none", row("x.y"), undefined],
  ];
  test.each(cases)("%s", (_, objects, expected) => {
    const port = only({ ...PORTS, ...objects })?.localPort;
    expect(port && `${port.index} ${port.how}`).toBe(expected);
  });

  test("of two interfaces with one name, the one with the number", () => {
    const twins = interfaces({
      100: "Ethernet 0/3",
      101: { name: "Ethernet 0/3", isUp: false },
      102: "other",
    });
    const objects = { ...twins, ...row("0.3.1", { lldpLocPortId: { 3: "Ethernet 0/3" } }) };
    expect(only(objects)?.localPort?.index).toBe(100);
    expect(only({ ...objects, dot1dBasePortIfIndex: { 3: 101 } })?.localPort?.index).toBe(101);
  });
});

describe("the id of a neighbour", () => {
  const chassis = (subtype: number, id: string | Uint8Array, more: AgentObjects = {}): AgentObjects =>
    row("0.7.1", {
      lldpRemChassisIdSubtype: { "0.7.1": subtype },
      lldpRemChassisId: { "0.7.1": id },
      ...more,
    });
  const name = { lldpRemSysName: { "0.7.1": "esx-4.example.net" } };
  const macPort = {
    lldpRemPortIdSubtype: { "0.7.1": 3 },
    lldpRemPortId: { "0.7.1": bytes("00:04:F2:C6:70:78") },
  };
  const cases: readonly [string, AgentObjects, string | undefined][] = [
    ["a MAC address", chassis(4, bytes(MAC)), `lldp:${MAC}`],
    ["a MAC address in ASCII (RouterOS)", chassis(4, "64:d1:54:f2:a4:16"), `lldp:${MAC}`],
    ["subtype 0", chassis(0, MAC), `lldp:${MAC}`],
    ["a local name", chassis(7, "core switch 1"), "lldp:core_switch_1"],
    ["a local name of twelve digits is no MAC address", chassis(7, "123456789012"), "lldp:123456789012"],
    ["a chassis component", chassis(1, "FOX1234"), "lldp:FOX1234"],
    ["an interface name: the system's name (ESXi)", chassis(6, "vmnic2", name), "snmp:esx-4.example.net"],
    ["an interface name declared a MAC address", chassis(4, "vmnic2", name), "snmp:esx-4.example.net"],
    [
      "an interface name, no system name: the port's address",
      chassis(6, "vmnic2", macPort),
      "lldp:00:04:F2:C6:70:78",
    ],
    [
      "an interface name, no system name: a management address of layer 2, without its length (SLX)",
      chassis(6, "vmnic2", { lldpRemManAddrIfSubtype: { "0.7.1.6.176.38.40.122.23.81": 1 } }),
      "lldp:B0:26:28:7A:17:51",
    ],
    ["an interface name alone", chassis(6, "vmnic2"), undefined],
    [
      "an IP address may change: the port's MAC address",
      chassis(5, bytes("01 0A382071"), macPort),
      "lldp:00:04:F2:C6:70:78",
    ],
    [
      "an IP address, no MAC address: the system's name",
      chassis(5, bytes("01 0A382071"), name),
      "snmp:esx-4.example.net",
    ],
    ["an IP address alone", chassis(5, bytes("01 0A382071")), undefined],
    ["a placeholder", chassis(7, "unknown"), undefined],
    ["no chassis id", chassis(4, bytes("")), undefined],
    ["a probe of an OpenFlow controller", chassis(7, "of:0000000000000001"), undefined],
  ];
  test.each(cases)("%s", (_, objects, expected) => {
    expect(only({ ...PORTS, ...objects })?.id).toBe(expected);
  });

  test("what identifies no device is one fault, and its port is no edge port when it forwards", () => {
    const objects = chassis(6, "vmnic2", { lldpRemSysCapEnabled: { "0.7.1": bytes("20") } });
    const report = agentReport({ ...PORTS, ...objects });
    expect(report.faults.map(({ fault }) => fault.field)).toEqual(["lldpRemTable.0.7.1"]);
    expect(report.unidentifiedUplinks).toEqual([7]);
  });

  test.each([
    [4, bytes(MAC)],
    [7, new TextEncoder().encode("core switch 1")],
    [1, new TextEncoder().encode("FOX1234")],
    [7, bytes("00FF10")],
  ])("is made of the text that the OpenFlow source has for chassis subtype %d", (subtype, value) => {
    const tlv = (type: number, body: readonly number[]) => [type << 1, body.length, ...body];
    const frame = [...tlv(1, [subtype, ...value]), ...tlv(2, [7, 0x31]), ...tlv(3, [0, 120]), 0, 0];
    const objects = chassis(subtype, value);
    expect(only({ ...PORTS, ...objects })?.chassis).toBe(readLldp(Uint8Array.from(frame)).chassis);
  });

  test("the device's own chassis id has the same text as in the tables of its neighbours", () => {
    const own = { lldpLocChassisIdSubtype: 4, lldpLocChassisId: bytes(MAC) };
    expect(agentReport({ ...PORTS, ...own }).identity.chassis).toBe(MAC);
    expect(agentReport({ ...PORTS, lldpLocChassisId: bytes(MAC) }).identity.chassis).toBe(MAC);
    expect(agentReport({ ...PORTS, lldpLocChassisId: "core-1" }).identity.chassis).toBe("core-1");
    const ofInterface = { lldpLocChassisIdSubtype: 6, lldpLocChassisId: "eth0" };
    expect(agentReport({ ...PORTS, ...ofInterface }).identity.chassis).toBeUndefined();
  });
});

test("the port id is canonical, printable or hex", () => {
  const port = (subtype: number, id: string | Uint8Array) =>
    only({
      ...PORTS,
      ...row("0.7.1", { lldpRemPortIdSubtype: { "0.7.1": subtype }, lldpRemPortId: { "0.7.1": id } }),
    });
  expect(port(3, bytes("aabbccddeeff"))).toMatchObject({
    portId: "AA:BB:CC:DD:EE:FF",
    portMac: "AA:BB:CC:DD:EE:FF",
  });
  expect(port(5, "Gi0/1")?.portId).toBe("Gi0/1");
  expect(port(1, "to core \u0000\u0000")?.portId).toBe("to core");
  expect(port(7, bytes("0001FF"))?.portId).toBe("0001ff");
  expect(port(5, "")?.portId).toBe("");
});

test("capabilities: bits, their hex digits as text, and an integer with the first bit lowest", () => {
  const of = (value: Uint8Array | string | number) =>
    only({ ...PORTS, ...row("0.7.1", { lldpRemSysCapEnabled: { "0.7.1": value } }) })?.capabilities;
  expect(of(bytes("28"))).toEqual(["bridge", "router"]);
  expect(of(bytes("2800"))).toEqual(["bridge", "router"]);
  expect(of("28 00 2 4")).toEqual(["bridge", "router"]);
  expect(of(20)).toEqual(["bridge", "router"]);
  expect(of(36)).toEqual(["bridge", "telephone"]);
  expect(of(0)).toEqual([]);
});

test("management addresses: with and without their length, without those of nobody", () => {
  const objects = row("0.7.1", {
    lldpRemManAddrIfSubtype: {
      "0.7.1.1.4.192.0.2.7": 2,
      "0.7.1.1.192.0.2.8": 2,
      "0.7.1.1.4.0.0.0.0": 2,
      "0.7.1.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1": 2,
      "0.8.1.1.4.192.0.2.9": 2,
    },
  });
  expect(only({ ...PORTS, ...objects })?.addresses).toEqual(["192.0.2.7", "192.0.2.8", "2001:db8::1"]);
});

describe("CDP", () => {
  const cdp = (deviceId: string, more: AgentObjects = {}): AgentObjects => ({
    ...PORTS,
    cdpCacheDeviceId: { "7.1": deviceId },
    cdpCacheDevicePort: { "7.1": "GigabitEthernet0/1" },
    cdpCacheAddressType: { "7.1": 1 },
    cdpCacheAddress: { "7.1": bytes("C0000207") },
    cdpCacheCapabilities: { "7.1": bytes("00000029") },
    ...more,
  });

  test.each([
    ["core-1.example.net", "snmp:core-1.example.net", []],
    ["core-1(FOX1234)", "serial:FOX1234", ["snmp:core-1"]],
    ["0011.2233.4455", "lldp:00:11:22:33:44:55", []],
  ])("the device id %s", (deviceId, id, aliases) => {
    expect(only(cdp(deviceId))).toMatchObject({
      id,
      aliases,
      protocols: ["CDP"],
      localPort: { index: 7, how: "ifIndex" },
      portId: "GigabitEthernet0/1",
      addresses: ["192.0.2.7"],
      capabilities: ["bridge", "router"],
    });
  });

  test("one neighbour with LLDP on the same port, identified by LLDP", () => {
    const { neighbours } = agentReport({
      ...row("0.7.1"),
      ...cdp("core-1", { cdpCachePlatform: { "7.1": "N3K" } }),
    });
    expect(neighbours).toHaveLength(1);
    expect(neighbours[0]).toMatchObject({
      id: `lldp:${MAC}`,
      aliases: ["snmp:core-1"],
      protocols: ["LLDP", "CDP"],
      portId: "Gi0/1",
      platform: "N3K",
      name: "core-1",
    });
  });

  test("two neighbours on one port differ by their names", () => {
    const named = row("0.7.1", { lldpRemSysName: { "0.7.1": "Core-1" } });
    const two = { "7.1": "core-1.example.net", "7.2": "phone-7" };
    const { neighbours } = agentReport({ ...named, ...cdp(""), cdpCacheDeviceId: two });
    expect(neighbours.map(({ id }) => id)).toEqual([`lldp:${MAC}`, "snmp:phone-7"]);
  });
});
