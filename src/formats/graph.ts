/**
 * The input of every topology renderer, and what the renderers share: the cables, where hosts are attached, and the
 * names of nodes. Nothing here, and no renderer, changes a graph.
 *
 * A graph may be a part of the network (`around`), so a link or a location may refer to a device that is not in it.
 * Such links and locations are left out, because readers of these formats fail on unresolved references.
 */
import { type Cable, foldLinks } from "../model/cable.ts";
import type { Device, Host, Link, Topology } from "../model/entity.ts";
import type { ConnectPoint } from "../model/ids.ts";

export interface TopologyGraph {
  readonly topology: Topology;
  readonly revision: number;
  readonly devices: readonly Device[];
  readonly links: readonly Link[];
  readonly hosts: readonly Host[];
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

/** The links with both ends in the graph. */
export function resolvedLinks(graph: TopologyGraph): Link[] {
  const deviceIds = new Set(graph.devices.map((device) => device.id));
  return graph.links.filter((link) => deviceIds.has(link.src.device) && deviceIds.has(link.dst.device));
}

export const cablesOf = (graph: TopologyGraph): Cable[] => foldLinks(resolvedLinks(graph));

/** One attachment for each location of a host at a device in the graph; the newest location of a host first. */
export function attachmentsOf(graph: TopologyGraph): Attachment[] {
  const deviceIds = new Set(graph.devices.map((device) => device.id));
  const found: Attachment[] = [];
  for (const host of graph.hosts) {
    for (const { elementId, port } of host.locations) {
      if (deviceIds.has(elementId)) found.push({ host, at: { device: elementId, port } });
    }
  }
  return found;
}

/** The number of hosts at each device. A host with several locations counts once, at the newest. */
export function countHosts(graph: TopologyGraph): Map<string, number> {
  const counts = new Map<string, number>();
  let last: Host | undefined;
  for (const { host, at } of attachmentsOf(graph)) {
    if (host !== last) counts.set(at.device, (counts.get(at.device) ?? 0) + 1);
    last = host;
  }
  return counts;
}

export interface NodeNames {
  device(id: string): string;
  host(id: string): string;
}

/**
 * Unique names for a format with one namespace for all nodes. The name is the id, with a number where two nodes would
 * share a name: a device may have the id of a host, and `clean`, which replaces the characters that the format does
 * not support, may make two ids equal.
 */
export function assignNodeNames(graph: TopologyGraph, clean: (id: string) => string = (id) => id): NodeNames {
  const allocate = createNameAllocator();
  const assign = (entities: readonly { readonly id: string }[]) => {
    const names = new Map(entities.map(({ id }) => [id, allocate(clean(id))]));
    return (id: string) => names.get(id) ?? clean(id);
  };
  return { device: assign(graph.devices), host: assign(graph.hosts) };
}

/** Returns the desired name the first time and `NAME~2`, `NAME~3`… after that. */
export function createNameAllocator(): (desired: string) => string {
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
