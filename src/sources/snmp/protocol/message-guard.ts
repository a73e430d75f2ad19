/**
 * Checks a datagram before the SNMP library sees it. The library accepts a reply without authentication to an
 * authenticated request, uses a message of another version than the session's without the keys that it needs, and reads
 * a truncated message as a shorter one. Only the head of the message is parsed here.
 */

/** Bits of msgFlags (RFC 3412, 6.4). */
const AUTH_FLAG = 1;
const PRIV_FLAG = 2;
const REPORT_PDU = 0xa8;
const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
/** RFC 3411, SnmpEngineID. The library stores a key for each engine id it meets. */
const MAX_ENGINE_ID_BYTES = 32;

export type SecurityLevel = "community" | "auth" | "authPriv";

/** Why a datagram is dropped. `insecure`: with less security than the session has, and no report of an error. */
export type DropReason = "malformed" | "insecure";

interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** The element of BER at `at`; undefined when it does not fit in `end`. Lengths in up to four bytes, as SNMP has them. */
function readElement(bytes: Uint8Array, at: number, end: number): Element | undefined {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (at + 2 > end || tag === undefined || first === undefined) return undefined;
  const lengthBytes = first & 0x80 ? first & 0x7f : 0;
  if (first === 0x80 || lengthBytes > 4) return undefined;
  let length = lengthBytes === 0 ? first : 0;
  for (let i = 0; i < lengthBytes; i++) length = length * 256 + (bytes[at + 2 + i] ?? 0);
  const start = at + 2 + lengthBytes;
  return start + length > end ? undefined : { tag, start, end: start + length };
}

/** The elements inside one; undefined when the tags are not these. Further elements are not read. */
function readElements(bytes: Uint8Array, parent: Element, tags: readonly (number | undefined)[]) {
  const elements: Element[] = [];
  let at = parent.start;
  for (const tag of tags) {
    const element = readElement(bytes, at, parent.end);
    if (!element || (tag !== undefined && element.tag !== tag)) return undefined;
    elements.push(element);
    at = element.end;
  }
  return elements;
}

/** Why the datagram must be dropped; undefined when the library may parse it. */
export function inspectMessage(bytes: Uint8Array, level: SecurityLevel): DropReason | undefined {
  const message = readElement(bytes, 0, bytes.length);
  if (message?.tag !== SEQUENCE) return "malformed";
  const version = readElement(bytes, message.start, message.end);
  if (version?.tag !== INTEGER || version.end - version.start !== 1) return "malformed";
  const isV3 = level !== "community";
  if (bytes[version.start] !== (isV3 ? 3 : 1)) return "insecure";
  return isV3 ? inspectV3(bytes, { ...message, start: version.end }, level) : undefined;
}

function inspectV3(bytes: Uint8Array, rest: Element, level: SecurityLevel): DropReason | undefined {
  const [header, parameters, data] = readElements(bytes, rest, [SEQUENCE, OCTET_STRING, undefined]) ?? [];
  if (!header || !parameters || !data) return "malformed";
  const [, , flagsElement] = readElements(bytes, header, [INTEGER, INTEGER, OCTET_STRING]) ?? [];
  if (!flagsElement || flagsElement.end - flagsElement.start !== 1) return "malformed";
  const flags = bytes[flagsElement.start] ?? 0;
  const [usm] = readElements(bytes, parameters, [SEQUENCE]) ?? [];
  const [engineId] = (usm && readElements(bytes, usm, [OCTET_STRING])) ?? [];
  if (!engineId || engineId.end - engineId.start > MAX_ENGINE_ID_BYTES) return "malformed";
  const required = level === "authPriv" ? AUTH_FLAG | PRIV_FLAG : AUTH_FLAG;
  if ((flags & required) === required) return undefined;
  // Discovery and errors of security are reported with less security (RFC 3414, 3.2 and 4).
  return (flags & PRIV_FLAG) === 0 && pduTag(bytes, data) === REPORT_PDU ? undefined : "insecure";
}

/** The tag of the PDU in a scoped PDU that is not encrypted. */
function pduTag(bytes: Uint8Array, scoped: Element): number | undefined {
  if (scoped.tag !== SEQUENCE) return undefined;
  return readElements(bytes, scoped, [OCTET_STRING, OCTET_STRING, undefined])?.[2]?.tag;
}
