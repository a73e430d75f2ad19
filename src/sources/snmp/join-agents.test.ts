/** Several agents together: ids, cables from both ends, hosts on edge ports, agents that do not answer. */
import { describe, expect, test } from "bun:test";
import { type AgentObjects, agentReport, bytes, interfaces } from "../../../test/support/snmp-agent.ts";
import { canonicalClaim } from "../../model/claim.ts";
import { portNumberOfName } from "../../model/derived-ids.ts";
import { linkId } from "../../model/ids.ts";
import type { AgentReport } from "./agent-report.ts";
import { type JoinedAgents, joinAgents, type PolledAgent } from "./join-agents.ts";

const mac = (device: number, port: number): string => `00:1B:21:00:0${device}:0${port}`;
const chassisId = (device: number): string => `lldp:${mac(device, 0)}`;

interface Wire {
  readonly port: number;
  readonly to: number;
  readonly toPort: string | Uint8Array;
  readonly toPortSubtype?: number;
}

/** Switch number `device` with ports 1 to 4, its own chassis id, and neighbours. */
function switchObjects(device: number, wires: readonly Wire[] = [], more: AgentObjects = {}): AgentObjects {
  const ports = [1, 2, 3, 4].map((port) => [port, { name: `eth${port}`, mac: mac(device, port) }]);
  const rows = (value: (wire: Wire) => string | number | Uint8Array) =>
    Object.fromEntries(wires.map((wire, i) => [`0.${wire.port}.${i + 1}`, value(wire)]));
  return {
    ...interfaces(Object.fromEntries(ports)),
    sysName: `switch-${device}`,
    lldpLocChassisIdSubtype: 4,
    lldpLocChassisId: bytes(mac(device, 0)),
    lldpRemChassisIdSubtype: rows(() => 4),
    lldpRemChassisId: rows(({ to }) => bytes(mac(to, 0))),
    lldpRemPortIdSubtype: rows(({ toPortSubtype }) => toPortSubtype ?? 5),
    lldpRemPortId: rows(({ toPort }) => toPort),
    lldpRemSysName: rows(({ to }) => `switch-${to}`),
    lldpRemSysCapEnabled: rows(() => bytes("20")),
    ...more,
  };
}

const target = (device: number): string => `192.0.2.${device}:161`;
const switchReport = (device: number, wires: readonly Wire[] = [], more: AgentObjects = {}): AgentReport =>
  agentReport(switchObjects(device, wires, more), target(device));

const join = (reports: readonly AgentReport[], previous?: readonly string[]): JoinedAgents =>
  joinAgents(
    reports.map((report) => ({ report })),
    new Set(previous),
  );
const ids = ({ claims }: JoinedAgents): string[] => claims.devices.map(({ id }) => id).sort();
const linkIds = ({ claims }: JoinedAgents): string[] =>
  claims.links.map(({ src, dst }) =>
    linkId({ device: src.device, port: String(src.port) }, { device: dst.device, port: String(dst.port) }),
  );

describe("cables", () => {
  const there = { port: 1, to: 2, toPort: "eth3" };
  const back = { port: 3, to: 1, toPort: "eth1" };

  test("reported by both ends: two links, one a direction", () => {
    const joined = join([switchReport(1, [there]), switchReport(2, [back])]);
    expect(linkIds(joined)).toEqual([
      `${chassisId(1)}/1-${chassisId(2)}/3`,
      `${chassisId(2)}/3-${chassisId(1)}/1`,
    ]);
    expect(joined.claims.links[0]).toEqual({
      src: { device: chassisId(1), port: "1" },
      dst: { device: chassisId(2), port: "3" },
      type: "DIRECT",
      state: "ACTIVE",
      verified: false,
      annotations: { protocol: "LLDP", matchedBy: "src ifIndex; dst ifIndex" },
    });
  });

  test("reported by one end: kept and marked, and it says how the other port was found", () => {
    const joined = join([switchReport(1, [there]), switchReport(2)]);
    expect(linkIds(joined)).toHaveLength(2);
    expect(joined.claims.links[0]?.annotations).toEqual({
      protocol: "LLDP",
      matchedBy: "src ifIndex; dst portId ifName",
      oneSided: "true",
    });
    expect(joined.claims.links[1]?.annotations?.matchedBy).toBe("src portId ifName; dst ifIndex");
  });

  test.each<[string, Wire, string]>([
    ["a MAC address", { ...there, toPort: bytes(mac(2, 3)), toPortSubtype: 3 }, "portId ifPhysAddress"],
    ["a number", { ...there, toPort: "3", toPortSubtype: 7 }, "ifIndex"],
    ["the path through a bridge", { ...there, toPort: "bridge1/eth3" }, "portId end of path, ifName"],
  ])("the other port by %s", (_, wire, how) => {
    const joined = join([switchReport(1, [wire]), switchReport(2)]);
    expect(linkIds(joined)[0]).toBe(`${chassisId(1)}/1-${chassisId(2)}/3`);
    expect(joined.claims.links[0]?.annotations?.matchedBy).toBe(`src ifIndex; dst ${how}`);
  });

  test("what an agent says about its own port counts more than what its neighbour writes", () => {
    const wrong = { ...there, toPort: "eth4" };
    const joined = join([switchReport(1, [wrong]), switchReport(2, [back])]);
    expect(linkIds(joined).sort()).toEqual([
      `${chassisId(1)}/1-${chassisId(2)}/3`,
      `${chassisId(2)}/3-${chassisId(1)}/1`,
    ]);
  });

  test("two unnamed ends are one cable when they are the only ones between two devices", () => {
    const joined = join([
      switchReport(1, [{ ...there, toPort: "?" }]),
      switchReport(2, [{ ...back, toPort: "?" }]),
    ]);
    expect(linkIds(joined)[0]).toBe(`${chassisId(1)}/1-${chassisId(2)}/3`);
    expect(linkIds(joined)).toHaveLength(2);
  });

  test("a port of a polled device that no interface has gets a number from its name", () => {
    const joined = join([switchReport(1, [{ ...there, toPort: "xe-9" }]), switchReport(2)]);
    const port = portNumberOfName("xe-9");
    expect(linkIds(joined)[0]).toBe(`${chassisId(1)}/1-${chassisId(2)}/${port}`);
    const claim = joined.claims.ports.find((each) => each.port === port);
    expect(claim).toMatchObject({ element: chassisId(2), annotations: { portName: "xe-9" } });
  });

  test("parallel cables stay apart", () => {
    const joined = join([
      switchReport(1, [there, { port: 2, to: 2, toPort: "eth4" }]),
      switchReport(2, [back, { port: 4, to: 1, toPort: "eth2" }]),
    ]);
    expect(linkIds(joined)).toHaveLength(4);
    expect(joined.claims.links.every(({ annotations }) => annotations?.oneSided === undefined)).toBe(true);
  });

  test.each([1, 2])("a port that is down at end %d makes it INACTIVE", (device) => {
    const down = { ifOperStatus: { 1: 2, 2: 1, 3: 2, 4: 1 } };
    const joined = join([
      switchReport(1, [there], device === 1 ? down : {}),
      switchReport(2, [back], device === 2 ? down : {}),
    ]);
    expect(joined.claims.links.map(({ state }) => state)).toEqual(["INACTIVE", "INACTIVE"]);
  });

  test("a neighbour that is gone takes its link with it", () => {
    expect(linkIds(join([switchReport(1), switchReport(2)]))).toEqual([]);
  });

  test("own frames that come back are no cable, two ports that report each other are", () => {
    const loop = [{ port: 1, to: 1, toPort: "eth2" }];
    expect(linkIds(join([switchReport(1, loop)]))).toEqual([]);
    const both = [...loop, { port: 2, to: 1, toPort: "eth1" }];
    expect(linkIds(join([switchReport(1, both)]))).toHaveLength(2);
  });

  test("a neighbour on a port that no interface has is a device and a fault, not a link", () => {
    const joined = join([switchReport(1, [{ ...there, port: 77 }])]);
    expect(ids(joined)).toEqual([chassisId(1), chassisId(2)]);
    expect(linkIds(joined)).toEqual([]);
    expect(joined.faults).toMatchObject([{ kind: "links" }]);
  });
});

describe("a neighbour that is not polled", () => {
  const joined = join([
    switchReport(
      1,
      [
        { port: 1, to: 2, toPort: "Gi0/1" },
        { port: 2, to: 2, toPort: "" },
      ],
      {
        lldpRemSysDesc: { "0.1.1": "IOS 15" },
        lldpRemManAddrIfSubtype: { "0.1.1.1.4.192.0.2.9": 2 },
      },
    ),
  ]);

  test("is a device of its own", () => {
    expect(joined.claims.devices.find(({ id }) => id === chassisId(2))).toEqual({
      id: chassisId(2),
      type: "SWITCH",
      available: true,
      sw: "IOS 15",
      chassisId: mac(2, 0),
      annotations: {
        protocol: "LLDP",
        name: "switch-2",
        managementAddress: "192.0.2.9",
        capabilities: "bridge",
      },
    });
  });

  test("has ports by name; one that has no name is named by where it was received", () => {
    const ports = joined.claims.ports.filter(({ element }) => element === chassisId(2));
    const unnamed = `unknown (at ${chassisId(1)} 2)`;
    expect(ports.map(({ port, annotations }) => [port, annotations?.portName])).toEqual([
      [portNumberOfName("Gi0/1"), "Gi0/1"],
      [portNumberOfName(unnamed), unnamed],
    ]);
  });
});

describe("ids", () => {
  /** Switch 2 that cannot tell its chassis id. */
  const mute = (more: AgentObjects = {}): AgentReport =>
    agentReport(
      { ...switchObjects(2), lldpLocChassisIdSubtype: {}, lldpLocChassisId: {}, ...more },
      target(2),
    );
  const neighbour = switchReport(1, [{ port: 1, to: 2, toPort: "eth3" }]);
  const serial = { entPhysicalClass: { 1: 3 }, entPhysicalSerialNum: { 1: "FOX1" } };

  test("own chassis id, bridge address, serial number, lowest MAC address, name", () => {
    const bridge = { dot1dBaseBridgeAddress: bytes("001B210002FF") };
    const id = (report: AgentReport) => ids(join([report]))[0];
    expect(id(switchReport(2, [], { ...bridge, ...serial }))).toBe(chassisId(2));
    expect(id(mute({ ...bridge, ...serial }))).toBe("lldp:00:1B:21:00:02:FF");
    expect(id(mute(serial))).toBe("serial:FOX1");
    expect(id(mute())).toBe(`lldp:${mac(2, 1)}`);
    expect(id(mute({ ifPhysAddress: {} }))).toBe("snmp:switch-2");
  });

  test("never an address: what has no identity is a fault", () => {
    const joined = join([agentReport({ ipAdEntIfIndex: { "10.0.0.1": 1 } })]);
    expect(ids(joined)).toEqual([]);
    expect(joined.faults).toMatchObject([{ kind: "devices", fault: { field: "192.0.2.1:161" } }]);
  });

  describe("a device that was known as a neighbour keeps its id when it is polled", () => {
    test("it reports its chassis id", () => {
      expect(ids(join([neighbour]))).toEqual([chassisId(1), chassisId(2)]);
      expect(ids(join([neighbour, switchReport(2)]))).toEqual([chassisId(1), chassisId(2)]);
    });

    test.each<[string, AgentReport, AgentReport]>([
      [
        "the chassis is one of its MAC addresses",
        neighbour,
        mute({ ...serial, dot1dBaseBridgeAddress: bytes(mac(2, 0)) }),
      ],
      ["by its name", neighbour, mute(serial)],
      ["by its name without the domain", neighbour, mute({ ...serial, sysName: "Switch-2.example.net" })],
      [
        "by a management address",
        switchReport(1, [{ port: 1, to: 2, toPort: "eth3" }], {
          lldpRemSysName: {},
          lldpRemManAddrIfSubtype: { "0.1.1.1.4.10.0.0.2": 2 },
        }),
        mute({ ...serial, ipAdEntIfIndex: { "10.0.0.2": 1 } }),
      ],
      [
        "by the MAC address of its port",
        switchReport(1, [{ port: 1, to: 2, toPort: bytes(mac(2, 3)), toPortSubtype: 3 }], {
          lldpRemSysName: {},
        }),
        mute(serial),
      ],
    ])("%s", (_, neighbourReport, polled) => {
      expect(ids(join([neighbourReport]))).toEqual([chassisId(1), chassisId(2)]);
      const joined = join([neighbourReport, polled]);
      expect(ids(joined)).toEqual([chassisId(1), chassisId(2)]);
      expect(joined.claims.devices.find(({ id }) => id === chassisId(2))?.annotations?.protocol).toBe("SNMP");
      expect(linkIds(joined)[0]).toBe(`${chassisId(1)}/1-${chassisId(2)}/3`);
    });

    test("CDP knows only its name", () => {
      const cdp = switchReport(1, [], {
        cdpCacheDeviceId: { "1.1": "switch-2" },
        cdpCacheDevicePort: { "1.1": "eth3" },
      });
      const before = ids(join([cdp]));
      expect(before).toEqual([chassisId(1), "snmp:switch-2"]);
      expect(ids(join([cdp, switchReport(2)], before))).toEqual(before);
      // Without the ids of before the better one: its own chassis id.
      expect(ids(join([cdp, switchReport(2)]))).toEqual([chassisId(1), chassisId(2)]);
    });
  });

  test("it keeps its id when the cable that named it is cut", () => {
    const polled = mute({
      ...serial,
      dot1dBaseBridgeAddress: bytes("001B210002FF"),
      ifPhysAddress: { 1: bytes(mac(2, 0)) },
    });
    const before = ids(join([neighbour, polled]));
    expect(before).toEqual([chassisId(1), chassisId(2)]);
    expect(ids(join([switchReport(1), polled], before))).toEqual(before);
  });

  test("another device at the same address is another device", () => {
    const before = ids(join([mute(serial)]));
    const replaced = mute({ entPhysicalClass: { 1: 3 }, entPhysicalSerialNum: { 1: "FOX2" } });
    expect(ids(join([replaced], before))).toEqual(["serial:FOX2"]);
  });

  test("names do not join devices that have other chassis ids", () => {
    const named = mute({ ...serial, sysName: "axis" });
    const two = switchReport(
      1,
      [
        { port: 1, to: 3, toPort: "a" },
        { port: 2, to: 4, toPort: "b" },
      ],
      {
        lldpRemSysName: { "0.1.1": "axis", "0.2.2": "axis" },
      },
    );
    expect(ids(join([two, named]))).toEqual([chassisId(1), chassisId(3), chassisId(4), "serial:FOX1"]);
    const own = switchReport(2, [], { sysName: "switch-3" });
    expect(ids(join([switchReport(1, [{ port: 1, to: 3, toPort: "a" }]), own]))).toEqual([
      chassisId(1),
      chassisId(2),
      chassisId(3),
    ]);
  });

  test("a serial number that two devices have identifies neither", () => {
    const one = mute(serial);
    const other = agentReport({ ...interfaces({ 1: { name: "e", mac: mac(3, 1) } }), ...serial }, target(3));
    expect(ids(join([one, other]))).toEqual([`lldp:${mac(2, 1)}`, `lldp:${mac(3, 1)}`]);
  });

  test("a device that is polled at two addresses is one", () => {
    const twice = [switchReport(2), agentReport(switchObjects(2), target(9))];
    const joined = join(twice);
    expect(ids(joined)).toEqual([chassisId(2)]);
    expect(joined.faults).toEqual([]);
  });

  test("do not depend on the order of the agents, and neither does anything else", () => {
    const reports = [
      switchReport(1, [
        { port: 1, to: 2, toPort: "eth3" },
        { port: 2, to: 3, toPort: "eth1" },
      ]),
      mute(serial),
      switchReport(3, [
        { port: 1, to: 1, toPort: "eth2" },
        { port: 4, to: 5, toPort: "x" },
      ]),
    ];
    const text = (joined: JoinedAgents): string[] =>
      Object.values(joined.claims)
        .flatMap((claims) => claims.map((claim: object) => JSON.stringify(claim)))
        .sort();
    expect(text(join([...reports].reverse()))).toEqual(text(join(reports)));
  });
});

describe("agents that do not answer", () => {
  const since = Date.UTC(2026, 10, 15, 12);
  const wires = [{ port: 1, to: 2, toPort: "eth3" }];
  const silent: PolledAgent = {
    report: switchReport(2, [
      { port: 3, to: 1, toPort: "eth1" },
      { port: 4, to: 5, toPort: "x" },
    ]),
    unansweredSince: since,
  };
  const device = (joined: JoinedAgents) => joined.claims.devices.find(({ id }) => id === chassisId(2));

  test("are unavailable; their other claims stand", () => {
    const joined = joinAgents([silent]);
    expect(device(joined)).toMatchObject({ available: false });
    expect(device(joined)?.annotations?.unansweredSince).toBe("2026-11-15T12:00:00.000Z");
    expect(joined.claims.ports.filter(({ element }) => element === chassisId(2))).toHaveLength(4);
    expect(joined.claims.links.map(({ state }) => state)).toEqual(["ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE"]);
  });

  test("are available while a neighbour that answers receives them", () => {
    const joined = joinAgents([silent, { report: switchReport(1, wires) }]);
    expect(device(joined)).toMatchObject({ available: true });
    expect(device(joined)?.annotations?.unansweredSince).toBeUndefined();
  });

  test("are not while only another silent agent does", () => {
    const other = { report: switchReport(1, wires), unansweredSince: since };
    expect(device(joinAgents([silent, other]))).toMatchObject({ available: false });
  });

  test("a cable that only they report is INACTIVE when the other end answers and does not", () => {
    const joined = joinAgents([silent, { report: switchReport(1) }]);
    const states = joined.claims.links.map(({ src, dst, state }) => `${src.device} ${dst.device} ${state}`);
    expect(states).toContain(`${chassisId(1)} ${chassisId(2)} INACTIVE`);
    expect(states).toContain(`${chassisId(2)} ${chassisId(5)} ACTIVE`);
  });
});

describe("ports", () => {
  test("have name, alias, address, speed, state and aggregate", () => {
    const joined = join([
      switchReport(1, [], {
        ifAlias: { 1: "to core" },
        ifHighSpeed: { 1: 10_000 },
        ifType: { 1: 6, 2: 6, 3: 6, 4: 161 },
        dot3adAggPortAttachedAggID: { 1: 4, 2: 4, 3: 0 },
      }),
    ]);
    expect(joined.claims.ports[0]).toEqual({
      element: chassisId(1),
      port: "1",
      isEnabled: true,
      type: "copper",
      portSpeed: 10_000,
      annotations: {
        portName: "eth1",
        alias: "to core",
        mac: mac(1, 1),
        aggregate: "eth4",
        aggregatePort: "4",
      },
    });
    expect(joined.claims.ports[3]).toMatchObject({
      type: "virtual",
      annotations: { portName: "eth4", members: "eth1, eth2" },
    });
  });

  test.each([
    [{ name: "sfp-sfpplus1" }, "fiber"],
    [{ name: "lo", type: 24 }, "virtual"],
    [{ name: "Vlan13", type: 136 }, "virtual"],
    [{ name: "port-channel10", type: 53 }, "virtual"],
    [{ name: "eth0" }, "copper"],
  ])("the type of %o is %s", (port, type) => {
    const report = agentReport({ ...interfaces({ 1: port }), sysName: "a" });
    expect<string | undefined>(join([report]).claims.ports[0]?.type).toBe(type);
  });
});

describe("hosts", () => {
  const host = (n: number): string => `00:50:56:00:00:0${n}`;
  /** A forwarding table: host number → port. */
  const fdb = (entries: Readonly<Record<number, number>>, more: AgentObjects = {}): AgentObjects => ({
    dot1dTpFdbPort: Object.fromEntries(
      Object.entries(entries).map(([n, port]) => [`0.80.86.0.0.${n}`, port]),
    ),
    ...more,
  });
  const places = ({ claims }: JoinedAgents): string[] =>
    claims.hosts.map(({ mac: address, vlan, locations }) => {
      const [at] = locations;
      return `${address}/${vlan} at ${at?.elementId}/${at?.port}`;
    });

  test("on edge ports, with the IP addresses of all agents", () => {
    const arp = { ipNetToMediaPhysAddress: { "1.10.0.0.7": bytes(host(1)), "1.10.0.0.8": bytes(host(1)) } };
    const joined = join([switchReport(1, [], fdb({ 1: 2 })), switchReport(2, [], arp)]);
    expect(joined.claims.hosts).toEqual([
      {
        mac: host(1),
        vlan: "None",
        ipAddresses: ["10.0.0.7", "10.0.0.8"],
        locations: [{ elementId: chassisId(1), port: "2" }],
      },
    ]);
  });

  test("not on a port to a switch, nor on its aggregate or another member", () => {
    const lag = { ifType: { 1: 6, 2: 6, 3: 6, 4: 161 }, dot3adAggPortAttachedAggID: { 1: 4, 2: 4 } };
    const report = switchReport(1, [{ port: 1, to: 5, toPort: "x" }], fdb({ 1: 1, 2: 2, 3: 3, 4: 4 }, lag));
    expect(places(join([report]))).toEqual([`${host(3)}/None at ${chassisId(1)}/3`]);
  });

  test.each([
    ["a telephone with a second port", bytes("24"), 1],
    ["a station", bytes("01"), 1],
    ["a bridge", bytes("20"), 0],
    ["a wireless access point", bytes("10"), 0],
    ["no capability, with a chassis id of its own", bytes("00"), 0],
  ])("behind %s", (_, capabilities, count) => {
    const wire = [{ port: 1, to: 5, toPort: "x" }];
    const more = { lldpRemSysCapEnabled: { "0.1.1": capabilities } };
    expect(join([switchReport(1, wire, fdb({ 1: 1 }, more))]).claims.hosts).toHaveLength(count);
  });

  test("behind a network card that sends LLDP, but the card itself is a device", () => {
    const card = bytes(mac(5, 0));
    const wire = [{ port: 1, to: 5, toPort: card, toPortSubtype: 3 }];
    const more = { lldpRemSysCapEnabled: {} };
    const table = fdb({ 1: 1 });
    const dot1dTpFdbPort = { "0.80.86.0.0.1": 1, "0.27.33.0.5.0": 1 };
    const joined = join([switchReport(1, wire, { ...table, ...more, dot1dTpFdbPort })]);
    expect(places(joined)).toEqual([`${host(1)}/None at ${chassisId(1)}/1`]);
  });

  test("a MAC address of a polled device is no host", () => {
    const dot1dTpFdbPort = { "0.27.33.0.2.1": 3 };
    expect(join([switchReport(1, [], { dot1dTpFdbPort }), switchReport(2)]).claims.hosts).toEqual([]);
  });

  test("seen by several switches: the port with the fewest addresses", () => {
    const access = switchReport(2, [], fdb({ 1: 3 }));
    const other = switchReport(1, [], fdb({ 1: 1, 2: 1 }));
    const expected = [`${host(1)}/None at ${chassisId(2)}/3`, `${host(2)}/None at ${chassisId(1)}/1`];
    expect(places(join([other, access])).sort()).toEqual(expected);
    expect(places(join([access, other])).sort()).toEqual(expected);
  });

  test("the untagged VLAN of a port is None, a tagged one keeps its number", () => {
    const tables = {
      dot1qTpFdbPort: { "10.0.80.86.0.0.1": 1, "20.0.80.86.0.0.1": 1, "20.0.80.86.0.0.2": 2 },
      dot1qPvid: { 1: 10, 2: 20 },
    };
    expect(places(join([switchReport(1, [], tables)])).sort()).toEqual([
      `${host(1)}/20 at ${chassisId(1)}/1`,
      `${host(1)}/None at ${chassisId(1)}/1`,
      `${host(2)}/None at ${chassisId(1)}/2`,
    ]);
  });

  test("a host that another switch has with its VLAN is not repeated without it", () => {
    const tagged = { dot1qTpFdbPort: { "20.0.80.86.0.0.1": 1 }, dot1qPvid: { 1: 1 } };
    const joined = join([switchReport(1, [], tagged), switchReport(2, [], fdb({ 1: 3 }))]);
    expect(places(joined)).toEqual([`${host(1)}/20 at ${chassisId(1)}/1`]);
  });
});

test("aliases: other ids of the device, but none that is another device", () => {
  const cdp = {
    cdpCacheDeviceId: { "1.1": "switch-2", "2.1": "twin", "3.1": "twin" },
    cdpCacheDevicePort: { "1.1": "eth3", "2.1": "a", "3.1": "b" },
  };
  const wires = [
    { port: 1, to: 2, toPort: "eth3" },
    { port: 2, to: 3, toPort: "a" },
    { port: 3, to: 4, toPort: "b" },
  ];
  const { claims } = join([switchReport(1, wires, cdp)]);
  const aliases = claims.devices.map(({ id, aliases: each }) => [id, each]);
  expect(aliases).toEqual([
    [chassisId(1), undefined],
    [chassisId(2), ["snmp:switch-2"]],
    [chassisId(3), undefined],
    [chassisId(4), undefined],
  ]);
});

test("all claims are valid", () => {
  const { claims } = join([switchReport(1, [{ port: 1, to: 2, toPort: "x y" }]), switchReport(3)]);
  for (const kind of ["devices", "ports", "links", "hosts"] as const)
    for (const claim of claims[kind]) expect(canonicalClaim(kind, claim)).toMatchObject({ ok: true });
});
