/**
 * The hosts of the simulated network, computed. A host is a number; its edge device, port, MAC and addresses are
 * functions of that number, so that a million hosts need no memory.
 *
 * Every edge device has its own subnets (a block of 10.0.0.0/8 and a /64 of 2001:db8::/32), and a host keeps the
 * addresses of its home device when it moves. The lower half of an IPv4 subnet holds the first leases, the upper half the
 * second ones. A host whose address changes switches between the two, so no two hosts ever share an address.
 */
import type { AttachmentPoint, Plan } from "./network-plan.ts";
import { hash32 } from "./seeded-random.ts";

/** A type of host, with the vendor prefixes of its MACs. */
interface HostType {
  readonly name: string;
  readonly ouis: readonly [number, ...number[]];
}
const SERVER: HostType = { name: "srv", ouis: [0xb8599f, 0x3cfdfe, 0x0c42a1] };
const WORKSTATION: HostType = { name: "ws", ouis: [0xa4bb6d, 0x9c7bef, 0xf0189e] };
const PHONE: HostType = { name: "phone", ouis: [0x805ec0, 0x64167f] };
const PRINTER: HostType = { name: "printer", ouis: [0x3c2af4] };
const CAMERA: HostType = { name: "cam", ouis: [0xaccc8e] };
/** Each entry is a tenth of the hosts on access switches. */
const ACCESS_HOST_TYPES = [
  WORKSTATION, WORKSTATION, WORKSTATION, WORKSTATION, WORKSTATION, WORKSTATION, PHONE, PHONE, PRINTER, CAMERA,
] as const; // biome-ignore format: a list of words

const SERVER_VLANS = ["100", "110", "120"] as const;
const FIRST_HOST_NUMBER = 16;

/** The properties of a host that do not depend on its location. */
export interface HostIdentity {
  readonly mac: string;
  readonly vlan: string;
  readonly name: string;
  readonly v4: string;
  readonly v6: string | undefined;
}

export interface HostPlan {
  readonly count: number;
  home(host: number): AttachmentPoint;
  identity(host: number, secondLease: boolean): HostIdentity;
}

export function createHostPlan(plan: Plan, count: number, seed: number): HostPlan {
  const firstHostOf = firstHostOfEachEdge(plan, count, seed);
  const subnet = subnetSize(firstHostOf);
  const macOffset = hash32(seed, 0x6d6163);
  let lastEdge = 0;

  const homeEdge = (host: number): number => {
    // An iteration over all hosts needs the same edge many times in a row.
    if (host >= (firstHostOf[lastEdge] ?? 0) && host < (firstHostOf[lastEdge + 1] ?? 0)) return lastEdge;
    let low = 0;
    let high = firstHostOf.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((firstHostOf[middle] ?? 0) <= host) low = middle;
      else high = middle;
    }
    lastEdge = low;
    return low;
  };

  return {
    count,

    home(host) {
      const edge = homeEdge(host);
      const { firstPort, lastPort } = plan.edges[edge] ?? { firstPort: 1, lastPort: 1 };
      return { edge, port: firstPort + ((host - (firstHostOf[edge] ?? 0)) % (lastPort - firstPort + 1)) };
    },

    identity(host, secondLease) {
      const edge = homeEdge(host);
      const { layer, site } = plan.devices[plan.edges[edge]?.device ?? 0] ?? { layer: "access", site: 0 };
      const chance = hash32(seed, host, 1);
      const type = layer === "leaf" ? SERVER : (ACCESS_HOST_TYPES[chance % 10] ?? WORKSTATION);
      const oui = type.ouis[(chance >>> 8) % type.ouis.length] ?? type.ouis[0];
      // An odd factor permutes the 24 low bits, so they are unique whatever the prefix.
      const low = (Math.imul(host, 0x9e3779b1) + macOffset) & 0xffffff;
      const slot = host - (firstHostOf[edge] ?? 0);
      const v4 = edge * subnet + FIRST_HOST_NUMBER + slot + (secondLease ? subnet / 2 : 0);
      const hasV6 = (chance >>> 20) % 8 > 0;
      return {
        mac: macText(oui, low),
        vlan: layer === "leaf" ? (SERVER_VLANS[(chance >>> 16) % 3] ?? "None") : "None",
        name: `${type.name}-${host + 1}.${plan.sites[site]?.code}.example.net`,
        v4: `10.${v4 >>> 16}.${(v4 >>> 8) & 255}.${v4 & 255}`,
        v6: hasV6 ? `2001:db8:${hex(site + 1)}:${hex(edge + 1)}:${eui64(oui, low)}` : undefined,
      };
    },
  };
}

/**
 * Distributes the hosts over the edge devices; some get up to twice as many as others. Hosts `result[edge]` to
 * `result[edge + 1] - 1` belong to an edge.
 */
function firstHostOfEachEdge(plan: Plan, count: number, seed: number): Uint32Array {
  const weights = plan.edges.map((_, edge) => 4 + (hash32(seed, edge, 2) % 5));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const firstOf = new Uint32Array(weights.length + 1);
  let cumulative = 0;
  for (const [edge, weight] of weights.entries()) {
    cumulative += weight;
    firstOf[edge + 1] = Math.floor((cumulative / total) * count);
  }
  return firstOf;
}

/** The smallest power of two, at least 256, half of which holds the hosts of the largest edge. */
function subnetSize(firstOf: Uint32Array): number {
  let maxHosts = 0;
  for (let edge = 1; edge < firstOf.length; edge++) {
    maxHosts = Math.max(maxHosts, (firstOf[edge] ?? 0) - (firstOf[edge - 1] ?? 0));
  }
  let size = 256;
  while (size / 2 <= maxHosts + FIRST_HOST_NUMBER) size *= 2;
  return size;
}

const hex = (value: number): string => value.toString(16);

function macText(oui: number, low: number): string {
  const digits = (oui * 2 ** 24 + low).toString(16).toUpperCase().padStart(12, "0");
  return `${digits.slice(0, 2)}:${digits.slice(2, 4)}:${digits.slice(4, 6)}:${digits.slice(6, 8)}:${digits.slice(8, 10)}:${digits.slice(10)}`;
}

/** The interface id that a host gives itself from its MAC (RFC 4291, appendix A). */
function eui64(oui: number, low: number): string {
  const flipped = oui ^ 0x020000;
  return `${hex(flipped >>> 8)}:${hex(((flipped & 255) << 8) | 0xff)}:${hex(0xfe00 | (low >>> 16))}:${hex(low & 0xffff)}`;
}
