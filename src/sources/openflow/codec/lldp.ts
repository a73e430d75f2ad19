/** LLDP (IEEE 802.1AB): the three mandatory TLVs, the system's name and description, and one private TLV. */
import { canonicalIp, canonicalMac } from "../../../model/address.ts";
import { ByteReader, type ByteWriter, macText, paddedText, uint, WireError } from "./wire.ts";

/** The address of the nearest bridge. 802.1D bridges do not forward it, so the receiver is at the other end of the cable. */
export const LLDP_MULTICAST = "01:80:C2:00:00:0E";
const TLV = { end: 0, chassis: 1, port: 2, ttl: 3, name: 5, text: 6, private: 127 } as const;
const SUBTYPE = { mac: 4, network: 5, local: 7 } as const;
const MAX_TLVS = 128;

interface PrivateTlv {
  readonly oui: number;
  readonly subtype: number;
  readonly value: Uint8Array;
}

export interface Lldp {
  readonly chassis: string;
  readonly port: string;
  readonly ttlSeconds: number;
  readonly name?: string;
  readonly text?: string;
}

/**
 * Returns the value of one private TLV, or undefined. The other TLVs are not decoded, because this function runs for every
 * received probe.
 */
export function privateTlv(payload: Uint8Array, oui: number, subtype: number): Uint8Array | undefined {
  const wanted = oui * 256 + subtype;
  let at = 0;
  for (let count = 0; count < MAX_TLVS && at + 2 <= payload.length; count++) {
    const head = uint(payload, at, 2);
    const type = head >> 9;
    const start = at + 2;
    at = start + (head & 0x1ff);
    if (at > payload.length) throw new WireError("a TLV longer than its frame");
    if (type === TLV.end) return undefined;
    if (type === TLV.private && at - start >= 4 && uint(payload, start, 4) === wanted)
      return payload.subarray(start + 4, at);
  }
  return undefined;
}

export function readLldp(payload: Uint8Array): Lldp {
  const reader = new ByteReader(payload);
  const texts = new Map<number, string>();
  let ttlSeconds: number | undefined;
  for (let count = 0; ; count++) {
    if (count === MAX_TLVS) throw new WireError(`more than ${MAX_TLVS} TLVs`);
    const head = reader.u16();
    const type = head >> 9;
    const tlv = reader.part(head & 0x1ff);
    if (type === TLV.end) break;
    if (type === TLV.chassis || type === TLV.port) texts.set(type, readIdentifier(type, tlv));
    else if (type === TLV.ttl) ttlSeconds = tlv.u16();
    else if (type === TLV.name || type === TLV.text) texts.set(type, paddedText(tlv.rest()));
  }
  const chassis = texts.get(TLV.chassis);
  const port = texts.get(TLV.port);
  if (!chassis || !port || ttlSeconds === undefined) throw new WireError("LLDP without its mandatory TLVs");
  const name = texts.get(TLV.name);
  const text = texts.get(TLV.text);
  return {
    chassis,
    port,
    ttlSeconds,
    ...(name !== undefined && { name }),
    ...(text !== undefined && { text }),
  };
}

const readIdentifier = (type: number, tlv: ByteReader): string =>
  identifierText(type === TLV.chassis ? "chassis" : "port", tlv.u8(), tlv.rest());

/**
 * Formats a chassis or port id: addresses in canonical form, printable names unchanged, anything else in hex. Device ids
 * are derived from this text, so all sources that read LLDP use this function.
 */
export function identifierText(of: "chassis" | "port", subtype: number, value: Uint8Array): string {
  // The subtypes for a MAC and a network address are one lower in the port TLV than in the chassis TLV.
  const mac = of === "chassis" ? SUBTYPE.mac : SUBTYPE.mac - 1;
  const network = of === "chassis" ? SUBTYPE.network : SUBTYPE.network - 1;
  if (subtype === mac && value.length === 6) return canonicalMac(macText(value)) ?? value.toHex();
  if (subtype === network && value.length === 5 && value[0] === 1) {
    return canonicalIp(value.subarray(1).join(".")) ?? value.toHex();
  }
  const text = paddedText(value);
  return /^[\x20-\x7e]+$/.test(text) ? text : value.toHex();
}

/** Writes chassis and port as locally assigned names, the time to live, and one private TLV. */
export function writeLldp(
  writer: ByteWriter,
  chassis: string,
  port: string,
  ttlSeconds: number,
  privateTlv: PrivateTlv,
): void {
  const writeName = (type: number, text: string) => {
    const bytes = new TextEncoder().encode(text);
    writer
      .u16((type << 9) | (bytes.length + 1))
      .u8(SUBTYPE.local)
      .bytes(bytes);
  };
  writeName(TLV.chassis, chassis);
  writeName(TLV.port, port);
  writer.u16((TLV.ttl << 9) | 2).u16(ttlSeconds);
  writer
    .u16((TLV.private << 9) | (privateTlv.value.length + 4))
    .u32(privateTlv.oui * 256 + privateTlv.subtype)
    .bytes(privateTlv.value);
  writer.u16(TLV.end);
}
