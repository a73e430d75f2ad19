/**
 * Canonical forms of MAC addresses, IP addresses, VLANs and port numbers.
 *
 * Devices and people write one address in many ways; the view uses exactly one. Each function returns the canonical
 * string, or undefined when the text is not such an address; the caller knows which field to report.
 */
import ipaddr from "ipaddr.js";
import { encodeUnit } from "../lib/text-table.ts";
import { hostId } from "./ids.ts";

const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const LETTER_A = 0x61;
const FOUR = 0x34;
const SIX = 0x36;
const COLON = 0x3a;
const DOT = 0x2e;

const MAC_DIGITS = /^[0-9a-f]{12}$/i;
const MAC_SHAPES =
  /^(?:[0-9a-f]{1,2}(?:[:-][0-9a-f]{1,2}){5}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}|[0-9a-f]{12})$/i;
const MAC_CANONICAL = /^(?:[0-9A-F]{2}:){5}[0-9A-F]{2}$/;
const MAC_COLONS = /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i;
/** Canonical IPv6 addresses without an all-zero group: all eight groups, or `::` with at most six other groups. */
const IPV6_FULL = /^(?:[1-9a-f][0-9a-f]{0,3}:){7}[1-9a-f][0-9a-f]{0,3}$/;
const IPV6_COMPRESSED =
  /^(?:[1-9a-f][0-9a-f]{0,3}(?::[1-9a-f][0-9a-f]{0,3}){0,5})?::(?:[1-9a-f][0-9a-f]{0,3}(?::[1-9a-f][0-9a-f]{0,3}){0,5})?$/;

/** Converts `aa-bb-cc-dd-ee-ff`, `aabb.ccdd.eeff`, `a:b:c:d:e:f` and similar forms to `AA:BB:CC:DD:EE:FF`. */
export function canonicalMac(text: string): string | undefined {
  if (MAC_CANONICAL.test(text)) return text;
  if (MAC_COLONS.test(text)) return text.toUpperCase();
  if (!MAC_SHAPES.test(text)) return undefined;
  const digits = text
    .split(/[:-]/)
    .map((part) => (part.length === 1 ? `0${part}` : part))
    .join("")
    .replaceAll(".", "");
  if (!MAC_DIGITS.test(digits)) return undefined;
  return (digits.toUpperCase().match(/../g) ?? []).join(":");
}

/** Returns IPv4 as four decimals and IPv6 as in RFC 5952. Zone ids and IPv4 shorthands (`10.1`, octal) are invalid. */
export function canonicalIp(text: string): string | undefined {
  if (isIpv4(text)) return text;
  // Fast path: most addresses are already canonical, and parsing and formatting them is slow.
  if (IPV6_FULL.test(text) || (IPV6_COMPRESSED.test(text) && countColons(text) <= 6)) return text;
  // Most other texts with colons are MAC addresses, ids and times, and the parser is slow to refuse them.
  if (!text.includes("::") && countColons(text) < MIN_IPV6_COLONS) return undefined;
  if (text.includes("%") || !ipaddr.IPv6.isValid(text)) return undefined;
  return ipaddr.IPv6.parse(text).toRFC5952String();
}

/** Whether the text is four decimals up to 255 without leading zeros. A regular expression takes several times as long. */
function isIpv4(text: string): boolean {
  let dots = 0;
  let digits = 0;
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (digits === 0 || ++dots > 3) return false;
      digits = 0;
      value = 0;
    } else {
      if (code < DIGIT_0 || code > DIGIT_9 || (digits > 0 && value === 0)) return false;
      digits++;
      value = value * 10 + code - DIGIT_0;
      if (value > 255) return false;
    }
  }
  return dots === 3 && digits > 0;
}

/** Without `::`: eight groups, the last two of which may be written as an IPv4 address. */
const MIN_IPV6_COLONS = 6;

function countColons(text: string): number {
  let n = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) === COLON) n++;
  return n;
}

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

/** The IP address or host name in an untrusted text such as `10.0.0.1:161` or `[2001:db8::1]:830`, without the port. */
export function parseHostAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const ip = canonicalIp(trimmed);
  if (ip !== undefined) return ip;
  const withoutPort = /^\[(.*)\](?::\d{1,5})?$/.exec(trimmed)?.[1] ?? trimmed.replace(/:\d{1,5}$/, "");
  return canonicalIp(withoutPort) ?? (HOST_NAME.test(withoutPort) ? withoutPort : undefined);
}

/** Returns "None" for no tag (also for `-1`, empty and null), "Any" for every tag, otherwise "1" to "4094". */
export function canonicalVlan(value: string | number | null | undefined): string | undefined {
  if (value === null || value === undefined || value === "None") return "None";
  const text = String(value).trim();
  if (text === "" || text === "-1" || text.toLowerCase() === "none") return "None";
  if (text.toLowerCase() === "any") return "Any";
  if (!/^\d{1,4}$/.test(text)) return undefined;
  const tag = Number(text);
  return tag >= 1 && tag <= 4094 ? String(tag) : undefined;
}

const UNTAGGED_HOST_ID = /^(?:[0-9A-F]{2}:){5}[0-9A-F]{2}\/None$/;

/** Parses `MAC/VLAN`, each part in any form. The VLAN is None where it is left out. Undefined when `text` is not a host id. */
export function canonicalHostId(text: string): string | undefined {
  // Most ids are canonical already. The same string is returned, because comparing a concatenated one copies it first.
  if (UNTAGGED_HOST_ID.test(text)) return text;
  const slash = text.lastIndexOf("/");
  const mac = canonicalMac(slash < 0 ? text : text.slice(0, slash));
  const vlan = canonicalVlan(slash < 0 ? null : text.slice(slash + 1));
  return mac && vlan ? hostId(mac, vlan) : undefined;
}

const DECIMAL_PORT = /^\d{1,10}$/;
const CANONICAL_PORT = /^(?:0|[1-9]\d{0,9})$/;
/** ONOS writes a port that has a name as `[name](number)`. */
const NAMED_PORT = /^\[(.*)\]\((\d{1,10})\)$/s;
const LOGICAL_PORTS: readonly string[] = ["local", "controller"];

/** Returns a plain decimal, or one of the two logical ports: "local" (the switch itself) and "controller". */
export function canonicalPort(value: string | number): string | undefined {
  if (typeof value === "string" && CANONICAL_PORT.test(value)) return value;
  const text = String(value).trim();
  if (DECIMAL_PORT.test(text)) return String(Number(text));
  const named = NAMED_PORT.exec(text)?.[2];
  if (named !== undefined) return String(Number(named));
  const logical = text.toLowerCase();
  return LOGICAL_PORTS.includes(logical) ? logical : undefined;
}

/** The name in `[name](number)`; undefined where there is none. */
export const portNameOf = (value: string | number): string | undefined =>
  (typeof value === "string" && NAMED_PORT.exec(value.trim())?.[1]) || undefined;

/**
 * A string that sorts in the same order as the address: "4" or "6", then the address in units of 16 bits, one character
 * each. A CIDR block is one contiguous range of keys, so that one sorted index serves both addresses and blocks. The key is
 * only for comparisons: it is not valid text.
 */
export function ipKey(canonical: string): string {
  if (canonical.includes(":")) return unitsToKey(parseUnits(canonical));
  const address = ipv4Number(canonical);
  return String.fromCharCode(FOUR, address >>> 16, address & 0xffff);
}

/** Writes the encoded `ipKey` of a canonical IPv4 address whose text is in `bytes`. Returns its length; 0 for IPv6. */
export function writeIpv4Key(bytes: Uint8Array, start: number, end: number, into: Uint8Array): number {
  let address = 0;
  let value = 0;
  for (let i = start; i < end; i++) {
    const code = bytes[i] ?? 0;
    if (code === COLON) return 0;
    if (code !== DOT) value = value * 10 + code - DIGIT_0;
    else {
      address = address * 256 + value;
      value = 0;
    }
  }
  address = address * 256 + value;
  into[0] = FOUR;
  return encodeUnit(address & 0xffff, into, encodeUnit(address >>> 16, into, 1));
}

function ipv4Number(canonical: string): number {
  let address = 0;
  let value = 0;
  for (let i = 0; i < canonical.length; i++) {
    const code = canonical.charCodeAt(i);
    if (code !== DOT) value = value * 10 + code - DIGIT_0;
    else {
      address = address * 256 + value;
      value = 0;
    }
  }
  return address * 256 + value;
}

function unitsToKey(units: readonly number[]): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = units;
  // The arguments are written out, because spreading an array into the call costs more than the rest of the function.
  return units.length === 2
    ? String.fromCharCode(FOUR, a, b)
    : String.fromCharCode(SIX, a, b, c, d, e, f, g, h);
}

/** The 16-bit units of a canonical address: two for IPv4, eight for IPv6. */
function parseUnits(canonical: string): number[] {
  const units: number[] = [];
  let value = 0;
  let gap = -1;
  if (!canonical.includes(":")) {
    const address = ipv4Number(canonical);
    return [address >>> 16, address & 0xffff];
  }
  for (let i = 0; i < canonical.length; i++) {
    const code = canonical.charCodeAt(i);
    if (code !== COLON) value = value * 16 + (code <= DIGIT_9 ? code - DIGIT_0 : code - LETTER_A + 10);
    else if (canonical.charCodeAt(i + 1) === COLON) {
      if (i > 0) units.push(value);
      gap = units.length;
      value = 0;
      i++;
    } else {
      units.push(value);
      value = 0;
    }
  }
  if (gap < 0 || !canonical.endsWith("::")) units.push(value);
  if (gap >= 0) units.splice(gap, 0, ...new Array<number>(8 - units.length).fill(0));
  return units;
}

/** The first and last `ipKey` of an address or CIDR block; undefined when `text` is neither. */
export function ipKeyRange(text: string): { from: string; to: string } | undefined {
  const slash = text.indexOf("/");
  const address = canonicalIp(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const units = parseUnits(address);
  const prefixText = slash < 0 ? String(units.length * 16) : text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(prefixText)) return undefined;
  const prefix = Number(prefixText);
  if (prefix > units.length * 16) return undefined;
  const hostMask = (at: number) => 0xffff >> Math.min(16, Math.max(0, prefix - at * 16));
  return {
    from: unitsToKey(units.map((unit, at) => unit & ~hostMask(at))),
    to: unitsToKey(units.map((unit, at) => unit | hostMask(at))),
  };
}
