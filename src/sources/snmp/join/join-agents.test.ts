/** Devices that are not polled, agents that do not answer, and ports. */
import { describe, expect, test } from "bun:test";
import { agentReport, interfaces } from "../../../../test/support/snmp-agent.ts";
import { chassisId, join, mac, switchReport } from "../../../../test/support/snmp-switch.ts";
import { canonicalClaim } from "../../../model/claim.ts";
import { portNumberOfName } from "../../../model/derived-ids.ts";
import type { PolledAgent } from "../tables/agent-report.ts";
import { type JoinedAgents, joinAgents } from "./join-agents.ts";

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

test("all claims are valid", () => {
  const { claims } = join([switchReport(1, [{ port: 1, to: 2, toPort: "x y" }]), switchReport(3)]);
  for (const kind of ["devices", "ports", "links", "hosts"] as const)
    for (const claim of claims[kind]) expect(canonicalClaim(kind, claim)).toMatchObject({ ok: true });
});
