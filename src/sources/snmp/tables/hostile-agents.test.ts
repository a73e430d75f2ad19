/** Agents that return anything: nothing throws, the output is bounded, all claims are valid. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../../../test/support/property.ts";
import { agentData, agentReport, bytes, interfaces } from "../../../../test/support/snmp-agent.ts";
import { CLAIM_LIMITS, canonicalClaim } from "../../../model/claim.ts";
import { KINDS } from "../../../model/ids.ts";
import { type JoinedAgents, joinAgents } from "../join/join-agents.ts";
import { mapAgent } from "./map-agent.ts";
import { type AgentData, OID, type SnmpValue } from "./mib.ts";

const value: fc.Arbitrary<SnmpValue> = fc.oneof(
  fc.integer({ min: -2, max: 20 }),
  fc.double(),
  fc.bigInt(),
  fc.uint8Array({ maxLength: 40 }),
  fc.uint8Array({ minLength: 6, maxLength: 6 }),
  fc.string().map((text) => new TextEncoder().encode(text)),
  fc
    .constantFrom("eth0", "unknown", "of:0000000000000001", "switch")
    .map((text) => new TextEncoder().encode(text)),
  fc.string(),
);
/** Small numbers, so that rows of different columns and tables meet. */
const part = fc.oneof(fc.integer({ min: 0, max: 8 }), fc.nat());
const index = fc.oneof(
  fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(".")),
  fc.constant("0"),
  fc.string(),
);
const columns = fc.dictionary(
  fc.constantFrom(...Object.values(OID)),
  fc.array(fc.tuple(index, value), { maxLength: 8 }),
  { maxKeys: 40 },
);
const agent: fc.Arbitrary<AgentData> = columns.map((given) => ({
  target: "192.0.2.1:161",
  address: "192.0.2.1",
  columns: new Map(Object.entries(given).map(([oid, rows]) => [oid, new Map(rows)])),
}));

const sorted = (claims: JoinedAgents["claims"]): string[] =>
  KINDS.flatMap((kind) => claims[kind].map((claim) => JSON.stringify(claim))).sort();

test("any objects: no throw, valid claims, unique ids, links whose ends exist, the same in any order", () => {
  fc.assert(
    fc.property(fc.array(agent, { maxLength: 4 }), fc.array(fc.boolean()), (agents, silent) => {
      const polled = agents.map((data, i) => ({
        report: mapAgent({ ...data, target: `192.0.2.${i}:161` }),
        ...(silent[i] && { unansweredSince: 1_700_000_000_000 }),
      }));
      const { claims } = joinAgents(polled);
      expect(sorted(joinAgents(polled.toReversed()).claims)).toEqual(sorted(claims));
      const devices = new Set(claims.devices.map(({ id }) => id));
      for (const kind of KINDS) {
        const ids = new Set<string>();
        for (const claim of claims[kind]) {
          const result = canonicalClaim(kind, claim);
          if (!result.ok) throw new Error(`${kind}: ${result.fault.field} ${result.fault.message}`);
          ids.add(result.id.toLowerCase());
        }
        expect(ids.size).toBe(claims[kind].length);
      }
      for (const { src, dst } of claims.links)
        expect([devices.has(src.device), devices.has(dst.device)]).toEqual([true, true]);
    }),
    { numRuns: runs(200) },
  );
}, 60_000);

test("a report is plain: it survives JSON", () => {
  fc.assert(
    fc.property(agent, (data) => {
      const report = mapAgent(data);
      expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    }),
    { numRuns: runs(100) },
  );
}, 60_000);

test("texts are limited, whatever an agent sends", () => {
  const long = "ab".repeat(32_000);
  const { claims } = joinAgents([
    {
      report: agentReport({
        ...interfaces({ 1: long }),
        sysName: long,
        sysDescr: long,
        ifAlias: { 1: long },
        lldpRemChassisIdSubtype: { "0.1.1": 7 },
        lldpRemChassisId: { "0.1.1": long },
        lldpRemPortId: { "0.1.1": long },
        lldpRemSysDesc: { "0.1.1": long },
      }),
    },
  ]);
  expect(claims.devices).toHaveLength(2);
  expect(claims.links).toHaveLength(2);
  expect(JSON.stringify(claims).length).toBeLessThan(8000);
  for (const { id } of claims.devices) expect(id.length).toBeLessThanOrEqual(CLAIM_LIMITS.id);
});

test("neighbours on one port and of one agent are limited", () => {
  const rows = <T>(count: number, port: (i: number) => number, of: (i: number) => T) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`0.${port(i)}.${i}`, of(i)]));
  const name = (i: number) => `chassis-${i}`;
  const onePort = agentReport({
    ...interfaces({ 1: "eth1" }),
    sysName: "a",
    lldpRemChassisId: rows(5000, () => 1, name),
    lldpRemPortId: rows(
      5000,
      () => 1,
      () => "p",
    ),
  });
  expect(onePort.neighbours).toHaveLength(4096);
  expect(joinAgents([{ report: onePort }]).claims.links).toHaveLength(128);
});

test("many agents are joined in time that grows with their number", () => {
  const count = 500;
  const mac = (n: number) => bytes(n.toString(16).padStart(12, "0"));
  const ring = Array.from({ length: count }, (_, n) =>
    mapAgent(
      agentData(
        {
          ...interfaces({ 1: "eth1", 2: "eth2" }),
          lldpLocChassisIdSubtype: 4,
          lldpLocChassisId: mac(n + 1),
          lldpRemChassisIdSubtype: { "0.1.1": 4, "0.2.2": 4 },
          lldpRemChassisId: {
            "0.1.1": mac(((n + 1) % count) + 1),
            "0.2.2": mac(((n + count - 1) % count) + 1),
          },
          lldpRemPortIdSubtype: { "0.1.1": 5, "0.2.2": 5 },
          lldpRemPortId: { "0.1.1": "eth2", "0.2.2": "eth1" },
        },
        `agent-${n}:161`,
      ),
    ),
  );
  const { claims } = joinAgents(ring.map((report) => ({ report })));
  expect(claims.devices).toHaveLength(count);
  expect(claims.links).toHaveLength(2 * count);
  expect(claims.links.every(({ annotations }) => annotations?.oneSided === undefined)).toBe(true);
});
