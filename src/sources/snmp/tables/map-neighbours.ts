/**
 * Maps the neighbours of a device from LLDP-MIB and CISCO-CDP-MIB. Agents differ in the form of LLDP's index, in the types
 * of its values and in the meaning of the local port number. `map-neighbours.test.ts` has a case for each variant.
 */

import { canonicalMac } from "../../../model/address.ts";
import { chassisDeviceId, isRealIdentity, nameDeviceId, serialDeviceId } from "../../../model/derived-ids.ts";
import { identifierText } from "../../openflow/codec/lldp.ts";
import type { RejectedRecord } from "../../source.ts";
import {
  cdpCapabilities,
  forwardsForOthers,
  isSameName,
  lldpCapabilities,
  type Neighbour,
  type PortMatch,
} from "./agent-report.ts";
import type { InterfaceFinder } from "./interfaces.ts";
import type { AgentData, SnmpValue } from "./mib.ts";
import {
  column,
  firstBits,
  indexParts,
  isBytes,
  isUnicastMac,
  MAX_DESCRIPTION_LENGTH,
  MAX_NAME_LENGTH,
  macOfParts,
  scalar,
  toInteger,
  toIp,
  toText,
} from "./values.ts";

const MAX_NEIGHBOURS = 4096;
const MAX_ADDRESSES = 16;
/** The address families of management addresses. */
const FAMILY = { ipv4: 1, ipv6: 2, mac: 6 } as const;
/** The chassis id in a probe of an OpenFlow controller. Such a probe is not a neighbour. */
const PROBE = /^(?:dpid|of):/i;

export function mapLldp(
  data: AgentData,
  finder: InterfaceFinder,
): { neighbours: Neighbour[]; unidentifiedUplinks: number[]; faults: RejectedRecord[] } {
  const neighbours: Neighbour[] = [];
  const unidentifiedUplinks: number[] = [];
  const faults: RejectedRecord[] = [];
  const addresses = managementAddresses(data);
  const rows = new Set([...column(data, "lldpRemChassisId").keys(), ...column(data, "lldpRemPortId").keys()]);
  for (const row of inOrder(rows).slice(0, MAX_NEIGHBOURS)) {
    const neighbour = mapLldpRow(data, finder, row, addresses.get(row) ?? []);
    if (neighbour === undefined) continue;
    if (neighbour.id !== undefined) {
      neighbours.push({ ...neighbour, id: neighbour.id });
      continue;
    }
    const message = `has a chassis id that identifies no device: ${JSON.stringify(neighbour.chassis)}`;
    faults.push({ kind: "devices", fault: { field: `lldpRemTable.${row}`, message } });
    if (neighbour.localPort && forwardsForOthers(neighbour))
      unidentifiedUplinks.push(neighbour.localPort.index);
  }
  return { neighbours, unidentifiedUplinks, faults };
}

/** Returns the rows ordered by port and index, not by their time mark, which changes with each update of a row. */
function inOrder(rows: Iterable<string>): string[] {
  const keyed = Array.from(rows, (row) => ({ row, parts: indexParts(row).slice(-2) }));
  keyed.sort(
    (a, b) =>
      (a.parts[0] ?? 0) - (b.parts[0] ?? 0) ||
      (a.parts[1] ?? 0) - (b.parts[1] ?? 0) ||
      (a.row < b.row ? -1 : 1),
  );
  return keyed.map(({ row }) => row);
}

type UnidentifiedNeighbour = Omit<Neighbour, "id"> & { readonly id?: string };

/** Maps one row of LLDP. Returns undefined for a row that is not a neighbour. */
function mapLldpRow(
  data: AgentData,
  finder: InterfaceFinder,
  row: string,
  management: readonly ManagementAddress[],
): UnidentifiedNeighbour | undefined {
  const chassisSubtype = toInteger(column(data, "lldpRemChassisIdSubtype").get(row)) ?? 0;
  const portSubtype = toInteger(column(data, "lldpRemPortIdSubtype").get(row)) ?? 0;
  const chassis = toIdentifier("chassis", chassisSubtype, column(data, "lldpRemChassisId").get(row));
  const portId = toIdentifier("port", portSubtype, column(data, "lldpRemPortId").get(row));
  if (PROBE.test(chassis)) return undefined;
  const name = toText(column(data, "lldpRemSysName").get(row));
  const portMac = macOf(portId);
  const macs = [macOf(chassis), portMac, ...management.map(({ mac }) => mac)].flatMap((mac) => mac ?? []);
  const isIdentity = isChassisIdentity(chassisSubtype, chassis);
  const localPort = findLocalPort(data, finder, row);
  const [id, ...aliases] = neighbourIds({
    chassis,
    isIdentity,
    chassisSubtype,
    name,
    macs,
  });
  return {
    protocols: ["LLDP"],
    ...(localPort && { localPort }),
    ...(id !== undefined && { id }),
    aliases,
    chassis,
    isChassisIdentity: isIdentity,
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

/** RouterOS and Cambium send only the last part of TimeMark.LocalPortNum.Index, TP-Link the last two. */
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
  const subtype = toInteger(column(data, "lldpLocPortIdSubtype").get(row)) ?? likelySubtype("port", value);
  const text = toIdentifier("port", subtype, value);
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

/** Returns management addresses by row of the remote table. Their index ends with family, length (not in SLX) and address. */
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
  if (family === FAMILY.mac) {
    const mac = macOfParts(bytes);
    return mac === undefined ? undefined : { mac };
  }
  if (family !== FAMILY.ipv4 && family !== FAMILY.ipv6) return undefined;
  const ip = toIp(bytes);
  return ip === undefined ? undefined : { ip };
}

// Chassis and port ids of LLDP as texts, and the ids of devices made of them. The texts are the same as in the OpenFlow
// source, so that a device has the same id in both.

/** The subtype of a MAC address as chassis id, and the subtypes whose id belongs to an interface or may change. */
const CHASSIS = { interfaceAlias: 2, portComponent: 3, mac: 4, network: 5, interfaceName: 6 } as const;

/** Returns the device's own chassis id, in the same form as in the OpenFlow source; undefined if it identifies no device. */
export function localChassis(data: AgentData): string | undefined {
  const value = scalar(data, "lldpLocChassisId");
  const subtype = toInteger(scalar(data, "lldpLocChassisIdSubtype")) ?? likelySubtype("chassis", value);
  const chassis = toIdentifier("chassis", subtype, value);
  return chassis !== "" && isChassisIdentity(subtype, chassis) ? chassis : undefined;
}

/** The subtype of a MAC address in a port id. */
const PORT_MAC = 3;

/** Guesses the subtype that an agent leaves out. Six bytes that are not a text are a MAC address. */
function likelySubtype(of: "chassis" | "port", value: SnmpValue | undefined): number {
  const isMac = isBytes(value) && value.length === 6 && value.some((byte) => byte < 0x20 || byte > 0x7e);
  return isMac ? (of === "chassis" ? CHASSIS.mac : PORT_MAC) : 0;
}

/** An interface name of six bytes, such as `vmnic2`, which some firmware declares as a MAC address. */
const INTERFACE_NAME = /^[a-z]{2,5}\d{1,4}$/;

/** Converts an id to text. RouterOS sends MAC addresses in ASCII. A name that only looks like one stays unchanged. */
function toIdentifier(of: "chassis" | "port", subtype: number, value: SnmpValue | undefined): string {
  if (!isBytes(value) || value.length === 0) return "";
  const name = value.length === 6 ? toText(value) : "";
  if (INTERFACE_NAME.test(name)) return name;
  const text = identifierText(of, subtype, value.subarray(0, MAX_NAME_LENGTH)).trim();
  const isMac = subtype === 0 || subtype === (of === "chassis" ? CHASSIS.mac : PORT_MAC);
  return (isMac ? canonicalMac(text) : undefined) ?? text.slice(0, MAX_NAME_LENGTH);
}

/** Returns a chassis or port id if it is a MAC address. */
const macOf = (id: string): string | undefined =>
  canonicalMac(id) === id && isUnicastMac(id) ? id : undefined;

/**
 * Whether a chassis id belongs to one device only. ESXi sends the name of its interface, and telephones send their IP
 * address. A text that is declared as a MAC address but is not one identifies nothing.
 */
function isChassisIdentity(subtype: number, chassis: string): boolean {
  if (macOf(chassis) !== undefined) return true;
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

/**
 * Returns the ids that can be made of one frame, the best first. They depend on the frame alone, so that the id of a device
 * does not depend on which of its neighbours answer.
 */
function neighbourIds(of: {
  readonly chassis: string;
  readonly isIdentity: boolean;
  readonly chassisSubtype: number;
  readonly name: string;
  readonly macs: readonly string[];
}): string[] {
  const byChassis = chassisDeviceId(of.chassis);
  if (of.isIdentity) return [byChassis];
  const isNetworkAddress = of.chassisSubtype === CHASSIS.network;
  const [mac] = of.macs;
  const byMac = mac === undefined ? [] : [chassisDeviceId(mac)];
  const byName = isRealIdentity(of.name) ? [nameDeviceId(of.name)] : [];
  // The name of a telephone is its model, so its MAC address comes first. An ESXi host has several, so its name comes first.
  const [id] = isNetworkAddress ? [...byMac, ...byName] : [...byName, ...byMac];
  if (id === undefined) return [];
  return isNetworkAddress ? [id, byChassis] : [id];
}

const ADDRESS_TYPE_IP = 1;
/** NX-OS appends its serial number to its name. */
const NAME_AND_SERIAL = /^(.+)\(([^()]+)\)$/;

/** Maps the neighbours in CISCO-CDP-MIB. The index begins with the ifIndex of the local port. */
export function mapCdp(
  data: AgentData,
  finder: InterfaceFinder,
): { neighbours: Neighbour[]; faults: RejectedRecord[] } {
  const neighbours: Neighbour[] = [];
  const faults: RejectedRecord[] = [];
  const rows = [...column(data, "cdpCacheDeviceId").keys()].sort().slice(0, MAX_NEIGHBOURS);
  for (const row of rows) {
    const neighbour = mapCdpRow(data, finder, row);
    if (neighbour) neighbours.push(neighbour);
    else {
      const fault = { field: `cdpCacheTable.${row}`, message: "has a device id that identifies no device" };
      faults.push({ kind: "devices", fault });
    }
  }
  return { neighbours, faults };
}

function mapCdpRow(data: AgentData, finder: InterfaceFinder, row: string): Neighbour | undefined {
  const deviceId = toText(column(data, "cdpCacheDeviceId").get(row));
  const [, idName = deviceId, serial] = NAME_AND_SERIAL.exec(deviceId) ?? [];
  const mac = canonicalMac(deviceId);
  const [id, ...aliases] = [
    ...(mac === undefined ? [] : [chassisDeviceId(mac)]),
    ...(serial !== undefined && isRealIdentity(serial) ? [serialDeviceId(serial)] : []),
    ...(mac === undefined && isRealIdentity(idName) ? [nameDeviceId(idName)] : []),
  ];
  if (id === undefined) return undefined;
  const localPort = finder.findNumber(indexParts(row)[0] ?? 0);
  const portId = toText(column(data, "cdpCacheDevicePort").get(row));
  const portMac = canonicalMac(portId);
  const bits = column(data, "cdpCacheCapabilities").get(row);
  const address = column(data, "cdpCacheAddress").get(row);
  const isIp = toInteger(column(data, "cdpCacheAddressType").get(row)) === ADDRESS_TYPE_IP;
  const ip = isIp && isBytes(address) ? toIp(address) : undefined;
  return {
    protocols: ["CDP"],
    ...(localPort && { localPort }),
    id,
    aliases,
    chassis: mac ?? "",
    isChassisIdentity: mac !== undefined,
    portId,
    portDesc: "",
    ...(portMac !== undefined && { portMac }),
    name: toText(column(data, "cdpCacheSysName").get(row)) || (mac === undefined ? idName : ""),
    ...(serial !== undefined && { serial }),
    description: toText(column(data, "cdpCacheVersion").get(row), MAX_DESCRIPTION_LENGTH),
    platform: toText(column(data, "cdpCachePlatform").get(row)),
    capabilities: cdpCapabilities(isBytes(bits) ? (bits.at(-1) ?? 0) : (toInteger(bits) ?? 0)),
    addresses: ip === undefined ? [] : [ip],
    macs: [mac, portMac].flatMap((each) => each ?? []),
  };
}

/** Merges the two neighbours of a device that sends LLDP and CDP on one cable. CDP adds what LLDP lacks. */
export function mergeNeighbours(lldp: readonly Neighbour[], cdp: readonly Neighbour[]): Neighbour[] {
  const byPort = Map.groupBy(lldp, portOf);
  const cdpByPort = Map.groupBy(cdp, portOf);
  const merged = new Map<Neighbour, Neighbour>();
  const others: Neighbour[] = [];
  for (const each of cdp) {
    const port = portOf(each);
    const onPort = port === undefined ? [] : (byPort.get(port) ?? []);
    const free = onPort.filter((candidate) => !merged.has(candidate));
    const isOnlyPair = onPort.length === 1 && cdpByPort.get(port)?.length === 1;
    const same = isOnlyPair ? free[0] : free.find((candidate) => isSame(candidate, each));
    if (same) merged.set(same, combine(same, each));
    else others.push(each);
  }
  return [...lldp.map((each) => merged.get(each) ?? each), ...others];
}

const portOf = (neighbour: Neighbour): number | undefined => neighbour.localPort?.index;

const isSame = (lldp: Neighbour, cdp: Neighbour): boolean =>
  (cdp.chassis !== "" && cdp.chassis === lldp.chassis) || isSameName(lldp.name, cdp.name);

function combine(lldp: Neighbour, cdp: Neighbour): Neighbour {
  const serial = lldp.serial ?? cdp.serial;
  return {
    ...lldp,
    protocols: ["LLDP", "CDP"],
    aliases: [...new Set([...lldp.aliases, cdp.id, ...cdp.aliases])].filter((id) => id !== lldp.id),
    portDesc: lldp.portDesc || cdp.portId,
    name: lldp.name || cdp.name,
    ...(serial !== undefined && { serial }),
    description: lldp.description || cdp.description,
    platform: cdp.platform,
    capabilities: [...new Set([...lldp.capabilities, ...cdp.capabilities])],
    addresses: [...new Set([...lldp.addresses, ...cdp.addresses])],
    macs: [...new Set([...lldp.macs, ...cdp.macs])],
  };
}
