/** Switches with LLDP neighbours, as SNMP agents report them. Switch `n` has the chassis id `mac(n, 0)` and ports 1 to 4. */
import { linkId } from "../../src/model/ids.ts";
import { type JoinedAgents, joinAgents } from "../../src/sources/snmp/join/join-agents.ts";
import type { AgentReport } from "../../src/sources/snmp/tables/agent-report.ts";
import { type AgentObjects, agentReport, bytes, interfaces } from "./snmp-agent.ts";

export const mac = (device: number, port: number): string => `00:1B:21:00:0${device}:0${port}`;
export const chassisId = (device: number): string => `lldp:${mac(device, 0)}`;

export interface Wire {
  readonly port: number;
  readonly to: number;
  readonly toPort: string | Uint8Array;
  readonly toPortSubtype?: number;
}

/** Switch number `device` with ports 1 to 4, its own chassis id, and neighbours. */
export function switchObjects(
  device: number,
  wires: readonly Wire[] = [],
  more: AgentObjects = {},
): AgentObjects {
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

export const target = (device: number): string => `192.0.2.${device}:161`;
export const switchReport = (
  device: number,
  wires: readonly Wire[] = [],
  more: AgentObjects = {},
): AgentReport => agentReport(switchObjects(device, wires, more), target(device));

export const join = (reports: readonly AgentReport[], previous?: readonly string[]): JoinedAgents =>
  joinAgents(
    reports.map((report) => ({ report })),
    new Set(previous),
  );
export const ids = ({ claims }: JoinedAgents): string[] => claims.devices.map(({ id }) => id).sort();
export const linkIds = ({ claims }: JoinedAgents): string[] =>
  claims.links.map(({ src, dst }) =>
    linkId({ device: src.device, port: String(src.port) }, { device: dst.device, port: String(dst.port) }),
  );
