/** Hosts on edge ports. */
import { describe, expect, test } from "bun:test";
import { type AgentObjects, bytes } from "../../../../test/support/snmp-agent.ts";
import { chassisId, join, mac, switchReport } from "../../../../test/support/snmp-switch.ts";
import type { JoinedAgents } from "./join-agents.ts";

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

  test("of a router, which has no forwarding table: what it has resolved on Ethernet ports to no neighbour", () => {
    const arp = {
      ifType: { 1: 6, 2: 6, 3: 53 },
      ipNetToMediaPhysAddress: {
        "1.10.0.0.1": bytes(host(1)),
        "2.10.0.0.2": bytes(host(2)),
        "3.10.0.0.3": bytes(host(3)),
      },
    };
    const router = switchReport(1, [{ port: 1, to: 5, toPort: "x" }], arp);
    expect(places(join([router]))).toEqual([`${host(2)}/None at ${chassisId(1)}/2`]);
    const withSwitch = join([router, switchReport(2, [], fdb({ 2: 3, 3: 3 }))]);
    expect(places(withSwitch)).toContain(`${host(2)}/None at ${chassisId(2)}/3`);
    expect(withSwitch.claims.hosts).toHaveLength(2);
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
