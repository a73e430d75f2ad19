/** Builds what an SNMP agent returns from the names of objects: a text is an OCTET STRING unless it is an OID. */

import type { AgentReport } from "../../src/sources/snmp/tables/agent-report.ts";
import { mapAgent } from "../../src/sources/snmp/tables/map-agent.ts";
import { type AgentData, type ObjectName, OID, type SnmpValue } from "../../src/sources/snmp/tables/mib.ts";

type Value = number | bigint | string | Uint8Array;
/** A scalar, or values by index. */
export type AgentObjects = { readonly [K in ObjectName]?: Value | Readonly<Record<string, Value>> };

const NAMES = Object.keys(OID).filter((name): name is ObjectName => name in OID);
const toValue = (name: ObjectName, value: Value): SnmpValue =>
  typeof value === "string" && name !== "sysObjectID" ? new TextEncoder().encode(value) : value;

export function agentData(objects: AgentObjects, target = "192.0.2.1:161"): AgentData {
  const columns = new Map<string, Map<string, SnmpValue>>();
  for (const name of NAMES) {
    const given = objects[name];
    if (given === undefined) continue;
    const rows = typeof given === "object" && !(given instanceof Uint8Array) ? given : { "0": given };
    const values = Object.entries(rows).map(([row, value]) => [row, toValue(name, value)] as const);
    columns.set(OID[name], new Map(values));
  }
  return { target, address: target.slice(0, target.lastIndexOf(":")), columns };
}

export const agentReport = (objects: AgentObjects, target?: string): AgentReport =>
  mapAgent(agentData(objects, target));

/** `AA:BB:CC:DD:EE:FF` or hex digits, as bytes. */
export const bytes = (hex: string): Uint8Array =>
  Uint8Array.from(Buffer.from(hex.replaceAll(/[^0-9a-f]/gi, ""), "hex"));

/** Interfaces that are up, by index, with names and optionally MAC addresses. */
export function interfaces(
  ports: Readonly<Record<string, string | { name: string; mac?: string; type?: number; isUp?: boolean }>>,
): AgentObjects {
  const full = Object.entries(ports).map(([index, port]) => ({
    index,
    mac: "",
    type: 6,
    isUp: true,
    ...(typeof port === "string" ? { name: port } : port),
  }));
  const byIndex = <T extends Value>(value: (port: (typeof full)[number]) => T): Record<string, T> =>
    Object.fromEntries(full.map((port) => [port.index, value(port)]));
  return {
    ifName: byIndex(({ name }) => name),
    ifType: byIndex(({ type }) => type),
    ifPhysAddress: byIndex(({ mac }) => bytes(mac)),
    ifAdminStatus: byIndex(() => 1),
    ifOperStatus: byIndex(({ isUp }) => (isUp ? 1 : 2)),
  };
}
