/**
 * Lists of IP addresses and CIDR blocks, such as `10.0.0.0/8` or `::1`, and whether one contains an address. An IPv4
 * address that is mapped into IPv6 (`::ffff:10.0.0.1`, as a socket that listens on `::` reports it) is the IPv4 address.
 */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [base: Address, prefixBits: number];

/** Parses an address and ignores its zone (`%eth0`). Short forms of IPv4 (`10.1`, `0x7f000001`) are no addresses. */
export function parseAddress(text: string): Address | undefined {
  const zone = text.indexOf("%");
  const bare = zone < 0 ? text : text.slice(0, zone);
  const isAddress = bare.includes(":") ? ipaddr.IPv6.isValid(bare) : ipaddr.IPv4.isValidFourPartDecimal(bare);
  return isAddress ? ipaddr.process(bare) : undefined;
}

/** Returns undefined when `text` is neither an address nor ADDRESS/BITS. */
function parseRange(text: string): Range | undefined {
  const slash = text.indexOf("/");
  const base = slash < 0 ? text : text.slice(0, slash);
  const address = base.includes("%") ? undefined : parseAddress(base);
  if (!address) return undefined;
  const allBits = address.toByteArray().length * 8;
  if (slash < 0) return [address, allBits];
  const bitsText = text.slice(slash + 1);
  // The prefix of a mapped address counts from the start of the IPv6 address.
  const bits = Number(bitsText) - (base.includes(":") && allBits === 32 ? 96 : 0);
  return /^\d{1,3}$/.test(bitsText) && bits >= 0 && bits <= allBits ? [address, bits] : undefined;
}

export const isAddressRange = (text: string): boolean => parseRange(text) !== undefined;

export class AddressRanges {
  readonly #ranges: readonly Range[];

  /** Entries that are no range are left out; the configuration is validated with `isAddressRange` before. */
  constructor(ranges: readonly string[]) {
    this.#ranges = ranges.flatMap((text) => {
      const range = parseRange(text);
      return range ? [range] : [];
    });
  }

  get isEmpty(): boolean {
    return this.#ranges.length === 0;
  }

  includes(text: string): boolean {
    const address = parseAddress(text);
    return address !== undefined && this.#ranges.some(([base, bits]) => isWithin(address, base, bits));
  }
}

function isWithin(address: Address, base: Address, bits: number): boolean {
  if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits);
  return base instanceof ipaddr.IPv6 && address.match(base, bits);
}
