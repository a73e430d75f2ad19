/**
 * The agents to poll, from the list of targets: `192.0.2.1`, `192.0.2.1:1161`, `[2001:db8::1]:161`, `switch.example:161`
 * and blocks such as `192.0.2.0/28` or `192.0.2.0/28:1161`. The number of addresses is bounded, so that a mistyped prefix
 * is a fault and not a scan of half the Internet.
 */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { parseAddress } from "../../../lib/address-ranges.ts";
import type { OptionFault } from "../../option-fault.ts";

export const MAX_ADDRESSES = 65_536;

export interface Target {
  /** `host:port`, the key of the agent: an IPv6 address is in brackets. */
  readonly text: string;
  /** An IP address, or a name that is resolved at each poll. */
  readonly host: string;
  readonly port: number;
  /** Named in the list by itself. An address of a block is not: it is an agent only once it has answered. */
  readonly listed: boolean;
}

export type TargetsResult =
  | { readonly ok: true; readonly targets: readonly Target[] }
  | { readonly ok: false; readonly faults: readonly OptionFault[] };

/** One text of the list: its addresses are not counted out before the total is known to be small enough. */
type Entry =
  | { readonly kind: "host"; readonly host: string; readonly port: number }
  | { readonly kind: "block"; readonly first: Address; readonly count: number; readonly port: number };
type Address = ipaddr.IPv4 | ipaddr.IPv6;

const FORM =
  "must be ADDRESS, NAME or ADDRESS/BITS, with or without :PORT, such as 192.0.2.1 or 192.0.2.0/28";
const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9])?)*\.?$/;

export function parseTargets(texts: readonly string[], defaultPort: number): TargetsResult {
  const faults: OptionFault[] = [];
  const entries: Entry[] = [];
  let total = 0;
  for (const [index, text] of texts.entries()) {
    const entry = parseEntry(text, defaultPort);
    if (typeof entry === "string") {
      faults.push({ path: ["targets", index], message: entry });
      continue;
    }
    total += entry.kind === "block" ? entry.count : 1;
    if (total > MAX_ADDRESSES) {
      faults.push({ path: ["targets", index], message: `exceeds ${MAX_ADDRESSES} addresses in one source` });
      break;
    }
    entries.push(entry);
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, targets: [...expand(entries).values()] };
}

/** One target for each host and port. A listed address stays listed when a block contains it too. */
function expand(entries: readonly Entry[]): Map<string, Target> {
  const targets = new Map<string, Target>();
  for (const entry of entries) {
    if (entry.kind === "host") {
      const { host, port } = entry;
      const text = targetText(host, port);
      targets.set(text, { text, host, port, listed: true });
      continue;
    }
    let address = entry.first;
    for (let i = 0; i < entry.count; i++, address = nextAddress(address)) {
      const host = address.toString();
      const text = targetText(host, entry.port);
      if (!targets.has(text)) targets.set(text, { text, host, port: entry.port, listed: false });
    }
  }
  return targets;
}

export const targetText = (host: string, port: number): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

/** The entry, or what is wrong with it. */
function parseEntry(text: string, defaultPort: number): Entry | string {
  const { rest, port } = splitPort(text);
  const portNumber = port === undefined ? defaultPort : Number(port);
  if (portNumber < 1 || portNumber > 65_535) return "must have a port from 1 to 65535";
  const slash = rest.indexOf("/");
  if (slash >= 0) return parseBlock(rest.slice(0, slash), rest.slice(slash + 1), portNumber);
  const address = parseAddress(rest);
  if (address) {
    if (!isUnicast(address)) return "must be a unicast address";
    const zone = rest.includes("%") ? rest.slice(rest.indexOf("%")) : "";
    return { kind: "host", host: address.toString() + zone, port: portNumber };
  }
  // A name that ends with a number would be read as an address by resolvers.
  if (!HOST_NAME.test(rest) || /(?:^|\.)\d+\.?$/.test(rest)) return FORM;
  return { kind: "host", host: rest.toLowerCase(), port: portNumber };
}

/** The text without brackets, and the port as text. An IPv6 address with a port has brackets. */
function splitPort(text: string): { readonly rest: string; readonly port: string | undefined } {
  const [, inBrackets, afterBrackets] = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(text) ?? [];
  if (inBrackets !== undefined)
    return { rest: isIP(inBrackets.replace(/[%/].*$/, "")) === 6 ? inBrackets : "", port: afterBrackets };
  const [, host, port] = /^([^:]*):(\d{1,5})$/.exec(text) ?? [];
  return host === undefined ? { rest: text, port: undefined } : { rest: host, port };
}

function parseBlock(base: string, bitsText: string, port: number): Entry | string {
  const address = base.includes("%") ? undefined : parseAddress(base);
  if (!address || !/^\d{1,3}$/.test(bitsText)) return FORM;
  const allBits = address.toByteArray().length * 8;
  const bits = Number(bitsText);
  if (bits > allBits) return `must have a prefix of at most ${allBits} bits`;
  if (!isUnicast(address)) return "must be a block of unicast addresses";
  if (allBits - bits > Math.log2(MAX_ADDRESSES)) {
    return `must have a prefix of at least ${allBits - Math.log2(MAX_ADDRESSES)} bits: at most ${MAX_ADDRESSES} addresses are polled`;
  }
  const size = 2 ** (allBits - bits);
  const first = networkAddress(address, bits);
  // The first and the last address of an IPv4 network are its own and that for broadcasts.
  return allBits === 32 && size > 2
    ? { kind: "block", first: nextAddress(first), count: size - 2, port }
    : { kind: "block", first, count: size, port };
}

function networkAddress(address: Address, bits: number): Address {
  return fromBytes(
    address.toByteArray().map((byte, i) => byte & (0xff << Math.max(0, 8 - Math.max(0, bits - i * 8)))),
  );
}

function nextAddress(address: Address): Address {
  const bytes = address.toByteArray();
  for (let i = bytes.length - 1; i >= 0; i--) {
    const byte = ((bytes[i] ?? 0) + 1) & 0xff;
    bytes[i] = byte;
    if (byte !== 0) break;
  }
  return fromBytes(bytes);
}

const fromBytes = (bytes: number[]): Address =>
  bytes.length === 4 ? new ipaddr.IPv4(bytes) : new ipaddr.IPv6(bytes);

function isUnicast(address: Address): boolean {
  return !["multicast", "broadcast", "unspecified"].includes(address.range());
}
