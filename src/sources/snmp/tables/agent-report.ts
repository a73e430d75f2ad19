/**
 * The report of one agent about its device, its neighbours and the stations behind its ports: the result of `mapAgent` and
 * the input of `joinAgents`. A report contains plain values only.
 */
import type { DeviceClaim } from "../../../model/claim.ts";
import type { RejectedRecord } from "../../source.ts";

/** The texts and addresses that identify a device. MACs are canonical. */
export interface AgentIdentity {
  /** `lldpLocChassisId` in the form that neighbours report. */
  readonly chassis?: string;
  readonly bridgeAddress?: string;
  readonly serial?: string;
  readonly name?: string;
  /** The lowest burnt-in MAC address; if there is none, the lowest of all MAC addresses. */
  readonly lowestMac?: string;
  /** The MAC addresses of all interfaces and of the bridge, without shared virtual ones, sorted. */
  readonly macs: readonly string[];
  /** The IP addresses of the device, including the polled one, sorted. */
  readonly addresses: readonly string[];
}

export interface AgentInterface {
  /** The ifIndex, which is the number of the port. */
  readonly index: number;
  /** The ifName, else the ifDescr, else the number. */
  readonly name: string;
  readonly descr: string;
  readonly alias: string;
  readonly type: number;
  readonly speedMbps: number;
  readonly isUp: boolean;
  readonly mac?: string;
  readonly basePort?: number;
  /** The ifIndex of the aggregate that this port is a member of. */
  readonly aggregate?: number;
}

/** A port, and how it was found, for the annotation `matchedBy`. */
export interface PortMatch {
  readonly index: number;
  readonly how: string;
}

export interface Neighbour {
  /** The protocols, both for a device that sends both on one cable. */
  readonly protocols: readonly ("LLDP" | "CDP")[];
  /** The interface that received the neighbour's frame; absent when no interface matches. */
  readonly localPort?: PortMatch;
  /** The id of the neighbour's device, made only of what the neighbour sends. */
  readonly id: string;
  /** Other ids that can be made of the same frame. */
  readonly aliases: readonly string[];
  readonly chassis: string;
  /** Whether the chassis id identifies a device. It does not if it is that of an interface, or an address that may change. */
  readonly isChassisIdentity: boolean;
  readonly portId: string;
  readonly portDesc: string;
  readonly portMac?: string;
  readonly name: string;
  readonly serial?: string;
  readonly description: string;
  readonly platform: string;
  readonly capabilities: readonly Capability[];
  /** The management addresses. */
  readonly addresses: readonly string[];
  /** The MAC addresses of the neighbour: chassis, port and management. */
  readonly macs: readonly string[];
}

export interface ForwardingEntry {
  readonly mac: string;
  /** The VLAN in the table; absent when the table has no VLANs. */
  readonly vlan?: number;
  readonly port: number;
  /** Whether frames of this VLAN leave the port without a tag. */
  readonly isUntagged: boolean;
}

export interface AddressEntry {
  readonly mac: string;
  readonly ip: string;
  /** The ifIndex of the interface that the address was resolved on. */
  readonly port: number;
}

export interface AgentReport {
  readonly target: string;
  readonly address: string;
  readonly identity: AgentIdentity;
  readonly device: Omit<DeviceClaim, "id" | "available">;
  readonly interfaces: readonly AgentInterface[];
  readonly neighbours: readonly Neighbour[];
  /** The ifIndexes of ports whose neighbour forwards for others but cannot be identified. */
  readonly unidentifiedUplinks: readonly number[];
  readonly forwarding: readonly ForwardingEntry[];
  readonly addressTable: readonly AddressEntry[];
  readonly faults: readonly RejectedRecord[];
}

/** The last report of an agent. */
export interface PolledAgent {
  readonly report: AgentReport;
  /** The time since which the agent does not answer, in epoch milliseconds; undefined while it answers. */
  readonly unansweredSince?: number;
}

// The system capabilities of LLDP and CDP, and the device types that follow from them.

/** The capabilities in the order of the bits of LldpSystemCapabilitiesMap. */
const LLDP_CAPABILITIES = [
  "other",
  "repeater",
  "bridge",
  "wlanAccessPoint",
  "router",
  "telephone",
  "docsisCableDevice",
  "stationOnly",
] as const;
export type Capability = (typeof LLDP_CAPABILITIES)[number];

/** `bits` has the first capability in its highest bit. */
export const lldpCapabilities = (bits: number): Capability[] =>
  LLDP_CAPABILITIES.filter((_, i) => (bits & (0x80 >> i)) !== 0);

const CDP_CAPABILITIES: readonly (readonly [number, Capability])[] = [
  [0x40, "repeater"],
  [0x0e, "bridge"],
  [0x01, "router"],
  [0x80, "telephone"],
  [0x10, "stationOnly"],
];
/** `bits` is the last byte of `cdpCacheCapabilities`. */
export const cdpCapabilities = (bits: number): Capability[] =>
  CDP_CAPABILITIES.filter(([mask]) => (bits & mask) !== 0).map(([, name]) => name);

/** Returns the type of a device. A switch that routes is a switch; a telephone that switches between its two ports is not. */
export function typeOfCapabilities(capabilities: readonly Capability[]): NonNullable<DeviceClaim["type"]> {
  if (capabilities.includes("telephone")) return "OTHER";
  if (capabilities.includes("bridge")) return "SWITCH";
  return capabilities.includes("router") ? "ROUTER" : "OTHER";
}

const FORWARDING: readonly Capability[] = ["bridge", "router", "repeater", "wlanAccessPoint"];
const END_STATION: readonly Capability[] = ["telephone", "docsisCableDevice"];

/**
 * Whether a neighbour connects other stations, so that the port to it is not an edge port. A neighbour without enabled
 * capabilities is a network card if its chassis and port id are the same MAC address; otherwise it counts as a switch.
 */
export function forwardsForOthers(neighbour: {
  readonly capabilities: readonly Capability[];
  readonly chassis: string;
  readonly portMac?: string;
}): boolean {
  const { capabilities, chassis, portMac } = neighbour;
  if (capabilities.some((name) => END_STATION.includes(name))) return false;
  if (capabilities.length === 0) return portMac !== chassis;
  return capabilities.some((name) => FORWARDING.includes(name));
}

/** Returns the name of a device without its domain. */
export const firstLabel = (name: string): string => name.split(".", 1)[0] ?? name;

/** Compares names without regard to case. A name without a domain equals the same name with a domain. */
export function isSameName(a: string, b: string): boolean {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  if (x === "" || y === "") return false;
  if (x === y) return true;
  return x.includes(".") !== y.includes(".") && firstLabel(x) === firstLabel(y);
}
