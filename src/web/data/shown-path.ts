/** Paths through the network: the devices and cables of the shortest paths between two entities, and neighbourhoods. */
import type { Client, PathExplanation } from "../../client/client.ts";
import type { PathsResult } from "../../client/types.ts";
import { cableId } from "../../model/cable.ts";
import type { Port } from "../../model/entity.ts";
import { portId } from "../../model/ids.ts";
import type { ExplainedEnd } from "../../model/path-explanation.ts";
import { parameterValue } from "./hosts.ts";
import type { PageNetwork } from "./page-network.ts";
import { entityName } from "./shown-names.ts";
import type { EntityRef } from "./view-state.ts";

/** The union of the shortest paths, which the map highlights. If there is no path: the ends and the obstacles between them. */
export interface PathHighlight {
  readonly devices: readonly string[];
  readonly cables: readonly string[];
}

/** The shortest paths between the ends of the address, as the service computed them. */
export interface LoadedPath {
  readonly explanation: PathExplanation;
  readonly paths: PathsResult["paths"];
  /** The names of ports by their ids. A port without a name is not in the map. */
  readonly portNames: ReadonlyMap<string, string>;
}

type Ends = readonly ({ readonly device?: string; readonly port: string } | undefined)[];

/** Maximum number of devices whose port names are loaded: their ids have to fit into an address. */
const MAX_NAMED_DEVICES = 100;

/** Loads the names of the ports at the ends of links. Without an answer the page shows their numbers. */
export async function loadPortNames(
  client: Client,
  ends: Ends,
  at: string | undefined,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const devices = new Set(ends.flatMap((end) => end?.device ?? []));
  const names = new Map<string, string>();
  if (devices.size === 0) return names;
  const element = [...devices].slice(0, MAX_NAMED_DEVICES).map(parameterValue).join(",");
  const port = [...new Set(ends.flatMap((end) => end?.port ?? []))].map(parameterValue).join(",");
  try {
    const query = { element, port, fields: "element,port,annotations", at };
    const response = await client.raw("devices/ports", query, { signal });
    const { ports }: { ports: Port[] } = await response.json();
    for (const { element, port, annotations } of ports) {
      const name = annotations?.portName?.trim();
      if (name) names.set(portId(element, port), name);
    }
  } catch {
    signal.throwIfAborted();
  }
  return names;
}

/** The devices that an entity is attached to: a host is on one or more devices, a link joins two. */
export function devicesOf(network: PageNetwork, { kind, id }: EntityRef): string[] {
  if (kind === "devices") return network.devices.has(id) ? [id] : [];
  if (kind === "hosts") {
    const locations = network.hosts.get(id)?.locations ?? [];
    return locations.map(({ elementId }) => elementId).filter((device) => network.devices.has(device));
  }
  const link = network.links.get(id);
  return link ? [link.src.device, link.dst.device] : [];
}

/** The id of an end in requests. A link can be picked too; it stands for the device at its end. */
export function pathEndId(
  network: PageNetwork | undefined,
  { kind, id }: EntityRef,
  end: "src" | "dst",
): string {
  return (kind === "links" && network?.links.get(id)?.[end].device) || id;
}

/** The name of an end, even when the page has not loaded the entity. */
export function pathEndName(
  network: PageNetwork | undefined,
  ref: EntityRef,
  explained: ExplainedEnd | undefined,
): string {
  return explained?.name ?? entityName(network, ref);
}

export function pathUnion(
  network: PageNetwork,
  { explanation }: Pick<LoadedPath, "explanation">,
): PathHighlight {
  const { src, dst, none, devices, links } = explanation;
  const cables = links.flatMap((id) => network.links.get(id) ?? []).map(cableId);
  if (!none) return { devices, cables: [...new Set(cables)] };
  const parting = (none.obstacles ?? []).flatMap((obstacle) =>
    obstacle.resource === "devices" ? [obstacle.id] : [obstacle.src?.device, obstacle.dst?.device],
  );
  const known = [src.device, dst.device, ...parting].filter((id) => id !== undefined);
  return { devices: [...new Set(known)].filter((id) => network.devices.has(id)), cables: [] };
}

/** The device and all devices within `hops` cables of it, in any state. */
export function neighbourhood(network: PageNetwork, start: string, hops: number): Set<string> {
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
