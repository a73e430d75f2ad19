/**
 * The page's copy of the network: devices, links and hosts by id, the cables folded from the links, and the look-ups
 * that the views share. Lists, the change stream and comparisons fill it through `set` and `remove`.
 */

import { type Cable, cableId, cableOf, reverseLinkId } from "../model/cable.ts";
import type { Device, Host, Link } from "../model/entity.ts";

/** An entity with the name of its collection. */
export type NetworkEntity =
  | { readonly resource: "devices"; readonly value: Device }
  | { readonly resource: "links"; readonly value: Link }
  | { readonly resource: "hosts"; readonly value: Host };
export type Collection = NetworkEntity["resource"];

export class Network {
  readonly devices = new Map<string, Device>();
  readonly links = new Map<string, Link>();
  readonly hosts: Map<string, Host>;
  readonly cables = new Map<string, Cable>();
  /** Rises with every change, so that a view can see cheaply whether it is out of date. */
  version = 0;
  /** Hosts are loaded last, in pages. Until the last page, neither their count nor the absence of one is known. */
  hostsLoaded = false;
  readonly #cablesOf = new Map<string, Set<string>>();
  readonly #hostsOf: Map<string, Set<string>>;

  constructor(hosts = new Map<string, Host>(), hostsOf = new Map<string, Set<string>>()) {
    this.hosts = hosts;
    this.#hostsOf = hostsOf;
  }

  /** A network with these entities. */
  static of(devices: Iterable<Device>, links: Iterable<Link>, hosts: Iterable<Host> = []): Network {
    const network = new Network();
    for (const value of devices) network.set({ resource: "devices", value });
    for (const value of links) network.set({ resource: "links", value });
    for (const value of hosts) network.set({ resource: "hosts", value });
    return network;
  }

  set({ resource, value }: NetworkEntity): void {
    this.version++;
    switch (resource) {
      case "devices":
        this.devices.set(value.id, value);
        return;
      case "links":
        this.links.set(value.id, value);
        this.#updateCable(value);
        return;
      case "hosts":
        this.#removeLocations(this.hosts.get(value.id));
        this.hosts.set(value.id, value);
        for (const { elementId } of value.locations) add(this.#hostsOf, elementId, value.id);
    }
  }

  remove(kind: Collection, id: string): void {
    this.version++;
    const link = kind === "links" ? this.links.get(id) : undefined;
    if (kind === "hosts") this.#removeLocations(this.hosts.get(id));
    this[kind].delete(id);
    if (link) this.#updateCable(link);
  }

  /**
   * A copy with what is only planned. A cable of which one direction is observed stays as it is. A planned host is found
   * by its id and counted at no device.
   */
  withPlanned(planned: Iterable<NetworkEntity>): Network {
    const hosts = new Map<string, Host>();
    const devices: NetworkEntity[] = [];
    const links: NetworkEntity[] = [];
    for (const entity of planned) {
      if (this[entity.resource].has(entity.value.id)) continue;
      if (entity.resource === "hosts") hosts.set(entity.value.id, entity.value);
      else if (entity.resource === "devices") devices.push(entity);
      else if (!this.cables.has(cableId(entity.value))) links.push(entity);
    }
    // The hosts are most of a network, so they are copied only for a planned one.
    const copy = new Network(
      hosts.size === 0 ? this.hosts : new Map([...this.hosts, ...hosts]),
      this.#hostsOf,
    );
    for (const [id, device] of this.devices) copy.devices.set(id, device);
    for (const [id, link] of this.links) copy.links.set(id, link);
    for (const [id, cable] of this.cables) copy.cables.set(id, cable);
    for (const [device, cables] of this.#cablesOf) copy.#cablesOf.set(device, new Set(cables));
    for (const entity of [...devices, ...links]) copy.set(entity);
    copy.hostsLoaded = this.hostsLoaded;
    return copy;
  }

  setHostsLoaded(): void {
    this.version++;
    this.hostsLoaded = true;
  }

  cablesOf(device: string): Cable[] {
    return [...(this.#cablesOf.get(device) ?? [])].flatMap((id) => this.cables.get(id) ?? []);
  }

  hostsOf(device: string): Host[] {
    return [...(this.#hostsOf.get(device) ?? [])].flatMap((id) => this.hosts.get(id) ?? []);
  }

  hostCount(device: string): number {
    return this.#hostsOf.get(device)?.size ?? 0;
  }

  #updateCable(link: Link): void {
    const id = cableId(link);
    const reverse = this.links.get(reverseLinkId(link));
    const known = this.links.get(link.id) ?? reverse;
    const ends = [link.src.device, link.dst.device];
    if (!known) {
      this.cables.delete(id);
      for (const device of ends) this.#cablesOf.get(device)?.delete(id);
      return;
    }
    this.cables.set(id, cableOf(known, known === reverse ? undefined : reverse));
    for (const device of ends) add(this.#cablesOf, device, id);
  }

  #removeLocations(host: Host | undefined): void {
    for (const { elementId } of host?.locations ?? []) this.#hostsOf.get(elementId)?.delete(host?.id ?? "");
  }
}

function add(index: Map<string, Set<string>>, key: string, value: string): void {
  const set = index.get(key);
  if (set) set.add(value);
  else index.set(key, new Set([value]));
}
