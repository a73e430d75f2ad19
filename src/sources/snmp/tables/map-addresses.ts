/** IP-MIB: the neighbour tables of IPv4 (ARP) and IPv6 (ND), which give the IP addresses of a MAC address. */
import type { AgentData } from "./agent-data.ts";
import type { AddressEntry } from "./agent-report.ts";
import { column, indexParts, toInteger, toIp, toMac } from "./values.ts";

const MAX_ENTRIES = 262_144;
const TYPE_INVALID = 2;

export function mapAddressTable(data: AgentData): AddressEntry[] {
  const entries = new Map<string, AddressEntry>();
  const add = (mac: string | undefined, ip: string | undefined, port = 0): void => {
    if (mac === undefined || ip === undefined || entries.size >= MAX_ENTRIES) return;
    entries.set(`${mac} ${ip}`, { mac, ip, port });
  };
  const mediaTypes = column(data, "ipNetToMediaType");
  for (const [row, value] of column(data, "ipNetToMediaPhysAddress")) {
    // ifIndex, then the four bytes of the address.
    const [port, ...bytes] = indexParts(row);
    if (toInteger(mediaTypes.get(row)) !== TYPE_INVALID) add(toMac(value), toIp(bytes), port);
  }
  const physicalTypes = column(data, "ipNetToPhysicalType");
  for (const [row, value] of column(data, "ipNetToPhysicalPhysAddress")) {
    if (toInteger(physicalTypes.get(row)) === TYPE_INVALID) continue;
    // ifIndex, family, length, address; an address with a zone has four bytes more.
    const [port, , length = 0, ...bytes] = indexParts(row);
    if (length === bytes.length) add(toMac(value), toIp(length === 20 ? bytes.slice(0, 16) : bytes), port);
  }
  return [...entries.values()];
}
