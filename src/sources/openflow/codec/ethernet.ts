/** Ethernet II frames with up to two VLAN tags (IEEE 802.3, 802.1Q, 802.1ad), and the addresses in them. */
import { canonicalIp } from "../../../model/address.ts";
import { ByteReader, ByteWriter, WireError } from "./wire.ts";

export const ETHER = {
  ipv4: 0x0800,
  arp: 0x0806,
  ipv6: 0x86dd,
  lldp: 0x88cc,
  broadcastProbe: 0x8942,
} as const;
const TAG_TYPES: ReadonlySet<number> = new Set([0x8100, 0x88a8, 0x9100]);
export const BROADCAST = "FF:FF:FF:FF:FF:FF";

/** A tag with VLAN 0 (priority only) is ignored. */
export interface VlanTags {
  /** The VLAN of the outermost tag. */
  readonly vlan?: number;
  readonly innerVlan?: number;
  /** The tag protocol id of the outermost tag. */
  readonly tpid?: number;
}

export interface EthernetFrame {
  readonly dst: string;
  readonly src: string;
  readonly tags: VlanTags;
  readonly type: number;
  readonly payload: Uint8Array;
}

export function readFrame(bytes: Uint8Array): EthernetFrame {
  const reader = new ByteReader(bytes);
  const dst = reader.mac();
  const src = reader.mac();
  let type = reader.u16();
  let tags: VlanTags = {};
  for (let count = 0; TAG_TYPES.has(type); count++) {
    if (count === 2) throw new WireError("more than two VLAN tags");
    const vlan = reader.u16() & 0x0fff;
    if (vlan > 0) tags = tags.vlan === undefined ? { vlan, tpid: type } : { ...tags, innerVlan: vlan };
    type = reader.u16();
  }
  return { dst, src, tags, type, payload: reader.rest() };
}

export function startFrame(dst: string, src: string, type: number, tags: VlanTags = {}): ByteWriter {
  const writer = new ByteWriter(160).mac(dst).mac(src);
  if (tags.vlan !== undefined) writer.u16(tags.tpid ?? 0x8100).u16(tags.vlan);
  if (tags.innerVlan !== undefined) writer.u16(0x8100).u16(tags.innerVlan);
  return writer.u16(type);
}

/** Returns false for group addresses (multicast, broadcast) and the zero address. */
export function isStationMac(mac: string): boolean {
  return (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0 && mac !== "00:00:00:00:00:00";
}

export const ipv4Text = (bytes: Uint8Array): string => bytes.join(".");

export function ipv4Bytes(text: string): Uint8Array {
  return Uint8Array.from(text.split("."), Number);
}

export function ipv6Text(bytes: Uint8Array): string {
  const groups = bytes.toHex().match(/.{4}/g) ?? [];
  return canonicalIp(groups.join(":")) ?? "::";
}

/** Returns false for unspecified, loopback, multicast and broadcast addresses. */
export function isStationIp(ip: string): boolean {
  if (ip.includes(":")) return ip !== "::" && ip !== "::1" && !ip.startsWith("ff");
  const first = Number(ip.slice(0, ip.indexOf(".")));
  return first !== 0 && first !== 127 && first < 224;
}
