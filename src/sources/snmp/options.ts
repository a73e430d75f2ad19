/**
 * The options of the `snmp` source, and the faults that a schema cannot express: neither or both of community and v3, and
 * malformed targets. The defaults suit a campus; docs/sources/snmp.md explains them.
 */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import Type from "typebox";
import { parseAddress } from "../../lib/address-ranges.ts";
import type { SchemaFault } from "../../lib/schema-faults.ts";
import { secretOptions } from "../secret.ts";
import { intervalSeconds } from "../source-options.ts";

const AUTH_PROTOCOLS = ["md5", "sha", "sha224", "sha256", "sha384", "sha512"] as const;
/** No standard extends keys to AES-256: `aes256b` follows Blumenthal's draft (Net-SNMP), `aes256r` Reeder's (Cisco). */
const PRIV_PROTOCOLS = ["des", "aes", "aes256b", "aes256r"] as const;

/** Agents refuse shorter passwords (RFC 3414, 11.2). */
const MIN_PASSWORD_LENGTH = 8;

const seconds = (minimum: number, maximum: number, defaultValue: number, description: string) =>
  Type.Number({ minimum, maximum, default: defaultValue, description });
const count = (maximum: number, defaultValue: number, description: string) =>
  Type.Integer({ minimum: 1, maximum, default: defaultValue, description });

const V3Options = Type.Object(
  {
    user: Type.String({ minLength: 1, maxLength: 32, title: "a user name of 1 to 32 characters" }),
    authProtocol: Type.Enum([...AUTH_PROTOCOLS], { description: "How messages are authenticated." }),
    ...secretOptions("authPassword", "The password that messages are authenticated with."),
    privProtocol: Type.Optional(
      Type.Enum([...PRIV_PROTOCOLS], {
        description:
          "How messages are encrypted. aes is AES-128; aes256b extends the key as Net-SNMP does, aes256r as Cisco does. " +
          "Without it messages are authenticated only.",
      }),
    ),
    ...secretOptions("privPassword", "The password that messages are encrypted with."),
    context: Type.Optional(Type.String({ maxLength: 32, description: "The context name. Default: empty." })),
  },
  { additionalProperties: false },
);
export type V3Options = Type.Static<typeof V3Options>;

export const SnmpOptions = Type.Object(
  {
    targets: Type.Array(Type.String({ maxLength: 300 }), {
      minItems: 1,
      maxItems: 65_536,
      title: "a list of at least one target",
      description: "Agents: ADDRESS, NAME, either with :PORT, or a block of addresses such as 192.0.2.0/28.",
    }),
    port: count(65_535, 161, "The UDP port of targets that have none."),
    ...secretOptions("community", "The community of SNMPv2c."),
    v3: Type.Optional(V3Options),
    intervalSeconds: intervalSeconds(60),
    timeoutSeconds: seconds(0.1, 60, 2, "How long a reply to one request is waited for."),
    retries: Type.Integer({
      minimum: 0,
      maximum: 10,
      default: 2,
      description: "How often a request without a reply is repeated.",
    }),
    scanSeconds: count(
      604_800,
      900,
      "After how long the addresses of a block that never answered are tried again.",
    ),
    concurrency: count(256, 32, "Agents that are walked at the same time."),
    packetsPerSecond: count(100_000, 1000, "Requests that are sent in a second, to all agents together."),
    maxVarbinds: count(10_000_000, 500_000, "Values that are read from one agent in a poll."),
    maxAgentSeconds: seconds(1, 3600, 120, "How long one poll of an agent may take."),
  },
  { additionalProperties: false },
);
export type SnmpOptions = Type.Static<typeof SnmpOptions>;

const hasSecret = (options: object, name: string): boolean =>
  ["", "File", "Env"].some((suffix) => Object.hasOwn(options, `${name}${suffix}`));

/** Returns the faults of options that match the schema. */
export function findSnmpFaults(options: SnmpOptions): SchemaFault[] {
  const parsed = parseTargets(options.targets, options.port);
  const targetFaults = parsed.ok ? [] : parsed.faults;
  return [...targetFaults, ...findCredentialFaults(options)];
}

function findCredentialFaults({ v3, ...options }: SnmpOptions): SchemaFault[] {
  const hasCommunity = hasSecret(options, "community");
  if (!v3) {
    const message = "is required, unless v3 is given; must be text that is not empty";
    return hasCommunity ? [] : [{ path: ["community"], message }];
  }
  const faults: SchemaFault[] = [];
  if (hasCommunity) faults.push({ path: ["v3"], message: "cannot be given with community", atKey: true });
  if (!hasSecret(v3, "authPassword")) {
    faults.push({
      path: ["v3", "authPassword"],
      message: "is required (or authPasswordFile, authPasswordEnv)",
    });
  }
  const [hasProtocol, hasPassword] = [v3.privProtocol !== undefined, hasSecret(v3, "privPassword")];
  if (hasProtocol !== hasPassword) {
    const [missing, given] = hasProtocol
      ? ["privPassword", "privProtocol"]
      : ["privProtocol", "privPassword"];
    faults.push({ path: ["v3", missing], message: `is required with ${given}` });
  }
  for (const name of ["authPassword", "privPassword"] as const) {
    const value = v3[name];
    if (value !== undefined && !isLongEnough(value)) {
      faults.push({ path: ["v3", name], message: PASSWORD_RULE });
    }
  }
  return faults;
}

export const PASSWORD_RULE = `must have at least ${MIN_PASSWORD_LENGTH} characters`;
export const isLongEnough = (password: string): boolean => password.length >= MIN_PASSWORD_LENGTH;

// The agents to poll, from the list of targets: `192.0.2.1`, `192.0.2.1:1161`, `[2001:db8::1]:161`, `switch.example:161`
// and blocks such as `192.0.2.0/28` or `192.0.2.0/28:1161`. The number of addresses is limited, so that a mistyped prefix
// is a fault and does not cause a scan of millions of addresses.

export const MAX_ADDRESSES = 65_536;

export interface Target {
  /** `host:port`, the key of the agent. An IPv6 address is in brackets. */
  readonly text: string;
  /** An IP address, or a name that is resolved at each poll. */
  readonly host: string;
  readonly port: number;
  /** Whether the list names the target itself. An address of a block is an agent only once it has answered. */
  readonly listed: boolean;
}

type TargetsResult =
  | { readonly ok: true; readonly targets: readonly Target[] }
  | { readonly ok: false; readonly faults: readonly SchemaFault[] };

/** One entry of the list. A block is expanded to its addresses only when the total is known to be small enough. */
type Entry =
  | { readonly kind: "host"; readonly host: string; readonly port: number }
  | { readonly kind: "block"; readonly first: Address; readonly count: number; readonly port: number };
type Address = ipaddr.IPv4 | ipaddr.IPv6;

const FORM =
  "must be ADDRESS, NAME or ADDRESS/BITS, with or without :PORT, such as 192.0.2.1 or 192.0.2.0/28";
const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9])?)*\.?$/;

export function parseTargets(texts: readonly string[], defaultPort: number): TargetsResult {
  const faults: SchemaFault[] = [];
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

/** Returns one target for each host and port. A listed address stays listed when a block contains it too. */
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

const targetText = (host: string, port: number): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

/** Returns the entry, or a message about what is wrong with it. */
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
  // Resolvers would read a name that ends with a number as an address.
  if (!HOST_NAME.test(rest) || /(?:^|\.)\d+\.?$/.test(rest)) return FORM;
  return { kind: "host", host: rest.toLowerCase(), port: portNumber };
}

/** Returns the text without brackets, and the port as text. An IPv6 address with a port has brackets. */
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
  // The first and the last address of an IPv4 network are the network address and the broadcast address.
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
