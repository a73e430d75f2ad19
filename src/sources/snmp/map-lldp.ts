/**
 * LLDP-MIB: the chassis id of the device and its neighbours. The form of the index, the types of the values and what the
 * local port number counts differ between agents; the table of cases in `map-lldp.test.ts` has each habit.
 */
import { canonicalMac } from "../../model/address.ts";
import { chassisDeviceId, isRealIdentity, nameDeviceId } from "../../model/derived-ids.ts";
import { identifierText } from "../openflow/codec/lldp.ts";
import type { AgentData, SnmpValue } from "./agent-data.ts";
import type { Neighbour, PortMatch, RecordFault } from "./agent-report.ts";
import { lldpCapabilities } from "./capabilities.ts";
import type { InterfaceFinder } from "./find-interface.ts";
import {
  column,
  firstBits,
  indexParts,
  isBytes,
  isUnicastMac,
  MAX_DESCRIPTION_LENGTH,
  MAX_NAME_LENGTH,
  scalar,
  toInteger,
  toIp,
  toText,
} from "./values.ts";

const MAX_NEIGHBOURS = 4096;
const MAX_ADDRESSES = 16;
const CHASSIS = { interfaceAlias: 2, portComponent: 3, mac: 4, network: 5, interfaceName: 6 } as const;
/** Address families of management addresses. */
const FAMILY = { ipv4: 1, ipv6: 2, mac: 6 } as const;
/** Probes of OpenFlow controllers: the switch that sent them is known as a datapath. */
const PROBE = /^(?:dpid|of):/i;

/** The text that the OpenFlow source has for the same chassis. */
export function localChassis(data: AgentData): string | undefined {
  const subtype = toInteger(scalar(data, "lldpLocChassisIdSubtype")) ?? CHASSIS.mac;
  const chassis = toIdentifier("chassis", subtype, scalar(data, "lldpLocChassisId"));
  return chassis !== "" && isIdentity(subtype, chassis) ? chassis : undefined;
}

/** Addresses in ASCII, as RouterOS sends them, become canonical too. */
function toIdentifier(of: "chassis" | "port", subtype: number, value: SnmpValue | undefined): string {
  if (!isBytes(value) || value.length === 0) return "";
  const text = identifierText(of, subtype, value.subarray(0, MAX_NAME_LENGTH)).trim();
  return canonicalMac(text) ?? text.slice(0, MAX_NAME_LENGTH);
}

/**
 * Whether a chassis id belongs to one device only. ESXi sends the name of its interface, telephones their IP address; a
 * text that is declared a MAC address and is none says nothing.
 */
function isIdentity(subtype: number, chassis: string): boolean {
  if (canonicalMac(chassis) !== undefined) return isUnicastMac(chassis);
  switch (subtype) {
    case CHASSIS.interfaceAlias:
    case CHASSIS.portComponent:
    case CHASSIS.mac:
    case CHASSIS.network:
    case CHASSIS.interfaceName:
      return false;
    default:
      return isRealIdentity(chassis);
  }
}

export function mapLldp(
  data: AgentData,
  finder: InterfaceFinder,
): { neighbours: Neighbour[]; faults: RecordFault[] } {
  const neighbours: Neighbour[] = [];
  const faults: RecordFault[] = [];
  const addresses = managementAddresses(data);
  const rows = new Set([...column(data, "lldpRemChassisId").keys(), ...column(data, "lldpRemPortId").keys()]);
  for (const row of [...rows].sort().slice(0, MAX_NEIGHBOURS)) {
    const neighbour = mapRow(data, finder, row, addresses.get(row) ?? []);
    if (typeof neighbour === "string")
      faults.push({ kind: "devices", fault: { field: `lldpRemTable.${row}`, message: neighbour } });
    else if (neighbour) neighbours.push(neighbour);
  }
  return { neighbours, faults };
}

/** The neighbour of one row, or why there is none; undefined for a row that is no neighbour. */
function mapRow(
  data: AgentData,
  finder: InterfaceFinder,
  row: string,
  management: readonly ManagementAddress[],
): Neighbour | string | undefined {
  const chassisSubtype = toInteger(column(data, "lldpRemChassisIdSubtype").get(row)) ?? 0;
  const portSubtype = toInteger(column(data, "lldpRemPortIdSubtype").get(row)) ?? 0;
  const chassis = toIdentifier("chassis", chassisSubtype, column(data, "lldpRemChassisId").get(row));
  const portId = toIdentifier("port", portSubtype, column(data, "lldpRemPortId").get(row));
  if (PROBE.test(chassis)) return undefined;
  if (chassis === "") return "has no chassis id";
  const name = toText(column(data, "lldpRemSysName").get(row));
  const portMac = canonicalMac(portId);
  const macs = [canonicalMac(chassis), portMac, ...management.map(({ mac }) => mac)].flatMap((mac) =>
    mac !== undefined && isUnicastMac(mac) ? mac : [],
  );
  const isChassisIdentity = isIdentity(chassisSubtype, chassis);
  const localPort = findLocalPort(data, finder, row);
  const ids = neighbourIds({
    chassis,
    isChassisIdentity,
    isNetworkAddress: chassisSubtype === CHASSIS.network,
    name,
    macs,
  });
  const [id, ...aliases] = ids;
  if (id === undefined) return `has a chassis id that identifies no device (subtype ${chassisSubtype})`;
  return {
    protocols: ["LLDP"],
    ...(localPort && { localPort }),
    id,
    aliases,
    chassis,
    isChassisIdentity,
    portId,
    portDesc: toText(column(data, "lldpRemPortDesc").get(row)),
    ...(portMac !== undefined && { portMac }),
    name,
    description: toText(column(data, "lldpRemSysDesc").get(row), MAX_DESCRIPTION_LENGTH),
    platform: "",
    capabilities: lldpCapabilities(firstBits(column(data, "lldpRemSysCapEnabled").get(row))),
    addresses: management.flatMap(({ ip }) => ip ?? []).slice(0, MAX_ADDRESSES),
    macs: [...new Set(macs)],
  };
}

/**
 * The ids that one frame gives, best first. All depend on the frame alone, so that the id of a device does not depend on
 * which neighbour answers.
 */
function neighbourIds(of: {
  readonly chassis: string;
  readonly isChassisIdentity: boolean;
  readonly isNetworkAddress: boolean;
  readonly name: string;
  readonly macs: readonly string[];
}): string[] {
  const byChassis = chassisDeviceId(of.chassis);
  if (of.isChassisIdentity) return [byChassis];
  const [mac] = of.macs;
  const byMac = mac === undefined ? [] : [chassisDeviceId(mac)];
  const byName = isRealIdentity(of.name) ? [nameDeviceId(of.name)] : [];
  // A telephone names itself by its model, so its address at layer 2 comes first; an ESXi host has several of these.
  const [id] = of.isNetworkAddress ? [...byMac, ...byName] : [...byName, ...byMac];
  if (id === undefined) return [];
  return of.isNetworkAddress ? [id, byChassis] : [id];
}

/** RouterOS and Cambium leave only the last part of TimeMark.LocalPortNum.Index, TP-Link the last two. */
function findLocalPort(data: AgentData, finder: InterfaceFinder, row: string): PortMatch | undefined {
  const parts = indexParts(row);
  const routerOs = toInteger(column(data, "mtxrNeighborInterfaceID").get(row));
  if (routerOs !== undefined && finder.get(routerOs))
    return { index: routerOs, how: "mtxrNeighborInterfaceID" };
  const numbers = parts.length >= 3 ? parts.slice(1, 2) : parts.slice(0, 2);
  for (const number of numbers) {
    const port = findPortNumber(data, finder, number);
    if (port) return port;
  }
  return undefined;
}

function findPortNumber(data: AgentData, finder: InterfaceFinder, number: number): PortMatch | undefined {
  const row = String(number);
  const value = column(data, "lldpLocPortId").get(row);
  const subtype = toInteger(column(data, "lldpLocPortIdSubtype").get(row));
  // Without a subtype six bytes that are no text are a MAC address.
  const text = toIdentifier("port", subtype ?? (isBytes(value) && value.length === 6 ? 3 : 0), value);
  return finder.find({
    texts: [
      { label: "lldpLocPortId", text },
      { label: "lldpLocPortDesc", text: toText(column(data, "lldpLocPortDesc").get(row)) },
    ],
    number,
  });
}

interface ManagementAddress {
  readonly ip?: string;
  readonly mac?: string;
}

/** By row of the remote table. The index ends with the family, the length and the address; SLX leaves out the length. */
function managementAddresses(data: AgentData): Map<string, ManagementAddress[]> {
  const rows = column(data, "lldpRemChassisId");
  const byRow = new Map<string, ManagementAddress[]>();
  for (const index of column(data, "lldpRemManAddrIfSubtype").keys()) {
    const parts = indexParts(index);
    for (const length of [3, 2, 1]) {
      const row = parts.slice(0, length).join(".");
      if (!rows.has(row)) continue;
      const address = toAddress(parts.slice(length));
      if (address) byRow.set(row, [...(byRow.get(row) ?? []), address].slice(0, MAX_ADDRESSES));
      break;
    }
  }
  return byRow;
}

function toAddress([family, ...rest]: readonly number[]): ManagementAddress | undefined {
  const bytes = rest[0] === rest.length - 1 ? rest.slice(1) : rest;
  if (family === FAMILY.mac && bytes.length === 6) {
    const mac = canonicalMac(bytes.map((byte) => byte.toString(16)).join(":"));
    return mac !== undefined && isUnicastMac(mac) ? { mac } : undefined;
  }
  if (family !== FAMILY.ipv4 && family !== FAMILY.ipv6) return undefined;
  const ip = toIp(bytes);
  return ip === undefined ? undefined : { ip };
}
