/**
 * Maps the objects that one agent returned to its report. This file maps the device itself (SNMPv2-MIB, ENTITY-MIB). The
 * mapping is pure and does not run in steps, because the walk and the mapping limit the size of the tables. It never
 * throws: a record that cannot be used is left out or reported as a fault.
 */

import { isRealIdentity } from "../../../model/derived-ids.ts";
import { nonEmpty } from "../../non-empty.ts";
import {
  type AgentIdentity,
  type AgentInterface,
  type AgentReport,
  lldpCapabilities,
  typeOfCapabilities,
} from "./agent-report.ts";
import { IFTYPE_ETHERNET, InterfaceFinder, mapInterfaces } from "./interfaces.ts";
import { mapAddressTable, mapForwarding } from "./map-forwarding.ts";
import { localChassis, mapCdp, mapLldp, mergeNeighbours } from "./map-neighbours.ts";
import type { AgentData } from "./mib.ts";
import {
  column,
  firstBits,
  indexParts,
  isOwnMac,
  MAX_DESCRIPTION_LENGTH,
  scalar,
  toInteger,
  toIp,
  toMac,
  toText,
} from "./values.ts";

const MAX_FAULTS = 1000;

export function mapAgent(data: AgentData): AgentReport {
  const interfaces = mapInterfaces(data);
  const finder = new InterfaceFinder(interfaces);
  const identity = mapIdentity(data, interfaces);
  const lldp = mapLldp(data, finder);
  const cdp = mapCdp(data, finder);
  return {
    target: data.target,
    address: data.address,
    identity,
    device: mapDevice(data, identity),
    interfaces,
    neighbours: mergeNeighbours(lldp.neighbours, cdp.neighbours),
    unidentifiedUplinks: lldp.unidentifiedUplinks,
    forwarding: mapForwarding(data, interfaces),
    addressTable: mapAddressTable(data),
    faults: [...lldp.faults, ...cdp.faults].slice(0, MAX_FAULTS),
  };
}

const MAX_MACS = 16_384;
const MAX_ADDRESSES = 1024;
const CLASS = { chassis: 3, stack: 11 } as const;
/** The layers in sysServices: layer n is bit n - 1. */
const SERVICE = { bridge: 1 << 1, router: 1 << 2, applications: 1 << 6 } as const;
const LOCALLY_ADMINISTERED_BIT = 2;

interface Equipment {
  readonly mfr: string;
  readonly hw: string;
  readonly sw: string;
  readonly serial: string;
}

function mapDevice(data: AgentData, identity: AgentIdentity): AgentReport["device"] {
  const description = toText(scalar(data, "sysDescr"), MAX_DESCRIPTION_LENGTH);
  const objectId = toText(scalar(data, "sysObjectID"));
  const equipment = mapEquipment(data);
  return {
    type: mapType(data),
    ...nonEmpty({
      mfr: equipment.mfr || enterpriseName(objectId),
      hw: equipment.hw || description,
      sw: equipment.sw || description,
      serial: equipment.serial,
      chassisId: identity.chassis ?? identity.bridgeAddress,
    }),
    annotations: nonEmpty({
      protocol: "SNMP",
      managementAddress: data.address,
      // By its target, a device is found after a restart before its agent has answered.
      channelId: data.target,
      name: toText(scalar(data, "sysName")),
      description,
      sysObjectID: objectId,
      location: toText(scalar(data, "sysLocation")),
      contact: toText(scalar(data, "sysContact")),
    }),
  };
}

/** Derives the type from the enabled capabilities of LLDP, else from the layers in sysServices and from bridge ports. */
function mapType(data: AgentData): NonNullable<AgentReport["device"]["type"]> {
  const byCapabilities = typeOfCapabilities(
    lldpCapabilities(firstBits(scalar(data, "lldpLocSysCapEnabled"))),
  );
  if (byCapabilities !== "OTHER") return byCapabilities;
  const services = toInteger(scalar(data, "sysServices")) ?? 0;
  if (services & SERVICE.bridge || column(data, "dot1dBasePortIfIndex").size > 0) return "SWITCH";
  if (services & SERVICE.router) return "ROUTER";
  return services & SERVICE.applications ? "SERVER" : "OTHER";
}

/** Returns the texts of the chassis with the lowest index. A text that is empty there is taken from the next part. */
function mapEquipment(data: AgentData): Equipment {
  const parts = [...column(data, "entPhysicalClass")]
    .map(([row, value]) => ({ row, index: Number(row), class: toInteger(value) }))
    .filter((part) => part.class === CLASS.chassis || part.class === CLASS.stack)
    .sort((a, b) => Number(a.class) - Number(b.class) || a.index - b.index);
  const first = (name: Parameters<typeof column>[1]): string => {
    for (const { row } of parts) {
      const text = toText(column(data, name).get(row));
      if (text !== "") return text;
    }
    return "";
  };
  return {
    mfr: first("entPhysicalMfgName"),
    hw: first("entPhysicalModelName") || first("entPhysicalDescr"),
    sw: first("entPhysicalSoftwareRev"),
    serial: first("entPhysicalSerialNum"),
  };
}

function mapIdentity(data: AgentData, interfaces: readonly AgentInterface[]): AgentIdentity {
  const bridgeAddress = toMac(scalar(data, "dot1dBaseBridgeAddress"));
  const real = (text: string) => (isRealIdentity(text) ? text : undefined);
  const macs = new Set(interfaces.flatMap(({ mac }) => (mac !== undefined && isOwnMac(mac) ? mac : [])));
  if (bridgeAddress !== undefined) macs.add(bridgeAddress);
  return {
    ...nonEmpty({
      chassis: localChassis(data),
      bridgeAddress,
      serial: real(mapEquipment(data).serial),
      name: real(toText(scalar(data, "sysName"))),
      lowestMac: lowestPhysicalMac(interfaces),
    }),
    macs: [...macs].sort().slice(0, MAX_MACS),
    addresses: ownAddresses(data),
  };
}

/** Returns the lowest burnt-in address; if there is none, the lowest of all addresses. */
function lowestPhysicalMac(interfaces: readonly AgentInterface[]): string | undefined {
  const burntIn: string[] = [];
  const others: string[] = [];
  for (const { mac, type } of interfaces) {
    if (mac === undefined || !isOwnMac(mac)) continue;
    const isLocal = (Number.parseInt(mac.slice(0, 2), 16) & LOCALLY_ADMINISTERED_BIT) !== 0;
    (IFTYPE_ETHERNET.has(type) && !isLocal ? burntIn : others).push(mac);
  }
  return burntIn.sort()[0] ?? others.sort()[0];
}

function ownAddresses(data: AgentData): string[] {
  const addresses = new Set<string>([data.address]);
  for (const row of column(data, "ipAdEntIfIndex").keys()) {
    const ip = toIp(indexParts(row));
    if (ip !== undefined) addresses.add(ip);
  }
  for (const row of column(data, "ipAddressIfIndex").keys()) {
    // The index consists of family, length and address.
    const [, length = 0, ...bytes] = indexParts(row);
    const ip = length === bytes.length ? toIp(bytes) : undefined;
    if (ip !== undefined) addresses.add(ip);
  }
  return [...addresses].sort().slice(0, MAX_ADDRESSES);
}

/** Manufacturers by the enterprise number in sysObjectID (IANA), for devices without ENTITY-MIB. */
const ENTERPRISES: ReadonlyMap<string, string> = new Map([
  ["9", "Cisco"],
  ["11", "Hewlett-Packard"],
  ["43", "3Com"],
  ["171", "D-Link"],
  ["207", "Allied Telesis"],
  ["248", "Hirschmann"],
  ["318", "APC"],
  ["674", "Dell"],
  ["890", "Zyxel"],
  ["1588", "Brocade"],
  ["1916", "Extreme Networks"],
  ["1991", "Foundry Networks"],
  ["2011", "Huawei"],
  ["2636", "Juniper Networks"],
  ["3902", "ZTE"],
  ["4526", "Netgear"],
  ["6486", "Alcatel-Lucent Enterprise"],
  ["6527", "Nokia"],
  ["8072", "Net-SNMP"],
  ["10002", "Ubiquiti"],
  ["11863", "TP-Link"],
  ["12356", "Fortinet"],
  ["14823", "Aruba"],
  ["14988", "MikroTik"],
  ["17713", "Cambium Networks"],
  ["25461", "Palo Alto Networks"],
  ["25506", "H3C"],
  ["30065", "Arista Networks"],
  ["40310", "Cumulus Networks"],
  ["41112", "Ubiquiti"],
  ["47196", "Aruba"],
]);
const ENTERPRISE = /^1\.3\.6\.1\.4\.1\.(\d+)(?:\.|$)/;

const enterpriseName = (objectId: string): string =>
  ENTERPRISES.get(ENTERPRISE.exec(objectId)?.[1] ?? "") ?? "";
