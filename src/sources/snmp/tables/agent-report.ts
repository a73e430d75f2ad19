/**
 * What one agent says about its device, its neighbours and the stations behind its ports: the result of `mapAgent` and
 * the input of `joinAgents`. Plain values, so that a report can be kept and sent between threads.
 */
import type { DeviceClaim } from "../../../model/claim.ts";
import type { RejectedRecord } from "../../source.ts";

/** Texts and addresses by which a device is recognised. MACs are canonical. */
export interface AgentIdentity {
  /** `lldpLocChassisId`, in the form that its neighbours report. */
  readonly chassis?: string;
  readonly bridgeAddress?: string;
  readonly serial?: string;
  readonly name?: string;
  /** The lowest address of a physical interface. */
  readonly lowestMac?: string;
  /** MAC addresses of all interfaces, sorted. */
  readonly macs: readonly string[];
  /** IP addresses of the device, sorted; the one that was polled among them. */
  readonly addresses: readonly string[];
}

export interface AgentInterface {
  /** ifIndex: the number of the port. */
  readonly index: number;
  /** ifName, else ifDescr, else the number. */
  readonly name: string;
  readonly descr: string;
  readonly alias: string;
  readonly type: number;
  readonly speedMbps: number;
  readonly isUp: boolean;
  readonly mac?: string;
  readonly basePort?: number;
  /** ifIndex of the aggregate that this port is a member of. */
  readonly aggregate?: number;
}

/** A port, and by what it was found: for the annotation `matchedBy`. */
export interface PortMatch {
  readonly index: number;
  readonly how: string;
}

export interface Neighbour {
  /** `LLDP`, `CDP`, or both for a device that sends both on one cable. */
  readonly protocols: readonly ("LLDP" | "CDP")[];
  /** The interface that received it; absent when no interface matches. */
  readonly localPort?: PortMatch;
  /** The id of the neighbour's device, made of what it sends alone. */
  readonly id: string;
  /** Other ids that the same frame would give. */
  readonly aliases: readonly string[];
  readonly chassis: string;
  /** Whether the chassis id is one of a device, not of an interface and not an address that may change. */
  readonly isChassisIdentity: boolean;
  readonly portId: string;
  readonly portDesc: string;
  readonly portMac?: string;
  readonly name: string;
  readonly serial?: string;
  readonly description: string;
  readonly platform: string;
  readonly capabilities: readonly Capability[];
  /** Management addresses. */
  readonly addresses: readonly string[];
  /** Its addresses at layer 2: chassis, port, management. */
  readonly macs: readonly string[];
}

export interface ForwardingEntry {
  readonly mac: string;
  /** The VLAN in the table; absent when the table has no VLANs. */
  readonly vlan?: number;
  readonly port: number;
  /** Frames of this VLAN leave the port without a tag. */
  readonly isUntagged: boolean;
}

export interface AddressEntry {
  readonly mac: string;
  readonly ip: string;
  /** ifIndex of the interface that the address was resolved on. */
  readonly port: number;
}

export interface AgentReport {
  readonly target: string;
  readonly address: string;
  readonly identity: AgentIdentity;
  readonly device: Omit<DeviceClaim, "id" | "available">;
  readonly interfaces: readonly AgentInterface[];
  readonly neighbours: readonly Neighbour[];
  /** ifIndexes of ports with a neighbour that forwards for others and that nothing identifies. */
  readonly unidentifiedUplinks: readonly number[];
  readonly forwarding: readonly ForwardingEntry[];
  readonly addressTable: readonly AddressEntry[];
  readonly faults: readonly RejectedRecord[];
}

/** The last report of an agent. */
export interface PolledAgent {
  readonly report: AgentReport;
  /** Epoch ms since when it does not answer; undefined while it answers. */
  readonly unansweredSince?: number;
}

// System capabilities of LLDP and CDP, and what they say about a device.

/** Capabilities in the order of the bits of LldpSystemCapabilitiesMap. */
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

/** A switch that routes is a switch; a telephone with two ports is none. */
export function typeOfCapabilities(capabilities: readonly Capability[]): NonNullable<DeviceClaim["type"]> {
  if (capabilities.includes("telephone")) return "OTHER";
  if (capabilities.includes("bridge")) return "SWITCH";
  return capabilities.includes("router") ? "ROUTER" : "OTHER";
}

const FORWARDING: readonly Capability[] = ["bridge", "router", "repeater", "wlanAccessPoint"];
const END_STATION: readonly Capability[] = ["telephone", "docsisCableDevice"];

/**
 * Whether a neighbour connects other stations, so that the port to it is no edge port. One that enables no capability is
 * a network card when its chassis and port id are the same MAC address, else it counts as a switch.
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

/** Compares the names of devices, which are written with and without their domain. */
export const firstLabel = (name: string): string => name.split(".", 1)[0] ?? name;

/** Equal without regard to case; a name without a domain equals the one with it. */
export function isSameName(a: string, b: string): boolean {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  if (x === "" || y === "") return false;
  if (x === y) return true;
  return x.includes(".") !== y.includes(".") && firstLabel(x) === firstLabel(y);
}
