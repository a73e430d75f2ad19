/**
 * Announcements: frames in which a station shows its MAC and IP addresses, that is ARP (RFC 826, 5227), IPv6 neighbour
 * discovery (RFC 4861) and DHCP (RFC 2131). `readAnnouncement` returns the sender and the address it uses. It rejects an ARP
 * or neighbour discovery frame whose Ethernet source differs from the sender in its payload. This file also writes the two
 * frames that make a station reply.
 */
import {
  ETHER,
  type EthernetFrame,
  ipv4Bytes,
  ipv4Text,
  ipv6Text,
  startFrame,
  type VlanTags,
} from "./ethernet.ts";
import { ByteReader, ByteWriter, WireError } from "./wire.ts";

/** `ip` is set only when the frame shows that its sender uses the address, not when it tests or requests one. */
export interface Announcement {
  readonly mac: string;
  readonly ip?: string;
  /** The transaction id of a DHCP request. The server's reply has the same id. */
  readonly dhcpTransaction?: number;
  /** The lease in a DHCP server's acknowledgement. Its `mac` is that of the client, not of the sender. */
  readonly lease?: { readonly mac: string; readonly ip: string; readonly transaction: number };
}

const UDP = 17;
const ICMPV6 = 58;
export const ND = { routerSolicit: 133, routerAdvert: 134, solicit: 135, advert: 136 } as const;
const OPTION = { sourceLink: 1, targetLink: 2 } as const;

export function readAnnouncement(frame: EthernetFrame): Announcement | undefined {
  if (frame.type === ETHER.arp) return readArp(frame);
  if (frame.type === ETHER.ipv6) return readNeighbourDiscovery(frame);
  if (frame.type === ETHER.ipv4) return readDhcp(frame);
  return undefined;
}

function readArp(frame: EthernetFrame): Announcement {
  const reader = new ByteReader(frame.payload);
  if (reader.u16() !== 1 || reader.u16() !== ETHER.ipv4 || reader.u8() !== 6 || reader.u8() !== 4) {
    throw new WireError("ARP for another protocol than Ethernet and IPv4");
  }
  reader.skip(2); // Operation: requests and replies both name their sender.
  const mac = reader.mac();
  if (mac !== frame.src) throw new WireError("ARP whose sender is not the Ethernet source");
  const ip = ipv4Text(reader.bytes(4));
  return ip === "0.0.0.0" ? { mac } : { mac, ip };
}

function readNeighbourDiscovery(frame: EthernetFrame): Announcement | undefined {
  const reader = new ByteReader(frame.payload);
  reader.skip(6);
  const next = reader.u8();
  const hops = reader.u8();
  const source = ipv6Text(reader.bytes(16));
  reader.skip(16);
  if (next !== ICMPV6) return undefined;
  const type = reader.u8();
  if (type < ND.routerSolicit || type > ND.advert) return undefined;
  // Routers decrement the hop limit, so 255 proves that the sender is on this link.
  if (hops !== 255) throw new WireError("neighbour discovery that was routed");
  reader.skip(3 + 4);
  if (type === ND.routerAdvert) reader.skip(8);
  const target = type === ND.solicit || type === ND.advert ? ipv6Text(reader.bytes(16)) : undefined;
  let link: string | undefined;
  reader.list(64, (options) => {
    const option = options.u8();
    const length = options.u8() * 8;
    if (length === 0) throw new WireError("an option without length");
    const body = options.part(length - 2);
    if ((option === OPTION.sourceLink || option === OPTION.targetLink) && body.remaining === 6)
      link = body.mac();
  });
  if (link !== undefined && link !== frame.src)
    throw new WireError("neighbour discovery whose link-layer address is not the Ethernet source");
  if (type === ND.advert) return { mac: frame.src, ...(target !== undefined && { ip: target }) };
  // An unspecified source is duplicate address detection: the address is not in use yet.
  return source === "::" ? { mac: frame.src } : { mac: frame.src, ip: source };
}

const DHCP_COOKIE = 0x63825363;
const DHCP = {
  serverPort: 67,
  clientPort: 68,
  bootRequest: 1,
  bootReply: 2,
  typeOption: 53,
  padOption: 0,
  endOption: 255,
  ack: 5,
};

function readDhcp(frame: EthernetFrame): Announcement | undefined {
  const reader = new ByteReader(frame.payload);
  const headerBytes = (reader.u8() & 0x0f) * 4;
  reader.skip(8);
  if (reader.u8() !== UDP) return undefined;
  reader.skip(10 + headerBytes - 20);
  const from = reader.u16();
  const to = reader.u16();
  if (
    !(from === DHCP.clientPort && to === DHCP.serverPort) &&
    !(from === DHCP.serverPort && to === DHCP.clientPort)
  ) {
    return undefined;
  }
  reader.skip(4);
  const operation = reader.u8();
  reader.skip(3);
  const transaction = reader.u32();
  reader.skip(4);
  const current = ipv4Text(reader.bytes(4));
  const yours = ipv4Text(reader.bytes(4));
  reader.skip(8);
  const client = reader.mac();
  reader.skip(10 + 64 + 128);
  if (reader.u32() !== DHCP_COOKIE) return undefined;
  if (operation === DHCP.bootRequest) {
    if (client !== frame.src) return { mac: frame.src }; // The frame was sent by a relay.
    return { mac: client, dhcpTransaction: transaction, ...(current !== "0.0.0.0" && { ip: current }) };
  }
  if (operation !== DHCP.bootReply || dhcpType(reader) !== DHCP.ack || yours === "0.0.0.0")
    return { mac: frame.src };
  return { mac: frame.src, lease: { mac: client, ip: yours, transaction } };
}

function dhcpType(reader: ByteReader): number | undefined {
  while (reader.remaining > 0) {
    const option = reader.u8();
    if (option === DHCP.padOption) continue;
    if (option === DHCP.endOption) return undefined;
    const body = reader.part(reader.u8());
    if (option === DHCP.typeOption) return body.u8();
  }
  return undefined;
}

/** Writes an ARP probe to one station. Its sender IP is 0.0.0.0 (RFC 5227, §1.1), so that no ARP cache stores the sender. */
export function writeArpProbe(senderMac: string, mac: string, ip: string, tags: VlanTags): Uint8Array {
  const writer = startFrame(mac, senderMac, ETHER.arp, tags);
  writer.u16(1).u16(ETHER.ipv4).u8(6).u8(4).u16(1);
  return writer.mac(senderMac).zeros(4).zeros(6).bytes(ipv4Bytes(ip)).done();
}

/** Writes a neighbour solicitation to one station. `senderIp` is the link-local address of `senderMac`, 16 bytes. */
export function writeNeighbourSolicitation(
  senderMac: string,
  senderIp: Uint8Array,
  mac: string,
  ip: Uint8Array,
  tags: VlanTags,
): Uint8Array {
  const icmp = new ByteWriter(32).u8(ND.solicit).u8(0).u16(0).zeros(4).bytes(ip);
  icmp.u8(OPTION.sourceLink).u8(1).mac(senderMac);
  const body = icmp.done();
  const sum = checksum(senderIp, ip, body);
  body[2] = sum >> 8;
  body[3] = sum & 0xff;
  const writer = startFrame(mac, senderMac, ETHER.ipv6, tags);
  writer.u32(0x60000000).u16(body.length).u8(ICMPV6).u8(255).bytes(senderIp).bytes(ip);
  return writer.bytes(body).done();
}

/** Computes the ICMPv6 checksum (RFC 4443, §2.3) over the pseudo-header and the message. */
function checksum(source: Uint8Array, destination: Uint8Array, body: Uint8Array): number {
  const all = new ByteWriter(64).bytes(source).bytes(destination).u32(body.length).u32(ICMPV6).bytes(body);
  const reader = new ByteReader(all.done());
  let sum = 0;
  while (reader.remaining >= 2) sum += reader.u16();
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
