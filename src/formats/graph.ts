/**
 * The input of every topology renderer, and what the renderers share: the cables, where hosts are attached, and the
 * names of nodes. Nothing here, and no renderer, changes a graph.
 *
 * A graph may be a part of the network (`around`), so a link or a location may refer to a device that is not in it.
 * Such links and locations are left out, because readers of these formats fail on unresolved references.
 */
import { collectPaced, forEachPaced, mapPaced, type Paced, type PausingSteps } from "../lib/steps.ts";
import { type Cable, cableOf, reverseLinkId } from "../model/cable.ts";
import type { Device, Host, Link, Topology } from "../model/entity.ts";
import type { ConnectPoint } from "../model/ids.ts";

/**
 * The part of the network that is rendered. The collections can be read several times and are parsed each time, so that a
 * renderer that needs two passes keeps ids between them, not entities.
 */
export interface TopologyGraph {
  /** The summary of the topology; its counts are the sizes of the collections. */
  readonly topology: Topology;
  readonly revision: number;
  readonly devices: Paced<Device>;
  readonly links: Paced<Link>;
  readonly hosts: Paced<Host>;
  /** Returns undefined when the graph has no such link. */
  link(id: string): Link | undefined;
}

/** The links that cables are derived from. */
type LinkSource = Pick<TopologyGraph, "links" | "link">;

/** The ids of the devices of a graph: a set, or a map by id. */
export type DeviceIds = Pick<ReadonlySet<string>, "has">;

export function* deviceIdsOf(graph: TopologyGraph): PausingSteps<ReadonlySet<string>> {
  return new Set(yield* collectPaced(mapPaced(graph.devices, ({ id }) => id)));
}

export interface Attachment {
  readonly host: Host;
  readonly at: ConnectPoint;
}

/** The `name` annotation, or else the id. */
export function deviceName(device: Device): string {
  const name = device.annotations.name?.trim();
  return name === undefined || name === "" ? device.id : name;
}

/** The `name` annotation, or else the first IP address, or else the MAC address. */
export function hostName(host: Host): string {
  const name = host.annotations?.name?.trim();
  return name === undefined || name === "" ? (host.ipAddresses[0] ?? host.mac) : name;
}

const isResolved = ({ src, dst }: Link, devices: DeviceIds): boolean =>
  devices.has(src.device) && devices.has(dst.device);

/** The links with both ends in the graph. */
export const resolvedLinks = (graph: LinkSource, devices: DeviceIds): Paced<Link> =>
  mapPaced(graph.links, (link) => (isResolved(link, devices) ? link : undefined));

/** One cable for each pair of links that are each other's reverse, and for each link without a reverse. */
export const cablesOf = (graph: LinkSource, devices: DeviceIds): Paced<Cable> =>
  mapPaced(resolvedLinks(graph, devices), (link) => {
    const reverse = graph.link(reverseLinkId(link));
    return !reverse || link.id < reverse.id ? cableOf(link, reverse) : undefined;
  });

/** Yields an attachment for each location of a host at a device in the graph, the newest location of each host first. */
export function* attachmentsOf(
  graph: TopologyGraph,
  devices: DeviceIds,
): Generator<Attachment | undefined, void, void> {
  for (const host of graph.hosts) {
    if (host === undefined) {
      yield undefined;
      continue;
    }
    for (const { elementId, port } of host.locations) {
      if (devices.has(elementId)) yield { host, at: { device: elementId, port } };
    }
  }
}

/** The number of hosts at each device. A host with several locations counts once, at the newest. */
export function* countHosts(graph: TopologyGraph, devices: DeviceIds): PausingSteps<Map<string, number>> {
  const counts = new Map<string, number>();
  yield* forEachPaced(graph.hosts, ({ locations }) => {
    const device = locations.find(({ elementId }) => devices.has(elementId))?.elementId;
    if (device !== undefined) counts.set(device, (counts.get(device) ?? 0) + 1);
  });
  return counts;
}

export interface NodeNames {
  device(id: string): string;
  host(id: string): string;
}

/** The character that replaces those that a format does not support. */
const REPLACEMENT = "\ufffd";
const NUMBERED = /~\d+$/;

/**
 * Assigns unique names for a format with one namespace for all nodes. The name is the id, with a number added if two nodes
 * would share a name: a device may have the id of a host, and `clean` may make two ids equal, because it replaces the
 * characters that the format does not support by U+FFFD.
 *
 * There may be a million hosts, so a host's name is stored only if another node could have it: if it is the name of a
 * device, has a replaced character, or ends like a numbered name. All other ids are unique without a number.
 */
export function* assignNodeNames(
  graph: TopologyGraph,
  clean: (id: string) => string = (id) => id,
): PausingSteps<NodeNames> {
  const allocate = createNameAllocator();
  const deviceNames = new Map<string, string>();
  yield* forEachPaced(graph.devices, ({ id }) => deviceNames.set(id, allocate(clean(id))));
  const taken = new Set(deviceNames.values());
  const hostNames = new Map<string, string>();
  yield* forEachPaced(graph.hosts, ({ id }) => {
    const name = clean(id);
    if (taken.has(name) || name.includes(REPLACEMENT) || NUMBERED.test(name))
      hostNames.set(id, allocate(name));
  });
  return {
    device: (id) => deviceNames.get(id) ?? clean(id),
    host: (id) => hostNames.get(id) ?? clean(id),
  };
}

/** The returned function returns a desired name the first time, and `NAME~2`, `NAME~3`… after that. */
function createNameAllocator(): (desired: string) => string {
  const suffixes = new Map<string, number>();
  return (desired) => {
    let name = desired;
    for (let n = suffixes.get(desired) ?? 0; suffixes.has(name); n++) {
      name = `${desired}~${n + 2}`;
      suffixes.set(desired, n + 1);
    }
    suffixes.set(name, 0);
    return name;
  };
}

/**
 * Like `createNameAllocator`, for names that were unique before characters were replaced. Only a name with a replaced
 * character, or one that looks numbered, can equal another, so only these are stored.
 */
export function createReplacedNameAllocator(): (desired: string) => string {
  const allocate = createNameAllocator();
  return (desired) => (desired.includes(REPLACEMENT) || NUMBERED.test(desired) ? allocate(desired) : desired);
}

/** The name of a cluster of the layout, and a shorter one. The map and the SVG format share them. */
interface ClusterNames {
  readonly name: string;
  readonly shortName: string;
}

/** The name is the city and site of a cluster's devices, or else the name of the device with the most cables. */
export function clusterNames(
  devices: readonly Device[],
  cableCount: (device: string) => number,
): ClusterNames {
  const annotation = (key: string) => devices.find((device) => device.annotations[key])?.annotations[key];
  const parts = [annotation("city"), annotation("site")].filter((part) => part !== undefined);
  if (parts.length > 0) return { name: parts.join(" · "), shortName: parts.at(-1) ?? "" };
  const [first, ...others] = devices;
  if (!first) return { name: "", shortName: "" };
  const hub = others.reduce((best, device) => {
    const difference = cableCount(device.id) - cableCount(best.id);
    return difference > 0 || (difference === 0 && device.id < best.id) ? device : best;
  }, first);
  return { name: deviceName(hub), shortName: deviceName(hub) };
}

/** The common prefix up to the last separator that all names share. Empty if it would leave nothing of a name. */
export function commonPrefix(names: readonly string[]): string {
  const [first = "", ...rest] = names;
  if (rest.length === 0) return "";
  let end = first.length;
  for (const name of rest) {
    while (!name.startsWith(first.slice(0, end))) end--;
  }
  const prefix = /^.*[-._ ]/.exec(first.slice(0, end))?.[0] ?? "";
  return names.every((name) => name.length > prefix.length) ? prefix : "";
}
