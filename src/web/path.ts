/** Paths through the network: the shortest path between two entities, and the neighbourhood of a device. */
import type { Network } from "./network.ts";
import type { EntityRef } from "./state.ts";

export interface Path {
  readonly devices: readonly string[];
  /** The cable from each device to the next: one fewer than `devices`. */
  readonly cables: readonly string[];
}

/** The devices that an entity is attached to: a host is on one or more devices, a link joins two. */
export function devicesOf(network: Network, { kind, id }: EntityRef): string[] {
  if (kind === "devices") return network.devices.has(id) ? [id] : [];
  if (kind === "hosts") {
    const locations = network.hosts.get(id)?.locations ?? [];
    return locations.map(({ elementId }) => elementId).filter((device) => network.devices.has(device));
  }
  const link = network.links.get(id);
  return link ? [link.src.device, link.dst.device] : [];
}

/**
 * The path with the fewest hops over devices that are up and links that are active in that direction. Of equally short
 * paths it returns the one over the lower ids, so that the result is the same each time.
 */
export function shortestPath(network: Network, from: EntityRef, to: EntityRef): Path | undefined {
  const goals = new Set(devicesOf(network, to));
  const previous = new Map<string, Hop | undefined>();
  const isUp = (id: string) => network.devices.get(id)?.available === true;
  const queue = devicesOf(network, from).filter(isUp).sort();
  for (const start of queue) previous.set(start, undefined);
  for (const device of queue) {
    if (goals.has(device)) return tracePath(previous, device);
    const hops = network.cablesOf(device).flatMap((cable) => {
      const link = cable.links.find(({ src, state }) => src.device === device && state === "ACTIVE");
      return link ? [{ cable: cable.id, next: link.dst.device }] : [];
    });
    for (const { cable, next } of hops.sort((p, q) => (p.next < q.next ? -1 : 1))) {
      if (previous.has(next) || !isUp(next)) continue;
      previous.set(next, { device, cable });
      queue.push(next);
    }
  }
  return undefined;
}

/** The device and cable over which the search reached a device. */
interface Hop {
  readonly device: string;
  readonly cable: string;
}

function tracePath(previous: ReadonlyMap<string, Hop | undefined>, end: string): Path {
  const devices = [end];
  const cables: string[] = [];
  for (let hop = previous.get(end); hop !== undefined; hop = previous.get(hop.device)) {
    devices.unshift(hop.device);
    cables.unshift(hop.cable);
  }
  return { devices, cables };
}

/** The device and all devices within `hops` cables of it, in any state. */
export function neighbourhood(network: Network, start: string, hops: number): Set<string> {
  const found = new Set<string>(network.devices.has(start) ? [start] : []);
  let frontier = [...found];
  for (let hop = 0; hop < hops; hop++) {
    const next: string[] = [];
    for (const device of frontier) {
      for (const { from, to } of network.cablesOf(device)) {
        const other = from.device === device ? to.device : from.device;
        if (found.has(other) || !network.devices.has(other)) continue;
        found.add(other);
        next.push(other);
      }
    }
    frontier = next;
  }
  return found;
}
