/** Ways through the network: the shortest between two things, and what lies within some steps of one. */
import type { Network } from "./network.ts";
import type { EntityRef } from "./state.ts";

export interface Path {
  readonly devices: readonly string[];
  /** One less than devices: the cable from each to the next. */
  readonly cables: readonly string[];
}

/** Where walking starts when a person points at something: a host stands on a device, a link between two. */
export function devicesOf(network: Network, { kind, id }: EntityRef): string[] {
  if (kind === "devices") return network.devices.has(id) ? [id] : [];
  if (kind === "hosts") {
    const places = network.hosts.get(id)?.locations ?? [];
    return places.map((place) => place.elementId).filter((device) => network.devices.has(device));
  }
  const link = network.links.get(id);
  return link ? [link.src.device, link.dst.device] : [];
}

/**
 * Fewest hops over devices that are up and links that work in that direction. Among equals the one over the lower
 * ids, so that the same question has the same answer.
 */
export function shortestPath(network: Network, from: EntityRef, to: EntityRef): Path | undefined {
  const goals = new Set(devicesOf(network, to));
  const cameFrom = new Map<string, { device: string; cable: string } | undefined>();
  const isUp = (id: string) => network.devices.get(id)?.available === true;
  const queue = devicesOf(network, from).filter(isUp).sort();
  for (const start of queue) cameFrom.set(start, undefined);
  for (const device of queue) {
    if (goals.has(device)) return tracePath(cameFrom, device);
    const steps = network.cablesOf(device).flatMap((cable) => {
      const along = cable.links.find((link) => link.src.device === device && link.state === "ACTIVE");
      return along ? [{ cable: cable.id, next: along.dst.device }] : [];
    });
    for (const { cable, next } of steps.sort((p, q) => (p.next < q.next ? -1 : 1))) {
      if (cameFrom.has(next) || !isUp(next)) continue;
      cameFrom.set(next, { device, cable });
      queue.push(next);
    }
  }
  return undefined;
}

function tracePath(cameFrom: Map<string, { device: string; cable: string } | undefined>, end: string): Path {
  const devices = [end];
  const cables: string[] = [];
  for (let step = cameFrom.get(end); step !== undefined; step = cameFrom.get(step.device)) {
    devices.unshift(step.device);
    cables.unshift(step.cable);
  }
  return { devices, cables };
}

/** The device itself and all within `hops` cables of it, whatever their state. */
export function neighbourhood(network: Network, start: string, hops: number): Set<string> {
  const found = new Set<string>(network.devices.has(start) ? [start] : []);
  let edge = [...found];
  for (let hop = 0; hop < hops; hop++) {
    const next: string[] = [];
    for (const device of edge) {
      for (const { from, to } of network.cablesOf(device)) {
        const other = from.device === device ? to.device : from.device;
        if (found.has(other) || !network.devices.has(other)) continue;
        found.add(other);
        next.push(other);
      }
    }
    edge = next;
  }
  return found;
}
