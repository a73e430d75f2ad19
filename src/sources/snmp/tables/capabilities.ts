/** System capabilities of LLDP and CDP, and what they say about a device. */
import type { DeviceClaim } from "../../../model/claim.ts";

/** In the order of the bits of LldpSystemCapabilitiesMap. */
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
