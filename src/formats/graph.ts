/**
 * The one value that every topology renderer takes, and the few readings of it they share: which two records are
 * one cable, where a host hangs, and what each node is called. Nothing here, and no renderer, changes a graph.
 *
 * A graph may be a cut of the network (`around`), so a record may name a device that is not in it. Such a link or
 * location is left out: a reader of any of the formats fails on a reference that leads nowhere.
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

/** The name a person gave the device, or else its id. */
export function deviceName(device: Device): string {
  const name = device.annotations.name?.trim();
  return name === undefined || name === "" ? device.id : name;
}

/** The name a person gave the host, or else its first address, or else its MAC. */
export function hostName(host: Host): string {
  const name = host.annotations?.name?.trim();
  return name === undefined || name === "" ? (host.ipAddresses[0] ?? host.mac) : name;
}

/** The links both of whose ends are in the graph. */
export function resolvedLinks(graph: TopologyGraph): Link[] {
  const known = new Set(graph.devices.map((device) => device.id));
  return graph.links.filter((link) => known.has(link.src.device) && known.has(link.dst.device));
}

export const cablesOf = (graph: TopologyGraph): Cable[] => foldLinks(resolvedLinks(graph));

/** Every location of every host that is in the graph, newest first for each host. */
export function attachments(graph: TopologyGraph): Attachment[] {
  const known = new Set(graph.devices.map((device) => device.id));
  const found: Attachment[] = [];
  for (const host of graph.hosts) {
    for (const { elementId, port } of host.locations) {
      if (known.has(elementId)) found.push({ host, at: { device: elementId, port } });
    }
  }
  return found;
}

/** How many hosts hang on each device; a host with several locations counts once, where it was seen last. */
export function hostCounts(graph: TopologyGraph): Map<string, number> {
  const counts = new Map<string, number>();
  let last: Host | undefined;
  for (const { host, at } of attachments(graph)) {
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
 * What each node is called in a format that has one namespace for all of them. That is its id, except that a
 * device may have chosen an id that looks like a host's, and that two ids may become one when `clean` takes away
 * what the format cannot carry.
 */
export function nodeNames(graph: TopologyGraph, clean: (id: string) => string = (id) => id): NodeNames {
  const unique = createUnique();
  const assign = (entities: readonly { readonly id: string }[]) => {
    const names = new Map(entities.map(({ id }) => [id, unique(clean(id))]));
    return (id: string) => names.get(id) ?? clean(id);
  };
  return { device: assign(graph.devices), host: assign(graph.hosts) };
}

/** Gives each name out once; a name that was given out before is told apart by a number. */
export function createUnique(): (wanted: string) => string {
  const taken = new Map<string, number>();
  return (wanted) => {
    let name = wanted;
    for (let n = taken.get(wanted) ?? 0; taken.has(name); n++) {
      name = `${wanted}~${n + 2}`;
      taken.set(wanted, n + 1);
    }
    taken.set(name, 0);
    return name;
  };
}
