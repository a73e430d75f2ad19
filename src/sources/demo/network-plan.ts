/**
 * The plan of the simulated network: its devices and cables. It is immutable and depends on the number of devices only.
 *
 * There is one fabric per hundred-odd devices. Every third site has one: routers, spines, leaves in pairs, and access
 * switches with an uplink to both leaves of a pair. The other sites have a router only. Every site is connected to the
 * two nearest sites before it, so that no single cable partitions the wide area. Below ten devices there is one site; one
 * device is one switch.
 */

import { hash32 } from "./demo-random.ts";
import { type EquipmentLayer, UPLINK } from "./equipment.ts";

interface Site {
  readonly code: string;
  readonly city: string;
  readonly latitude: number;
  readonly longitude: number;
}

export interface PlannedDevice {
  readonly layer: EquipmentLayer;
  readonly site: number;
  /** The number of the device within its layer and site, from 1. */
  readonly ordinal: number;
}

/** A cable, which is two link records. `km` is set for cables between sites. */
export interface PlannedCable {
  readonly a: number;
  readonly aPort: number;
  readonly b: number;
  readonly bPort: number;
  readonly km?: number;
}

/** A device with ports for hosts: `firstPort` to `lastPort`. */
export interface EdgeDevice {
  readonly device: number;
  readonly firstPort: number;
  readonly lastPort: number;
}

/** A port for hosts; `edge` is an index of `NetworkPlan.edges`. */
export interface AttachmentPoint {
  readonly edge: number;
  readonly port: number;
}

export interface NetworkPlan {
  readonly sites: readonly Site[];
  readonly devices: readonly PlannedDevice[];
  readonly cables: readonly PlannedCable[];
  /** The devices with ports for hosts. Those of one site are consecutive. */
  readonly edges: readonly EdgeDevice[];
}

const MAX_WAN_CABLES_PER_SITE = 8;
const ROUTER_PAIR_PORT = 16;

export function createPlan(deviceCount: number): NetworkPlan {
  const { fabrics, sites: siteCount, routersPerFabric } = planSizes(deviceCount);
  const sites = Array.from({ length: siteCount }, (_, index) => createSite(index));
  const routerTotal = fabrics * routersPerFabric + (siteCount - fabrics);
  const inFabrics = deviceCount - routerTotal;
  const devices: PlannedDevice[] = [];
  const cables: PlannedCable[] = [];
  const edges: EdgeDevice[] = [];
  const routers: number[][] = [];

  const add = (layer: EquipmentLayer, site: number, count: number): number[] =>
    Array.from({ length: count }, (_, i) => devices.push({ layer, site, ordinal: i + 1 }) - 1);

  for (const site of sites.keys()) {
    const hasFabric = site % 3 === 0;
    const siteRouters = add("core", site, hasFabric ? routersPerFabric : 1);
    routers.push(siteRouters);
    const [first, second] = siteRouters;
    if (first !== undefined && second !== undefined) {
      cables.push({ a: first, aPort: ROUTER_PAIR_PORT, b: second, bPort: ROUTER_PAIR_PORT });
    }
    if (!hasFabric) continue;
    const fabric = site / 3;
    const size = Math.floor(inFabrics / fabrics) + (fabric < inFabrics % fabrics ? 1 : 0);
    const shape = fabricShape(size);
    const spines = add("spine", site, shape.spines);
    const leaves = add("leaf", site, shape.leaves);
    const access = add("access", site, shape.access);
    cables.push(...fabricCables(siteRouters, spines, leaves, access));
    edges.push(...fabricEdges(leaves, access));
  }
  cables.push(...wanCables(sites, routers));
  return { sites, devices, cables, edges };
}

function planSizes(devices: number): { fabrics: number; sites: number; routersPerFabric: number } {
  if (devices < 10) return { fabrics: 1, sites: 1, routersPerFabric: devices < 3 ? 0 : 1 };
  const fabrics = devices < 24 ? 1 : Math.max(2, Math.round(devices / 120));
  return { fabrics, sites: fabrics * 3, routersPerFabric: 2 };
}

function fabricShape(size: number): { spines: number; leaves: number; access: number } {
  const spines = size < 6 ? 0 : size < 60 ? 2 : 4;
  const leaves = size < 6 ? 1 : Math.min(8, Math.max(2, 2 * Math.round(size / 10)));
  return { spines, leaves, access: size - spines - leaves };
}

function createSite(index: number): Site {
  const [code, city, latitude, longitude] = CITIES[index % CITIES.length] ?? ["lab", "Lab", 0, 0];
  const round = Math.floor(index / CITIES.length);
  // Further sites in one city are placed around it.
  const angle = round * 2.4;
  const away = round === 0 ? 0 : 0.15 + round * 0.04;
  return {
    code: `${code}${round + 1}`,
    city,
    latitude: Number((latitude + away * Math.sin(angle)).toFixed(4)),
    longitude: Number((longitude + away * Math.cos(angle)).toFixed(4)),
  };
}

function* fabricCables(
  routers: readonly number[],
  spines: readonly number[],
  leaves: readonly number[],
  access: readonly number[],
): Iterable<PlannedCable> {
  const top = spines.length > 0 ? spines : leaves;
  for (const [r, a] of routers.entries()) {
    for (const [k, b] of pick(top, r * 2, 2).entries()) {
      yield { a, aPort: UPLINK.core + k, b, bPort: (spines.length > 0 ? UPLINK.spine : UPLINK.leaf) + r };
    }
  }
  for (const [s, a] of spines.entries()) {
    for (const [l, b] of leaves.entries()) yield { a, aPort: l + 1, b, bPort: UPLINK.leaf + s };
  }
  const pairs = Math.max(1, leaves.length / 2);
  for (const [i, b] of access.entries()) {
    for (const [leg, a] of pick(leaves, (i % pairs) * 2, 2).entries()) {
      yield { a, aPort: Math.floor(i / pairs) + 1, b, bPort: UPLINK.access + leg };
    }
  }
}

/** Picks `count` distinct elements of `all` from `start` on, wrapping around. */
function pick(all: readonly number[], start: number, count: number): number[] {
  const picked: number[] = [];
  for (let i = 0; i < Math.min(count, all.length); i++) {
    const one = all[(start + i) % all.length];
    if (one !== undefined) picked.push(one);
  }
  return picked;
}

/** The ports for hosts: servers are on leaf ports that no access switch uses, other hosts are on access switches. */
function* fabricEdges(leaves: readonly number[], access: readonly number[]): Iterable<EdgeDevice> {
  const usedPorts = Math.ceil(access.length / Math.max(1, leaves.length / 2));
  for (const device of leaves) yield { device, firstPort: usedPorts + 1, lastPort: UPLINK.leaf - 1 };
  for (const device of access) yield { device, firstPort: 1, lastPort: UPLINK.access - 1 };
}

function* wanCables(sites: readonly Site[], routers: readonly (readonly number[])[]): Iterable<PlannedCable> {
  const used = new Uint8Array(sites.length);
  /** Returns the next free port of a site. Its cables alternate between its routers, and start at port 1 of each. */
  const nextPort = (site: number): { device: number; port: number } => {
    const siteRouters = routers[site] ?? [];
    const nth = used[site] ?? 0;
    used[site] = nth + 1;
    const device = siteRouters[nth % siteRouters.length] ?? 0;
    return { device, port: Math.floor(nth / siteRouters.length) + 1 };
  };
  for (const [index, site] of sites.entries()) {
    const earlierSites = sites
      .slice(0, index)
      .map((earlier, at) => ({ at, km: kilometres(site, earlier) }))
      .filter(({ at }) => (used[at] ?? 0) < MAX_WAN_CABLES_PER_SITE)
      .sort((x, y) => x.km - y.km);
    for (const { at, km } of earlierSites.slice(0, 2)) {
      const a = nextPort(at);
      const b = nextPort(index);
      yield { a: a.device, aPort: a.port, b: b.device, bPort: b.port, km: Math.max(1, Math.round(km)) };
    }
  }
}

/** The cities of the sites. The first few are close together, so that a small network makes a readable map. */
const CITIES: readonly (readonly [code: string, name: string, latitude: number, longitude: number])[] = [
  ["fra", "Frankfurt", 50.11, 8.68],
  ["ams", "Amsterdam", 52.37, 4.9],
  ["par", "Paris", 48.86, 2.35],
  ["lon", "London", 51.51, -0.13],
  ["zrh", "Zurich", 47.38, 8.54],
  ["mil", "Milan", 45.46, 9.19],
  ["vie", "Vienna", 48.21, 16.37],
  ["ber", "Berlin", 52.52, 13.41],
  ["prg", "Prague", 50.08, 14.44],
  ["waw", "Warsaw", 52.23, 21.01],
  ["cph", "Copenhagen", 55.68, 12.57],
  ["sto", "Stockholm", 59.33, 18.07],
  ["hel", "Helsinki", 60.17, 24.94],
  ["osl", "Oslo", 59.91, 10.75],
  ["dub", "Dublin", 53.35, -6.26],
  ["mad", "Madrid", 40.42, -3.7],
  ["lis", "Lisbon", 38.72, -9.14],
  ["mrs", "Marseille", 43.3, 5.37],
  ["rom", "Rome", 41.9, 12.5],
  ["ath", "Athens", 37.98, 23.73],
  ["buh", "Bucharest", 44.43, 26.1],
  ["ist", "Istanbul", 41.01, 28.98],
  ["nyc", "New York", 40.71, -74.01],
  ["ash", "Ashburn", 39.04, -77.49],
  ["chi", "Chicago", 41.88, -87.63],
  ["tor", "Toronto", 43.65, -79.38],
  ["atl", "Atlanta", 33.75, -84.39],
  ["mia", "Miami", 25.76, -80.19],
  ["dal", "Dallas", 32.78, -96.8],
  ["den", "Denver", 39.74, -104.99],
  ["sea", "Seattle", 47.61, -122.33],
  ["sjc", "San Jose", 37.34, -121.89],
  ["lax", "Los Angeles", 34.05, -118.24],
  ["mex", "Mexico City", 19.43, -99.13],
  ["bog", "Bogota", 4.71, -74.07],
  ["sao", "Sao Paulo", -23.55, -46.63],
  ["bue", "Buenos Aires", -34.6, -58.38],
  ["jnb", "Johannesburg", -26.2, 28.05],
  ["nbo", "Nairobi", -1.29, 36.82],
  ["dxb", "Dubai", 25.2, 55.27],
  ["bom", "Mumbai", 19.08, 72.88],
  ["sin", "Singapore", 1.35, 103.82],
  ["hkg", "Hong Kong", 22.32, 114.17],
  ["tpe", "Taipei", 25.03, 121.57],
  ["sel", "Seoul", 37.57, 126.98],
  ["tyo", "Tokyo", 35.68, 139.69],
  ["syd", "Sydney", -33.87, 151.21],
  ["akl", "Auckland", -36.85, 174.76],
];

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Great-circle distance. */
function kilometres(a: Site, b: Site): number {
  const dLat = radians(b.latitude - a.latitude);
  const dLon = radians(b.longitude - a.longitude);
  const h =
    Math.sin(dLat / 2) ** 2 +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(dLon / 2) ** 2;
  return 2 * 6371 * Math.asin(Math.sqrt(h));
}

// The hosts of the simulated network are computed. A host is a number; its edge device, port, MAC and addresses are
// functions of that number, so that a million hosts need no memory.
//
// Every edge device has its own subnets (a block of 10.0.0.0/8 and a /64 of 2001:db8::/32), and a host keeps the
// addresses of its home device when it moves. The lower half of an IPv4 subnet holds the first leases, the upper half the
// second ones. A host whose address changes switches between the two, so no two hosts ever share an address.

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
/** The types of hosts on access switches. Each entry stands for a tenth of the hosts. */
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

export function createHostPlan(plan: NetworkPlan, count: number, seed: number): HostPlan {
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
      // An odd factor permutes the 24 low bits, so they are unique, independent of the prefix.
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
function firstHostOfEachEdge(plan: NetworkPlan, count: number, seed: number): Uint32Array {
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

/** The size of each subnet: the smallest power of two, at least 256, half of which holds the hosts of the largest edge. */
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

/** The interface id that a host derives from its MAC (RFC 4291, appendix A). */
function eui64(oui: number, low: number): string {
  const flipped = oui ^ 0x020000;
  return `${hex(flipped >>> 8)}:${hex(((flipped & 255) << 8) | 0xff)}:${hex(0xfe00 | (low >>> 16))}:${hex(low & 0xffff)}`;
}
