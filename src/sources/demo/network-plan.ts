/**
 * The plan of the simulated network: its devices and cables. It is immutable and depends on the number of devices only.
 *
 * There is one fabric per hundred-odd devices. Every third site has one: routers, spines, leaves in pairs, and access
 * switches with an uplink to both leaves of a pair. The other sites have a router only. Every site is connected to the
 * two nearest sites before it, so that no single cable partitions the wide area. Below ten devices there is one site; one
 * device is one switch.
 */
import { CITIES, kilometres } from "./cities.ts";
import { type Layer, UPLINK } from "./equipment.ts";

export interface Site {
  readonly code: string;
  readonly city: string;
  readonly latitude: number;
  readonly longitude: number;
}

export interface PlannedDevice {
  readonly layer: Layer;
  readonly site: number;
  /** From 1, within its layer and site. */
  readonly ordinal: number;
}

/** One cable is two link records. `km` is set for cables between sites. */
export interface Cable {
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

/** A port for hosts; `edge` is an index of `Plan.edges`. */
export interface AttachmentPoint {
  readonly edge: number;
  readonly port: number;
}

export interface Plan {
  readonly sites: readonly Site[];
  readonly devices: readonly PlannedDevice[];
  readonly cables: readonly Cable[];
  /** Those of one site are consecutive. */
  readonly edges: readonly EdgeDevice[];
}

const MAX_WAN_CABLES_PER_SITE = 8;
const ROUTER_PAIR_PORT = 16;

export function createPlan(deviceCount: number): Plan {
  const { fabrics, sites: siteCount, routersPerFabric } = planSizes(deviceCount);
  const sites = Array.from({ length: siteCount }, (_, index) => createSite(index));
  const routerTotal = fabrics * routersPerFabric + (siteCount - fabrics);
  const inFabrics = deviceCount - routerTotal;
  const devices: PlannedDevice[] = [];
  const cables: Cable[] = [];
  const edges: EdgeDevice[] = [];
  const routers: number[][] = [];

  const add = (layer: Layer, site: number, count: number): number[] =>
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
  const city = CITIES[index % CITIES.length] ?? { code: "lab", name: "Lab", latitude: 0, longitude: 0 };
  const round = Math.floor(index / CITIES.length);
  // Further sites in one city are placed around it.
  const angle = round * 2.4;
  const away = round === 0 ? 0 : 0.15 + round * 0.04;
  return {
    code: `${city.code}${round + 1}`,
    city: city.name,
    latitude: Number((city.latitude + away * Math.sin(angle)).toFixed(4)),
    longitude: Number((city.longitude + away * Math.cos(angle)).toFixed(4)),
  };
}

function* fabricCables(
  routers: readonly number[],
  spines: readonly number[],
  leaves: readonly number[],
  access: readonly number[],
): Iterable<Cable> {
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

/** `count` distinct elements of `all` from `start` on, wrapping around. */
function pick(all: readonly number[], start: number, count: number): number[] {
  const picked: number[] = [];
  for (let i = 0; i < Math.min(count, all.length); i++) {
    const one = all[(start + i) % all.length];
    if (one !== undefined) picked.push(one);
  }
  return picked;
}

/** Servers are on the leaf ports that no access switch uses, other hosts on access switches. */
function* fabricEdges(leaves: readonly number[], access: readonly number[]): Iterable<EdgeDevice> {
  const usedPorts = Math.ceil(access.length / Math.max(1, leaves.length / 2));
  for (const device of leaves) yield { device, firstPort: usedPorts + 1, lastPort: UPLINK.leaf - 1 };
  for (const device of access) yield { device, firstPort: 1, lastPort: UPLINK.access - 1 };
}

function* wanCables(sites: readonly Site[], routers: readonly (readonly number[])[]): Iterable<Cable> {
  const used = new Uint8Array(sites.length);
  /** The cables of a site alternate between its routers. On each router they start at port 1. */
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
