/**
 * Maps the locations of stations: the MAC addresses behind each port (BRIDGE-MIB, Q-BRIDGE-MIB), and the IP addresses of
 * each MAC address (IP-MIB). According to the MIB, ports are bridge ports. RouterOS uses ifIndexes instead, which is
 * detected by the entries of the device's own addresses.
 */

import { appendTo } from "../../../lib/multimap.ts";
import type { AddressEntry, AgentInterface, ForwardingEntry } from "./agent-report.ts";
import type { AgentData, SnmpValue } from "./mib.ts";
import { column, indexParts, isInPortList, macOfParts, toIfIndex, toInteger, toIp, toMac } from "./values.ts";

const MAX_ENTRIES = 262_144;
const STATUS = { invalid: 2, self: 4 } as const;
const MAX_VLAN = 4094;

interface RawEntry {
  readonly mac: string;
  readonly fdb?: number;
  readonly port: number;
  /** Whether the entry is a station. False for an entry that is no longer valid, and for an address of the device itself. */
  readonly isStation: boolean;
}

export function mapForwarding(data: AgentData, interfaces: readonly AgentInterface[]): ForwardingEntry[] {
  const tagged = readTable(data, "dot1qTpFdbPort", "dot1qTpFdbStatus");
  const entries = tagged.length > 0 ? tagged : readTable(data, "dot1dTpFdbPort", "dot1dTpFdbStatus");
  const portOf = portNumbering(data, entries, interfaces);
  const vlanOf = vlansByFdb(data);
  const own = new Set(interfaces.flatMap(({ mac }) => mac ?? []));
  return entries.flatMap((entry): ForwardingEntry[] => {
    const port = portOf(entry.port);
    if (port === undefined || !entry.isStation || own.has(entry.mac)) return [];
    const vlan = entry.fdb === undefined ? undefined : vlanOf(entry.fdb);
    const isUntagged = vlan === undefined || leavesUntagged(data, vlan, entry.port, port);
    return [{ mac: entry.mac, port: port.index, isUntagged, ...(vlan !== undefined && { vlan }) }];
  });
}

/** Reads a forwarding table. Its index is a MAC address, preceded in Q-BRIDGE-MIB by the number of the database. */
function readTable(
  data: AgentData,
  ports: "dot1qTpFdbPort" | "dot1dTpFdbPort",
  statuses: "dot1qTpFdbStatus" | "dot1dTpFdbStatus",
): RawEntry[] {
  const entries: RawEntry[] = [];
  const status = column(data, statuses);
  for (const [row, value] of column(data, ports)) {
    if (entries.length >= MAX_ENTRIES) break;
    const parts = indexParts(row);
    const mac = macOfParts(parts.slice(-6));
    // Port 0 means that the port is not known.
    const port = toIfIndex(value);
    const state = toInteger(status.get(row));
    if (mac === undefined || port === undefined) continue;
    const isStation = state !== STATUS.invalid && state !== STATUS.self;
    if (parts.length === 6) entries.push({ mac, port, isStation });
    else if (parts.length === 7) entries.push({ mac, port, isStation, fdb: parts[0] ?? 0 });
  }
  return entries;
}

type PortOf = (port: number) => AgentInterface | undefined;

/** Decides whether ports are bridge ports or ifIndexes: the one that fits more entries of the device's own addresses. */
function portNumbering(
  data: AgentData,
  entries: readonly RawEntry[],
  interfaces: readonly AgentInterface[],
): PortOf {
  const byIndex = new Map(interfaces.map((port) => [port.index, port]));
  const byBasePort = new Map<number, AgentInterface>();
  for (const [row, value] of column(data, "dot1dBasePortIfIndex")) {
    const port = byIndex.get(toIfIndex(value) ?? 0);
    if (port) byBasePort.set(Number(row), port);
  }
  const ofIndex: PortOf = (port) => byIndex.get(port);
  const ofBasePort: PortOf = (port) => byBasePort.get(port);
  if (byBasePort.size === 0) return ofIndex;
  const macs = new Map(interfaces.flatMap(({ mac, index }) => (mac === undefined ? [] : [[mac, index]])));
  let evidence = 0;
  for (const { mac, port } of entries) {
    const own = macs.get(mac);
    if (own === undefined) continue;
    if (ofIndex(port)?.index === own) evidence++;
    if (ofBasePort(port)?.index === own) evidence--;
  }
  return evidence > 0 ? ofIndex : ofBasePort;
}

/** Most agents number their databases by VLAN. For a database of several VLANs, the VLAN with its number or the first is used. */
function vlansByFdb(data: AgentData): (fdb: number) => number | undefined {
  const vlans = new Map<number, number[]>();
  for (const [row, value] of column(data, "dot1qVlanFdbId")) {
    const vlan = indexParts(row).at(-1);
    const fdb = toInteger(value);
    if (vlan !== undefined && fdb !== undefined) appendTo(vlans, fdb, vlan);
  }
  return (fdb) => {
    const shared = vlans.get(fdb) ?? [fdb];
    const vlan = shared.length === 1 || !shared.includes(fdb) ? shared[0] : fdb;
    return vlan !== undefined && vlan >= 1 && vlan <= MAX_VLAN ? vlan : undefined;
  };
}

/** Whether the VLAN is the PVID of the port, or the port is an untagged port of the VLAN. Few agents report both. */
function leavesUntagged(data: AgentData, vlan: number, tablePort: number, port: AgentInterface): boolean {
  const pvids = column(data, "dot1qPvid");
  const pvid = pvids.get(String(port.basePort ?? tablePort)) ?? pvids.get(String(tablePort));
  if (toInteger(pvid) === vlan) return true;
  const untagged = column(data, "dot1qVlanCurrentUntaggedPorts");
  return isInPortList(ofVlan(untagged, vlan), port.basePort ?? tablePort);
}

/** Returns the row of a VLAN. The index is TimeMark.VLAN, and nearly all agents have only time mark 0. */
const ofVlan = (rows: ReadonlyMap<string, SnmpValue>, vlan: number): SnmpValue | undefined =>
  rows.get(`0.${vlan}`) ?? rows.get(String(vlan));

const TYPE_INVALID = 2;

/** Reads the neighbour tables of IPv4 (ARP) and IPv6 (ND), which contain the IP addresses of each MAC address. */
export function mapAddressTable(data: AgentData): AddressEntry[] {
  const entries = new Map<string, AddressEntry>();
  const add = (mac: string | undefined, ip: string | undefined, port = 0): void => {
    if (mac === undefined || ip === undefined || entries.size >= MAX_ENTRIES) return;
    entries.set(`${mac} ${ip}`, { mac, ip, port });
  };
  const mediaTypes = column(data, "ipNetToMediaType");
  for (const [row, value] of column(data, "ipNetToMediaPhysAddress")) {
    // The index consists of the ifIndex and the four bytes of the address.
    const [port, ...bytes] = indexParts(row);
    if (toInteger(mediaTypes.get(row)) !== TYPE_INVALID) add(toMac(value), toIp(bytes), port);
  }
  const physicalTypes = column(data, "ipNetToPhysicalType");
  for (const [row, value] of column(data, "ipNetToPhysicalPhysAddress")) {
    if (toInteger(physicalTypes.get(row)) === TYPE_INVALID) continue;
    // The index consists of ifIndex, family, length and address. An IPv6 address with a zone has four more bytes.
    const [port, , length = 0, ...bytes] = indexParts(row);
    if (length === bytes.length) add(toMac(value), toIp(length === 20 ? bytes.slice(0, 16) : bytes), port);
  }
  return [...entries.values()];
}
