/**
 * Canonical forms of MAC addresses, IP addresses, VLANs and port numbers.
 *
 * Networks spell one address in many ways; the view keys on exactly one. Every function here takes whatever a
 * person or device wrote and answers the canonical string, or `undefined` when it is not such a thing: the
 * caller knows which field to blame.
 */
import ipaddr from "ipaddr.js";

const MAC_DIGITS = /^[0-9a-f]{12}$/i;
const MAC_SHAPES =
  /^(?:[0-9a-f]{1,2}(?:[:-][0-9a-f]{1,2}){5}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}|[0-9a-f]{12})$/i;
const MAC_CANONICAL = /^(?:[0-9A-F]{2}:){5}[0-9A-F]{2}$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
/** Eight groups, none zero and none padded: RFC 5952 has no shorter form of it, so there is nothing to do. */
const IPV6_CANONICAL = /^(?:[1-9a-f][0-9a-f]{0,3}:){7}[1-9a-f][0-9a-f]{0,3}$/;

/** `aa-bb-cc-dd-ee-ff`, `aabb.ccdd.eeff`, `a:b:c:d:e:f` and the like, as `AA:BB:CC:DD:EE:FF`. */
export function canonicalMac(text: string): string | undefined {
  if (MAC_CANONICAL.test(text)) return text;
  if (!MAC_SHAPES.test(text)) return undefined;
  const digits = text
    .split(/[:-]/)
    .map((part) => (part.length === 1 ? `0${part}` : part))
    .join("")
    .replaceAll(".", "");
  if (!MAC_DIGITS.test(digits)) return undefined;
  return (digits.toUpperCase().match(/../g) ?? []).join(":");
}

/** IPv4 as four decimals, IPv6 as RFC 5952. Zone ids and IPv4 shorthands (`10.1`, octal) are refused. */
export function canonicalIp(text: string): string | undefined {
  if (IPV4.test(text) || IPV6_CANONICAL.test(text)) return text;
  if (!text.includes(":") || text.includes("%") || !ipaddr.IPv6.isValid(text)) return undefined;
  return ipaddr.IPv6.parse(text).toRFC5952String();
}

/** "None" for no tag (also `-1`, empty, null), otherwise "1" to "4094". */
export function canonicalVlan(value: string | number | null | undefined): string | undefined {
  if (value === null || value === undefined) return "None";
  const text = String(value).trim();
  if (text === "" || text === "-1" || text.toLowerCase() === "none") return "None";
  if (!/^\d{1,4}$/.test(text)) return undefined;
  const tag = Number(text);
  return tag >= 1 && tag <= 4094 ? String(tag) : undefined;
}

/** A plain decimal, or "local" for the switch's own port. */
export function canonicalPort(value: string | number): string | undefined {
  const text = String(value).trim();
  if (text.toLowerCase() === "local") return "local";
  return /^\d{1,10}$/.test(text) ? String(Number(text)) : undefined;
}

/**
 * A string that sorts as the address does: "4" or "6" and the bytes in hex. All of a CIDR block is then one
 * contiguous range of keys, which is what lets one sorted index answer both an address and a block.
 */
export function ipKey(canonical: string): string {
  if (!canonical.includes(":")) {
    let key = "4";
    for (const part of canonical.split(".")) key += Number(part).toString(16).padStart(2, "0");
    return key;
  }
  const [head = "", tail = ""] = canonical.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === "" ? [] : tail.split(":");
  let key = "6";
  for (const group of first) key += group.padStart(4, "0");
  key += "0000".repeat(8 - first.length - last.length);
  for (const group of last) key += group.padStart(4, "0");
  return key;
}

/** The first and last `ipKey` of an address or CIDR block; undefined when `text` is neither. */
export function ipKeyRange(text: string): { from: string; to: string } | undefined {
  const slash = text.indexOf("/");
  const address = canonicalIp(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const key = ipKey(address);
  if (slash < 0) return { from: key, to: key };
  const bits = (key.length - 1) * 4;
  const prefixText = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(prefixText)) return undefined;
  const prefix = Number(prefixText);
  if (prefix > bits) return undefined;
  const hostMask = (1n << BigInt(bits - prefix)) - 1n;
  const value = BigInt(`0x${key.slice(1)}`);
  const hex = (n: bigint) => key.charAt(0) + n.toString(16).padStart(key.length - 1, "0");
  return { from: hex(value & ~hostMask), to: hex(value | hostMask) };
}
