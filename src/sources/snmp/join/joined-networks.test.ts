/** Random networks of agents that share few addresses, names and serial numbers, so that evidence contradicts itself. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../../../test/support/property.ts";
import { type AgentObjects, agentReport, bytes, interfaces } from "../../../../test/support/snmp-agent.ts";
import { ids, join } from "../../../../test/support/snmp-switch.ts";
import { canonicalClaim, type DeviceClaim } from "../../../model/claim.ts";
import { KINDS } from "../../../model/ids.ts";
import type { AgentReport } from "../tables/agent-report.ts";
import { type JoinedAgents, joinAgents } from "./join-agents.ts";

const mac = fc.integer({ min: 1, max: 6 }).map((n) => `00:1B:21:00:00:0${n}`);
const name = fc.constantFrom("a", "A", "a.example.net", "b", "unknown");
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const wire = fc.record({
  port: fc.integer({ min: 1, max: 3 }),
  chassis: fc.oneof(mac.map(bytes), fc.constantFrom("eth0", "sw")),
  subtype: fc.constantFrom(4, 6, 7),
  portId: fc.constantFrom("eth1", "eth2", "x", ""),
  name: optional(name),
  address: optional(fc.constantFrom("10.0.0.1", "10.0.0.2")),
});
type Row = string | number | Uint8Array;

const agent: fc.Arbitrary<AgentObjects> = fc
  .record({
    macs: fc.tuple(optional(mac), optional(mac)),
    chassis: optional(mac),
    bridge: optional(mac),
    serial: optional(fc.constantFrom("S1", "S2")),
    name: optional(name),
    own: fc.constantFrom("10.0.0.1", "10.0.0.2", "10.0.0.3"),
    wires: fc.array(wire, { maxLength: 4 }),
    cdp: optional(fc.constantFrom("a", "b(S1)", "00:1B:21:00:00:02")),
    stations: fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 3 })), {
      maxLength: 5,
    }),
  })
  .map((of): AgentObjects => {
    const rows = <T extends Row>(value: (w: (typeof of.wires)[number]) => T | undefined): Record<string, T> =>
      Object.fromEntries(
        of.wires.flatMap((each, i) => {
          const result = value(each);
          return result === undefined ? [] : [[`0.${each.port}.${i}`, result]];
        }),
      );
    return {
      ...interfaces({
        1: { name: "eth1", mac: of.macs[0] ?? "" },
        2: { name: "eth2", mac: of.macs[1] ?? "" },
        3: "eth3",
      }),
      ...(of.chassis !== undefined && { lldpLocChassisIdSubtype: 4, lldpLocChassisId: bytes(of.chassis) }),
      ...(of.bridge !== undefined && { dot1dBaseBridgeAddress: bytes(of.bridge) }),
      ...(of.serial !== undefined && { entPhysicalClass: { 1: 3 }, entPhysicalSerialNum: { 1: of.serial } }),
      ...(of.name !== undefined && { sysName: of.name }),
      ...(of.cdp !== undefined && {
        cdpCacheDeviceId: { "2.1": of.cdp },
        cdpCacheDevicePort: { "2.1": "eth1" },
      }),
      ipAdEntIfIndex: { [of.own]: 1 },
      lldpRemChassisIdSubtype: rows(({ subtype }) => subtype),
      lldpRemChassisId: rows(({ chassis }) => chassis),
      lldpRemPortIdSubtype: rows(() => 5),
      lldpRemPortId: rows(({ portId }) => portId),
      lldpRemSysName: rows((each) => each.name),
      lldpRemManAddrIfSubtype: Object.fromEntries(
        of.wires.flatMap(({ port, address }, i) => (address ? [[`0.${port}.${i}.1.4.${address}`, 2]] : [])),
      ),
      dot1dTpFdbPort: Object.fromEntries(of.stations.map(([n, port]) => [`0.27.33.0.0.${n}`, port])),
    };
  });
const network = fc
  .array(agent, { maxLength: 5 })
  .map((agents) => agents.map((objects, i) => agentReport(objects, `192.0.2.${i + 1}:161`)));

const sorted = ({ claims }: JoinedAgents): string[] =>
  KINDS.flatMap((kind) => claims[kind].map((claim) => JSON.stringify(claim))).sort();
const RUNS = { numRuns: runs(100) };
const TIMEOUT_MS = 60_000;

test(
  "claims are valid, have unique ids, and links end at ports that exist",
  () => {
    fc.assert(
      fc.property(network, (reports) => {
        const { claims } = join(reports);
        for (const kind of KINDS) {
          const results = claims[kind].map((claim) => canonicalClaim(kind, claim));
          const valid = results.flatMap((result) => (result.ok ? [result.id.toLowerCase()] : []));
          expect(new Set(valid).size).toBe(claims[kind].length);
        }
        const ports = new Set(claims.ports.map(({ element, port }) => `${element} ${port}`));
        for (const { src, dst } of claims.links)
          for (const { device, port } of [src, dst]) expect(ports.has(`${device} ${port}`)).toBe(true);
        for (const { locations } of claims.hosts)
          for (const { elementId, port } of locations) expect(ports.has(`${elementId} ${port}`)).toBe(true);
      }),
      RUNS,
    );
  },
  TIMEOUT_MS,
);

test(
  "links come in pairs",
  () => {
    fc.assert(
      fc.property(network, (reports) => {
        const text = (a: { device: string; port: string | number }) => `${a.device} ${a.port}`;
        const links = join(reports).claims.links.map(({ src, dst }) => [text(src), text(dst)] as const);
        const known = new Set(links.map(([src, dst]) => `${src} ${dst}`));
        for (const [src, dst] of links) expect(known.has(`${dst} ${src}`)).toBe(true);
      }),
      RUNS,
    );
  },
  TIMEOUT_MS,
);

test(
  "the order of the agents changes nothing",
  () => {
    fc.assert(
      fc.property(network, (reports) => {
        expect(sorted(join(reports.toReversed()))).toEqual(sorted(join(reports)));
      }),
      RUNS,
    );
  },
  TIMEOUT_MS,
);

test(
  "the next poll with the same reports gives the same claims",
  () => {
    fc.assert(
      fc.property(network, (reports) => {
        const first = join(reports);
        expect(sorted(join(reports, ids(first)))).toEqual(sorted(first));
      }),
      RUNS,
    );
  },
  TIMEOUT_MS,
);

test(
  "a polled device keeps its id when all agents fall silent, and when all cables are cut",
  () => {
    const polledIds = ({ claims }: JoinedAgents): string[] =>
      claims.devices.flatMap(({ id, annotations }) => (annotations?.protocol === "SNMP" ? [id] : [])).sort();
    /** Not an id that only its neighbours know: it is lost with them. */
    const isProvable = ({ id, annotations }: DeviceClaim, reports: readonly AgentReport[]): boolean => {
      const identity = reports.find(({ address }) => address === annotations?.managementAddress)?.identity;
      const { macs = [], chassis, serial, name: own } = identity ?? {};
      return [
        ...macs.map((each) => `lldp:${each}`),
        `lldp:${chassis}`,
        `serial:${serial}`,
        `snmp:${own}`,
      ].includes(id);
    };
    const shareAddresses = (reports: readonly AgentReport[]): boolean => {
      const macs = reports.flatMap(({ identity }) => [
        ...new Set([...identity.macs, identity.chassis ?? identity]),
      ]);
      return new Set(macs).size < macs.length;
    };
    fc.assert(
      fc.property(network, (reports) => {
        const first = join(reports);
        const silent = reports.map((report) => ({ report, unansweredSince: 0 }));
        expect(polledIds(joinAgents(silent, new Set(ids(first))))).toEqual(polledIds(first));
        const polled = first.claims.devices.filter(({ annotations }) => annotations?.protocol === "SNMP");
        if (!polled.every((device) => isProvable(device, reports)) || shareAddresses(reports)) return;
        const cut = reports.map((report) => ({ ...report, neighbours: [] }));
        expect(polledIds(join(cut, ids(first)))).toEqual(polledIds(first));
      }),
      RUNS,
    );
  },
  TIMEOUT_MS,
);
