/** SNMPv2-MIB, ENTITY-MIB and the addresses of a device: what it is, and the texts and addresses that identify it. */
import { isRealIdentity } from "../../../model/derived-ids.ts";
import type { AgentData } from "./agent-data.ts";
import type { AgentIdentity, AgentInterface, AgentReport } from "./agent-report.ts";
import { type Capability, lldpCapabilities, typeOfCapabilities } from "./capabilities.ts";
import { enterpriseName } from "./enterprises.ts";
import { IFTYPE_ETHERNET } from "./interfaces.ts";
import { localChassis } from "./lldp-identity.ts";
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

const MAX_MACS = 16_384;
const MAX_ADDRESSES = 1024;
const CLASS = { chassis: 3, stack: 11 } as const;
/** Layers in sysServices: each is the bit of its number less one. */
const SERVICE = { bridge: 1 << 1, router: 1 << 2, applications: 1 << 6 } as const;
const LOCALLY_ADMINISTERED_BIT = 2;

interface Equipment {
  readonly mfr: string;
  readonly hw: string;
  readonly sw: string;
  readonly serial: string;
}

export function mapDevice(data: AgentData, identity: AgentIdentity): AgentReport["device"] {
  const description = toText(scalar(data, "sysDescr"), MAX_DESCRIPTION_LENGTH);
  const objectId = toText(scalar(data, "sysObjectID"));
  const equipment = mapEquipment(data);
  const chassisId = identity.chassis ?? identity.bridgeAddress;
  return {
    type: mapType(data),
    ...nonEmpty({
      mfr: equipment.mfr || enterpriseName(objectId),
      hw: equipment.hw || description,
      sw: equipment.sw || description,
      serial: equipment.serial,
      chassisId: chassisId ?? "",
    }),
    annotations: nonEmpty({
      protocol: "SNMP",
      managementAddress: data.address,
      name: toText(scalar(data, "sysName")),
      description,
      sysObjectID: objectId,
      location: toText(scalar(data, "sysLocation")),
      contact: toText(scalar(data, "sysContact")),
    }),
  };
}

function nonEmpty<K extends string>(texts: Record<K, string>): { [key in K]?: string } {
  const present: { [key in K]?: string } = {};
  for (const key in texts) if (texts[key] !== "") present[key] = texts[key];
  return present;
}

/** Enabled capabilities of LLDP, else the layers in sysServices, else whether it is a bridge. */
function mapType(data: AgentData): NonNullable<AgentReport["device"]["type"]> {
  const capabilities: Capability[] = lldpCapabilities(firstBits(scalar(data, "lldpLocSysCapEnabled")));
  const byCapabilities = typeOfCapabilities(capabilities);
  if (byCapabilities !== "OTHER") return byCapabilities;
  const services = toInteger(scalar(data, "sysServices")) ?? 0;
  if (services & SERVICE.bridge || column(data, "dot1dBasePortIfIndex").size > 0) return "SWITCH";
  if (services & SERVICE.router) return "ROUTER";
  return services & SERVICE.applications ? "SERVER" : "OTHER";
}

/** Of the chassis with the lowest index; of the stack where a text of it is empty. */
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

export function mapIdentity(data: AgentData, interfaces: readonly AgentInterface[]): AgentIdentity {
  const chassis = localChassis(data);
  const bridgeAddress = toMac(scalar(data, "dot1dBaseBridgeAddress"));
  const { serial } = mapEquipment(data);
  const name = toText(scalar(data, "sysName"));
  const lowestMac = lowestPhysicalMac(interfaces);
  const macs = new Set(interfaces.flatMap(({ mac }) => (mac !== undefined && isOwnMac(mac) ? mac : [])));
  if (bridgeAddress !== undefined) macs.add(bridgeAddress);
  return {
    ...(chassis !== undefined && { chassis }),
    ...(bridgeAddress !== undefined && { bridgeAddress }),
    ...(isRealIdentity(serial) && { serial }),
    ...(isRealIdentity(name) && { name }),
    ...(lowestMac !== undefined && { lowestMac }),
    macs: [...macs].sort().slice(0, MAX_MACS),
    addresses: ownAddresses(data),
  };
}

/** A burnt-in address; where there is none, any. */
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
    // Family, length, address.
    const [, length = 0, ...bytes] = indexParts(row);
    const ip = length === bytes.length ? toIp(bytes) : undefined;
    if (ip !== undefined) addresses.add(ip);
  }
  return [...addresses].sort().slice(0, MAX_ADDRESSES);
}
