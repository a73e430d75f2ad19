/**
 * Chassis and port ids of LLDP as texts, and the ids of devices made of them. The texts are those of the OpenFlow source,
 * so that a device has one id in both.
 */
import { canonicalMac } from "../../../model/address.ts";
import { chassisDeviceId, isRealIdentity, nameDeviceId } from "../../../model/derived-ids.ts";
import { identifierText } from "../../openflow/codec/lldp.ts";
import type { AgentData, SnmpValue } from "./agent-data.ts";
import { isBytes, isUnicastMac, MAX_NAME_LENGTH, scalar, toInteger, toText } from "./values.ts";

/** Subtypes of a chassis id that belongs to an interface, or that may change; of a MAC address. */
const CHASSIS = { interfaceAlias: 2, portComponent: 3, mac: 4, network: 5, interfaceName: 6 } as const;

/** The text that the OpenFlow source has for the same chassis. */
export function localChassis(data: AgentData): string | undefined {
  const value = scalar(data, "lldpLocChassisId");
  const subtype = toInteger(scalar(data, "lldpLocChassisIdSubtype")) ?? likelySubtype("chassis", value);
  const chassis = toIdentifier("chassis", subtype, value);
  return chassis !== "" && isChassisIdentity(subtype, chassis) ? chassis : undefined;
}

/** The subtype of a MAC address in a port id. */
const PORT_MAC = 3;

/** The subtype that an agent leaves out. Six bytes that are no text are a MAC address. */
export function likelySubtype(of: "chassis" | "port", value: SnmpValue | undefined): number {
  const isMac = isBytes(value) && value.length === 6 && value.some((byte) => byte < 0x20 || byte > 0x7e);
  return isMac ? (of === "chassis" ? CHASSIS.mac : PORT_MAC) : 0;
}

/** Six bytes that some firmware declares a MAC address, such as `vmnic2`. */
const INTERFACE_NAME = /^[a-z]{2,5}\d{1,4}$/;

/** RouterOS sends MAC addresses in ASCII. A name that only looks like one stays as it is, as in the OpenFlow source. */
export function toIdentifier(of: "chassis" | "port", subtype: number, value: SnmpValue | undefined): string {
  if (!isBytes(value) || value.length === 0) return "";
  const name = value.length === 6 ? toText(value) : "";
  if (INTERFACE_NAME.test(name)) return name;
  const text = identifierText(of, subtype, value.subarray(0, MAX_NAME_LENGTH)).trim();
  const isMac = subtype === 0 || subtype === (of === "chassis" ? CHASSIS.mac : PORT_MAC);
  return (isMac ? canonicalMac(text) : undefined) ?? text.slice(0, MAX_NAME_LENGTH);
}

/** The MAC address that a chassis or port id is. */
export const macOf = (id: string): string | undefined =>
  canonicalMac(id) === id && isUnicastMac(id) ? id : undefined;

/**
 * Whether a chassis id belongs to one device only. ESXi sends the name of its interface, telephones their IP address; a
 * text that is declared a MAC address and is none says nothing.
 */
export function isChassisIdentity(subtype: number, chassis: string): boolean {
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
 * The ids that one frame gives, best first. All depend on the frame alone, so that the id of a device does not depend on
 * which neighbour answers.
 */
export function neighbourIds(of: {
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
  // A telephone names itself by its model, so its address at layer 2 comes first; an ESXi host has several of these.
  const [id] = isNetworkAddress ? [...byMac, ...byName] : [...byName, ...byMac];
  if (id === undefined) return [];
  return isNetworkAddress ? [id, byChassis] : [id];
}
