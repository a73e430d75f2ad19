/**
 * Ids of devices and numbers of ports that are derived from texts of the network: what a device reports about itself, and
 * the name of a port that has no number. All sources and `import` use these functions, so that a device or port is the
 * same whoever reports it. Users store these ids: a function here never changes its result for a text that it accepted.
 */
import { createHash } from "node:crypto";

const MAX_TEXT_LENGTH = 200;

/** Limits the length and replaces the characters that a URL would escape. */
const toIdText = (text: string): string => text.slice(0, MAX_TEXT_LENGTH).replaceAll(/[^\w.:@+-]/g, "_");

/** Keeps letters and digits of every script. If each of them became `_`, the names of two devices could become one id. */
function toReadableIdText(text: string): string {
  const limited = text.normalize("NFC").trim().slice(0, MAX_TEXT_LENGTH);
  return limited.replaceAll(/[^\p{L}\p{M}\p{N}_.:@+-]/gu, "_");
}

/** The id of a device that is known by its LLDP chassis id; a chassis id that is a MAC address is in canonical form. */
export const chassisDeviceId = (chassis: string): string => `lldp:${toIdText(chassis)}`;

/** The id of a device without a chassis id. */
export const serialDeviceId = (serial: string): string => `serial:${toReadableIdText(serial)}`;

/** The id of a device that reports only a name, neither a chassis id nor a serial number. */
export const nameDeviceId = (name: string): string => `snmp:${toReadableIdText(name)}`;

const MAX_DATAPATH_ID = 2n ** 64n - 1n;

/** Returns `of:` and 16 hex digits, as ONOS and the OpenFlow source write it; undefined for a value that is no datapath id. */
export function datapathDeviceId(datapath: number | bigint | string): string | undefined {
  const isInteger = typeof datapath !== "number" || Number.isSafeInteger(datapath);
  if (!isInteger || (typeof datapath === "string" && !/^\d{1,20}$/.test(datapath))) return undefined;
  const id = BigInt(datapath);
  return id < 0n || id > MAX_DATAPATH_ID ? undefined : `of:${id.toString(16).padStart(16, "0")}`;
}

/** Values that firmware reports in place of a serial number, a chassis id or a name that nobody has set. */
const PLACEHOLDERS = new Set(
  [
    "unknown", "none", "null", "nil", "undefined", "unset", "empty", "default", "default string", "string", "n/a", "na",
    "not available", "not applicable", "not specified", "not set", "not present", "no asset tag", "not defined",
    "to be filled by o.e.m.", "system serial number", "chassis serial number", "serial number", "invalid", "unspecified",
    "localhost", "localhost.localdomain", "0123456789", "123456789", "1234567890", "noname", "no name",
  ], // biome-ignore format: a list of words
);
/** Letters and digits without information: none or only zeros; only F, which is how erased memory reads; only X. */
const NO_INFORMATION = /^(?:0*|f{4,}|x{2,})$/i;

/** Whether the text can identify a device. A placeholder would join all devices that report it into one. */
export function isRealIdentity(text: string): boolean {
  const lettersAndDigits = text.replaceAll(/[^\p{L}\p{N}]/gu, "");
  return !NO_INFORMATION.test(lettersAndDigits) && !PLACEHOLDERS.has(text.trim().toLowerCase());
}

const FIRST_DERIVED_PORT = 1_000_000_000;
const DERIVED_PORTS = 1_000_000_000;
const MAX_PORT = 9_999_999_999;

/**
 * Computes the port number for a port that only has a name, because ports are numbers in the model. A source that knows all
 * ports of a device uses `assignPortNumbers`, because two names may have the same number.
 */
export function portNumberOfName(name: string): string {
  if (/^\d{1,9}$/.test(name)) return String(Number(name));
  let number = 0;
  for (const char of name) number = (Math.imul(number, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  return String(FIRST_DERIVED_PORT + (number % DERIVED_PORTS));
}

/**
 * The number that a name gets after `attempt` collisions. The hash is cryptographic, because names that collide in
 * `portNumberOfName` are easily made, and nearly all of them would collide again in a hash of that kind.
 */
function nextPortNumber(name: string, attempt: number): string {
  const digest = createHash("sha256").update(`${attempt} ${name}`).digest();
  return String(FIRST_DERIVED_PORT + (digest.readUInt32BE(0) % DERIVED_PORTS));
}

/** A number that is made from the name of the port and that no other port has. */
export function freePortNumber(name: string, isTaken: (number: string) => boolean): string {
  for (let attempt = 0; ; attempt++) {
    const number = attempt === 0 ? portNumberOfName(name) : nextPortNumber(name, attempt);
    if (!isTaken(number)) return number;
  }
}

export interface NamedPort {
  readonly name: string;
  /** The number that the device itself uses. */
  readonly number?: number;
}

/**
 * The number of each port of one device, by name. The result depends on the set of ports only, not on their order, and no
 * two names have the same number:
 *
 * 1. A port that has a number keeps it. Where two names claim the same number, the first name in the order has it.
 * 2. A port without a number gets that of `portNumberOfName`, unless 1. or a name before it in the order has it.
 * 3. The others get further numbers in rounds, each made from their own name. So an added port changes the number of
 *    another one only if it takes exactly the number of that one: as its own number, or by a collision of hashes in which
 *    its name comes first.
 *
 * The order is by length, then by code unit: of `7` and `07`, the name `7` gets the number 7.
 */
export function assignPortNumbers(ports: readonly NamedPort[]): Map<string, string> {
  const numbers = new Map<string, string>();
  const taken = new Set<string>();
  const assign = (name: string, number: string): boolean => {
    if (taken.has(number)) return false;
    taken.add(number);
    numbers.set(name, number);
    return true;
  };
  for (const { name, number } of [...ports].sort(compareNumbered)) {
    if (isPortNumber(number) && !numbers.has(name)) assign(name, String(number));
  }
  const names = new Set(ports.map(({ name }) => name));
  let left = [...names].filter((name) => !numbers.has(name)).sort(compareNames);
  for (let attempt = 0; left.length > 0; attempt++) {
    left = left.filter(
      (name) => !assign(name, attempt === 0 ? portNumberOfName(name) : nextPortNumber(name, attempt)),
    );
  }
  return numbers;
}

const isPortNumber = (number: number | undefined): number is number =>
  number !== undefined && Number.isInteger(number) && number >= 0 && number <= MAX_PORT;

const compareNames = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

const compareNumbered = (a: NamedPort, b: NamedPort): number =>
  compareNames(a.name, b.name) || (a.number ?? 0) - (b.number ?? 0);
