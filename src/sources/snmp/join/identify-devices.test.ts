/** The ids of devices: the same when they are polled, when a cable is cut, in any order. */
import { describe, expect, test } from "bun:test";
import { type AgentObjects, agentReport, bytes, interfaces } from "../../../../test/support/snmp-agent.ts";
import {
  chassisId,
  ids,
  join,
  linkIds,
  mac,
  switchObjects,
  switchReport,
  target,
} from "../../../../test/support/snmp-switch.ts";
import type { AgentReport } from "../tables/agent-report.ts";
import type { JoinedAgents } from "./join-agents.ts";

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
