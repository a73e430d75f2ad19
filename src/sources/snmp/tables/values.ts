/**
 * Decodes the values that an agent returned. Agents are untrusted and often wrong: a value whose type or length does not
 * follow the MIB becomes undefined or empty, control characters are removed from texts, the length of texts is limited, and
 * no function throws.
 */
import ipaddr from "ipaddr.js";
import { canonicalIp, canonicalMac } from "../../../model/address.ts";
import { macText } from "../../openflow/codec/wire.ts";
import { type AgentData, type ObjectName, OID, type SnmpValue } from "./mib.ts";

export const MAX_NAME_LENGTH = 200;
export const MAX_DESCRIPTION_LENGTH = 1000;

const NO_ROWS: ReadonlyMap<string, SnmpValue> = new Map();
export const column = (data: AgentData, name: ObjectName): ReadonlyMap<string, SnmpValue> =>
  data.columns.get(OID[name]) ?? NO_ROWS;
export const scalar = (data: AgentData, name: ObjectName): SnmpValue | undefined =>
  column(data, name).get("0");

export function toInteger(value: SnmpValue | undefined): number | undefined {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : undefined;
}

export const isBytes = (value: SnmpValue | undefined): value is Uint8Array => value instanceof Uint8Array;

const latin1 = new TextDecoder("latin1");
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]+/gu;

/** Decodes UTF-8, else Latin-1. Runs of control and format characters become one space. */
export function toText(value: SnmpValue | undefined, maxLength = MAX_NAME_LENGTH): string {
  if (value === undefined) return "";
  // A code unit has at most three bytes in UTF-8, so bytes beyond this length would be cut off anyway.
  const text = isBytes(value) ? decode(value.subarray(0, maxLength * 4)) : String(value).slice(0, maxLength);
  return text.replaceAll(CONTROL, " ").trim().slice(0, maxLength).toWellFormed();
}

/** Agents cut long texts at a number of bytes, so the last character of UTF-8 may be incomplete. It is left out. */
function decode(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  const text = end < 0 ? bytes : bytes.subarray(0, end);
  try {
    const decoded = new TextDecoder("utf-8", { fatal: true }).decode(text, { stream: true });
    // After ASCII, one last byte is more likely a letter of Latin-1, as in `Café`, than the beginning of a character.
    return (text.at(-1) ?? 0) >= FIRST_LEAD_BYTE && isAscii(decoded) ? latin1.decode(text) : decoded;
  } catch {
    return latin1.decode(text);
  }
}

/** The first byte that begins a character of several bytes in UTF-8. */
const FIRST_LEAD_BYTE = 0xc0;
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

const PRINTABLE = /^[\x20-\x7e]+$/;
const asAscii = (bytes: Uint8Array): string | undefined => {
  const text = latin1.decode(bytes);
  return PRINTABLE.test(text) ? text : undefined;
};

const MULTICAST_BIT = 1;
/** The MAC addresses of virtual routers (VRRP for IPv4 and IPv6, HSRP), which several devices share. */
const SHARED_MAC = /^00:00:5E:00:0[12]:|^00:00:0C:(?:07:AC|9F:F)/;

/** Reads the MAC address of an interface from six bytes or their text; undefined for multicast and zero addresses. */
export function toMac(value: SnmpValue | undefined): string | undefined {
  if (!isBytes(value) || value.length > 17) return undefined;
  const mac = value.length === 6 ? macText(value) : canonicalMac(asAscii(value) ?? "");
  return mac !== undefined && isUnicastMac(mac) ? mac : undefined;
}

/** Reads the MAC address in six parts of an index; undefined when it is not the address of one interface. */
export function macOfParts(parts: readonly number[]): string | undefined {
  if (parts.length !== 6 || parts.some((part) => part > 255)) return undefined;
  return toMac(Uint8Array.from(parts));
}

export function isUnicastMac(mac: string): boolean {
  return mac !== "00:00:00:00:00:00" && (Number.parseInt(mac.slice(0, 2), 16) & MULTICAST_BIT) === 0;
}

/** Whether the address belongs to only one device, so that it identifies the device. */
export const isOwnMac = (mac: string): boolean => !SHARED_MAC.test(mac);

/** Reads an IPv4 or IPv6 address; undefined when it is unspecified, loopback, multicast or broadcast. */
export function toIp(bytes: readonly number[] | Uint8Array): string | undefined {
  if (bytes.length !== 4 && bytes.length !== 16) return undefined;
  if (bytes.some((byte) => !Number.isInteger(byte) || byte < 0 || byte > 255)) return undefined;
  const address = ipaddr.fromByteArray([...bytes]);
  const range = address.range();
  if (["unspecified", "loopback", "multicast", "broadcast"].includes(range)) return undefined;
  return canonicalIp(address.toString());
}

/** Returns the parts of a dotted index; empty when one of them is not a number. */
export function indexParts(index: string): number[] {
  const parts = index.split(".").map(Number);
  return parts.length <= 128 && parts.every((part) => Number.isSafeInteger(part) && part >= 0) ? parts : [];
}

/** Returns an interface index; undefined when it is not positive or not in the range of a port number. */
export const toIfIndex = (value: SnmpValue | undefined): number | undefined => {
  const index = toInteger(value);
  return index !== undefined && index > 0 && index <= 0xff_ff_ff_ff ? index : undefined;
};

/** Some agents send the hex digits of a BITS value as text, such as `28 00`. */
const HEX_TEXT = /^[0-9a-f]{2}(?: |$)/i;

/** Returns the first byte of a BITS value, whose first bit is the highest. In an INTEGER of some agents it is the lowest. */
export function firstBits(value: SnmpValue | undefined): number {
  const number = toInteger(value);
  if (number !== undefined) return reverseBits(number & 0xff);
  if (!isBytes(value)) return 0;
  const text = value.length > 2 ? asAscii(value) : undefined;
  if (text !== undefined && HEX_TEXT.test(text)) return Number.parseInt(text.slice(0, 2), 16);
  return value[0] ?? 0;
}

function reverseBits(byte: number): number {
  let reversed = 0;
  for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) reversed |= 0x80 >> bit;
  return reversed;
}

/** Whether a PortList contains the port `number`, counted from 1. */
export function isInPortList(value: SnmpValue | undefined, number: number): boolean {
  if (!isBytes(value)) return false;
  return ((value[(number - 1) >> 3] ?? 0) & (0x80 >> ((number - 1) & 7))) !== 0;
}
