/**
 * The page's copy of the network: devices and links by id, the cables that links form, the opened hosts (`hosts.ts`), and
 * the look-ups that the views share. Lists, the change stream and comparisons fill it.
 */
import { appendTo, Multimap } from "../../lib/multimap.ts";
import { type Cable, cableId, cableOf, reverseLinkId } from "../../model/cable.ts";
import type { Device, Entities, Host, Link } from "../../model/entity.ts";
import { Hosts } from "./hosts.ts";

export type EntityKind = "devices" | "links" | "hosts";
/** An entity with the name of its collection. */
export type NetworkEntity<K extends EntityKind = EntityKind> = {
  [P in K]: { readonly resource: P; readonly value: Entities[P] };
}[K];

type StoredKind = Exclude<EntityKind, "hosts">;
/** The devices that are up and cannot be reached because of a fault elsewhere (`cut-off.ts`). */
interface CutOffDevices {
  ids: ReadonlySet<string>;
  version: number;
}

/** The state of a device for people. `cut off`: it is up, but a fault elsewhere separates it from the network. */
export type Reachability = "up" | "down" | "cut off";

type ChangeListener = (kind: StoredKind, id: string) => void;

export class PageNetwork {
  readonly devices = new Map<string, Device>();
  readonly links = new Map<string, Link>();
  readonly cables = new Map<string, Cable>();
  /** The hosts, which networks of the same moment share. */
  readonly openedHosts: Hosts;
  /** The devices that are cut off, which networks of the same moment share. */
  readonly cutOff: Readonly<CutOffDevices>;
  readonly #cutOff: CutOffDevices;
  /** Set when some sources have not reported yet; another network replaces this one soon. */
  readonly isPartial: boolean;
  readonly #cablesOf = new Multimap<string, string>();
  /** Hosts that are only planned or were removed. They are found by id and are counted at no device. */
  readonly #otherHosts: ReadonlyMap<string, Host>;
  readonly #listeners = new Set<ChangeListener>();
  #graphVersion = 0;
  #hosts: { readonly version: number; readonly all: ReadonlyMap<string, Host> } | undefined;

  constructor(
    openedHosts = new Hosts(),
    otherHosts: ReadonlyMap<string, Host> = new Map(),
    isPartial = false,
    cutOff: CutOffDevices = { ids: new Set(), version: 0 },
  ) {
    this.openedHosts = openedHosts;
    this.cutOff = this.#cutOff = cutOff;
    this.#otherHosts = otherHosts;
    this.isPartial = isPartial;
  }

  /** A number that rises with every change, so that a view can check cheaply whether it is out of date. */
  get version(): number {
    return this.#graphVersion + this.openedHosts.version + this.cutOff.version;
  }

  /** A number that rises with every change of a device or a link. Most changes of a network are of hosts. */
  get graphVersion(): number {
    return this.#graphVersion;
  }

  /** The loaded hosts only. */
  get hosts(): ReadonlyMap<string, Host> {
    const { opened, version } = this.openedHosts;
    if (this.#otherHosts.size === 0) return opened;
    if (this.#hosts?.version !== version)
      this.#hosts = { version, all: new Map([...this.#otherHosts, ...opened]) };
    return this.#hosts.all;
  }

  set({ resource, value }: Exclude<NetworkEntity, { readonly resource: "hosts" }>): void {
    this.#graphVersion++;
    switch (resource) {
      case "devices":
        this.devices.set(value.id, value);
        break;
      case "links":
        this.links.set(value.id, value);
        this.#updateCable(value);
    }
    for (const listener of this.#listeners) listener(resource, value.id);
  }

  remove(kind: StoredKind, id: string): void {
    this.#graphVersion++;
    const link = kind === "links" ? this.links.get(id) : undefined;
    this[kind].delete(id);
    if (link) this.#updateCable(link);
    for (const listener of this.#listeners) listener(kind, id);
  }

  /** Calls the listener after each device or link that is set or removed. Returns the function that unsubscribes it. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A copy that also has these hosts, which are counted at no device. */
  withHosts(hosts: ReadonlyMap<string, Host>): PageNetwork {
    const others = new Map([...this.#otherHosts, ...hosts]);
    const copy = new PageNetwork(this.openedHosts, others, this.isPartial, this.#cutOff);
    for (const [id, device] of this.devices) copy.devices.set(id, device);
    for (const [id, link] of this.links) copy.links.set(id, link);
    for (const [id, cable] of this.cables) copy.cables.set(id, cable);
    for (const [device, cables] of this.#cablesOf) copy.#cablesOf.set(device, new Set(cables));
    return copy;
  }

  cablesOf(device: string): Cable[] {
    return [...this.#cablesOf.of(device)].flatMap((id) => this.cables.get(id) ?? []);
  }

  /** The loaded hosts at a device. */
  hostsOf(device: string): Host[] {
    return this.openedHosts.openedAt(device);
  }

  hostCount(device: string): number {
    return this.openedHosts.count(device);
  }

  setCutOff(ids: ReadonlySet<string>): void {
    this.#cutOff.ids = ids;
    this.#cutOff.version++;
  }

  stateOf({ id, available }: Device): Reachability {
    if (!available) return "down";
    return this.cutOff.ids.has(id) ? "cut off" : "up";
  }

  /** Whether the page knows if there is such an entity. */
  isKnown(kind: EntityKind, id: string): boolean {
    return kind !== "hosts" || this.openedHosts.isKnown(id) || this.hosts.has(id);
  }

  #updateCable(link: Link): void {
    const id = cableId(link);
    const reverse = this.links.get(reverseLinkId(link));
    const known = this.links.get(link.id) ?? reverse;
    const ends = [link.src.device, link.dst.device];
    if (!known) {
      this.cables.delete(id);
      for (const device of ends) this.#cablesOf.remove(device, id);
      return;
    }
    this.cables.set(id, cableOf(known, known === reverse ? undefined : reverse));
    for (const device of ends) this.#cablesOf.add(device, id);
  }
}

/** Returns the network with the planned entities: the same object while both arguments have the same content. */
type PlannedNetworks = (base: PageNetwork, planned: readonly NetworkEntity[]) => PageNetwork;

export function createPlannedNetworks(): PlannedNetworks {
  let current: { base: PageNetwork; planned: readonly NetworkEntity[]; copy: PageNetwork } | undefined;
  let stop = () => {};
  return (base, planned) => {
    if (current?.base === base && isSameList(current.planned, planned)) return current.copy;
    stop();
    if (planned.length === 0) {
      current = undefined;
      return base;
    }
    const hosts = planned.flatMap(({ resource, value }) => (resource === "hosts" ? [value] : []));
    const copy = base.withHosts(new Map(hosts.map((host) => [host.id, host])));
    stop = addPlanned(base, planned, copy);
    current = { base, planned, copy };
    return copy;
  };
}

/** Compares entities by identity: each change of drift creates a new list, but unchanged entities are the same objects. */
const isSameList = (a: readonly NetworkEntity[], b: readonly NetworkEntity[]): boolean =>
  a.length === b.length && a.every(({ value }, i) => value === b[i]?.value);

/**
 * Adds the planned devices and links to the copy of a network and lets the copy follow the network. Making a new copy for
 * each change is too slow, because it copies the whole network and the map compares it with the last copy entity by entity.
 * A cable with one observed direction stays as it is. Returns the function that ends the following.
 */
function addPlanned(base: PageNetwork, planned: readonly NetworkEntity[], copy: PageNetwork): () => void {
  const devices = new Map<string, Device>();
  const linksByCable = new Map<string, Link[]>();
  for (const { resource, value } of planned) {
    if (resource === "devices") devices.set(value.id, value);
    if (resource === "links") appendTo(linksByCable, cableId(value), value);
  }
  const updateDevice = (id: string) => {
    const value = base.devices.get(id) ?? devices.get(id);
    if (value) copy.set({ resource: "devices", value });
    else copy.remove("devices", id);
  };
  const updatePlannedLinks = (cable: string) => {
    const isObserved = base.cables.has(cable);
    for (const value of linksByCable.get(cable) ?? []) {
      if (base.links.has(value.id)) continue;
      if (!isObserved) copy.set({ resource: "links", value });
      else if (copy.links.has(value.id)) copy.remove("links", value.id);
    }
  };
  for (const id of devices.keys()) updateDevice(id);
  for (const cable of linksByCable.keys()) updatePlannedLinks(cable);
  return base.onChange((kind, id) => {
    if (kind === "devices") return updateDevice(id);
    const observed = base.links.get(id);
    const link = observed ?? copy.links.get(id);
    if (!link) return;
    if (observed) copy.set({ resource: kind, value: observed });
    else copy.remove(kind, id);
    updatePlannedLinks(cableId(link));
  });
}
