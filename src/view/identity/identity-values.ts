/**
 * The values of a claim that identify a device across sources, one for each identity rule, in a form in which every
 * spelling of the same value is the same text. A value without information (`unknown`, zeros, a loopback address) is left
 * out, because it would join all devices that report it.
 */
import ipaddr from "ipaddr.js";
import { canonicalIp, canonicalMac } from "../../model/address.ts";
import type { DeviceClaim } from "../../model/claim.ts";
import { isRealIdentity } from "../../model/derived-ids.ts";
import type { Device } from "../../model/entity.ts";
import type { IdentityRule } from "../../model/merge-settings.ts";

export interface IdentityValue {
  readonly rule: IdentityRule;
  readonly value: string;
}

type Identified = Pick<DeviceClaim | Device, "serial" | "chassisId" | "annotations">;

/** Returns at most one value for each rule. */
export function identityValues({ chassisId, serial, annotations }: Identified): IdentityValue[] {
  const values: IdentityValue[] = [];
  const add = (
    rule: IdentityRule,
    text: string | undefined,
    toValue: (text: string) => string | undefined,
  ) => {
    if (text === undefined || text === "" || !isRealIdentity(text)) return;
    const value = toValue(text.trim().toLowerCase());
    if (value !== undefined) values.push({ rule, value });
  };
  add("chassisId", chassisId, chassisValue);
  add("serial", serial, (text) => text);
  add("managementAddress", annotations?.managementAddress, addressValue);
  add("systemName", annotations?.name || annotations?.sysName, (text) => text);
  return values;
}

/** The key of the indexes `identity`, which map to the devices of a source with a value. */
export const identityKey = (source: string, { rule, value }: IdentityValue): string =>
  `${rule}\u0000${value}\u0000${source}`;

const HEX_NUMBER = /^[0-9a-f]{1,12}$/;

/** A datapath id may be written without leading zeros, so a short hexadecimal number is padded to a MAC address. */
export function chassisValue(text: string): string {
  return canonicalMac(HEX_NUMBER.test(text) ? text.padStart(12, "0") : text)?.toLowerCase() ?? text;
}

/** The address ranges whose addresses many devices have independently. */
const SHARED_RANGES: readonly string[] = ["loopback", "unspecified", "linkLocal", "broadcast", "multicast"];

/** Converts an IPv4 address that is written as an IPv6 address to IPv4. A name is compared as text. */
export function addressValue(text: string): string | undefined {
  const ip = canonicalIp(text);
  if (ip === undefined) return text;
  const address = ipaddr.process(ip);
  return SHARED_RANGES.includes(address.range()) ? undefined : address.toString();
}
