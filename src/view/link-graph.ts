/**
 * The graph of devices and links: neighbourhoods and clusters are computed on it without parsing any page. Clusters are
 * computed at the first request and cached until the graph changes.
 */
import type { Steps } from "../lib/steps.ts";
import type { LogEntry } from "../log/log.ts";
import type { Device, Link } from "../model/entity.ts";

export interface GraphLink {
  readonly id: string;
  readonly src: string;
  readonly dst: string;
  readonly active: boolean;
  /** Of type INDIRECT: it leads through a network that is not known. */
  readonly indirect: boolean;
}

export interface ClusterMembers {
  /** In order of id. */
  readonly devices: readonly string[];
  readonly links: readonly string[];
}

/** The devices and links that differ, by id; undefined when they do not exist any more. */
export interface GraphChanges {
  readonly devices: Iterable<readonly [id: string, device: Pick<Device, "available"> | undefined]>;
  readonly links: Iterable<
    readonly [id: string, link: Pick<Link, "src" | "dst" | "state" | "type"> | undefined]
  >;
}

export class LinkGraph {
  readonly #available = new Map<string, boolean>();
  readonly #links = new Map<string, GraphLink>();
  readonly #out = new Map<string, Set<GraphLink>>();
  readonly #in = new Map<string, Set<GraphLink>>();
  #clusters: readonly ClusterMembers[] | undefined;

  static get empty(): LinkGraph {
    return new LinkGraph();
  }

  *with({ devices, links }: GraphChanges): Steps<LinkGraph> {
    for (const [id, device] of devices) this.setDevice(id, device);
    yield;
    for (const [id, link] of links) this.setLink(id, link);
    return this;
  }

  *clusterCount(): Steps<number> {
    return (yield* this.clusters()).length;
  }

  setDevice(id: string, device: Pick<Device, "available"> | undefined): void {
    if (this.#available.get(id) === device?.available) return;
    if (device) this.#available.set(id, device.available);
    else this.#available.delete(id);
    this.#clusters = undefined;
  }

  hasDevice(id: string): boolean {
    return this.#available.has(id);
  }

  hasLink(id: string): boolean {
    return this.#links.has(id);
  }

  setLink(id: string, link: Pick<Link, "src" | "dst" | "state" | "type"> | undefined): void {
    const old = this.#links.get(id);
    const active = link?.state === "ACTIVE";
    const indirect = link?.type === "INDIRECT";
    if (old ? link && old.active === active && old.indirect === indirect : !link) return;
    if (old) {
      this.#links.delete(id);
      this.#out.get(old.src)?.delete(old);
      this.#in.get(old.dst)?.delete(old);
    }
    if (link) {
      const added = { id, src: link.src.device, dst: link.dst.device, active, indirect };
      this.#links.set(id, added);
      addToSet(this.#out, added.src, added);
      addToSet(this.#in, added.dst, added);
    }
    this.#clusters = undefined;
  }

  /** Devices within `hops` links of `start`, in either direction and in any state of the links. */
  *devicesWithin(start: Iterable<string>, hops: number): Steps<Set<string>> {
    const reached = new Set<string>(start);
    let frontier = [...reached];
    for (let hop = 0; hop < hops && frontier.length > 0; hop++) {
      const next: string[] = [];
      const reach = (id: string) => {
        if (reached.has(id)) return;
        reached.add(id);
        next.push(id);
      };
      yield;
      for (const id of frontier) {
        for (const link of this.#out.get(id) ?? []) reach(link.dst);
        for (const link of this.#in.get(id) ?? []) reach(link.src);
      }
      frontier = next;
    }
    return reached;
  }

  /** The active links from a device to available devices; none when the device itself is not available. */
  outgoing(id: string): GraphLink[] {
    if (!this.isAvailable(id)) return [];
    return Array.from(this.#out.get(id) ?? []).filter(({ active, dst }) => active && this.isAvailable(dst));
  }

  /** The same in the other direction. */
  incoming(id: string): GraphLink[] {
    if (!this.isAvailable(id)) return [];
    return Array.from(this.#in.get(id) ?? []).filter(({ active, src }) => active && this.isAvailable(src));
  }

  isAvailable(id: string): boolean {
    return this.#available.get(id) === true;
  }

  /** The available devices, and the active links between them. */
  activeCounts(): { devices: number; links: number } {
    let devices = 0;
    let links = 0;
    for (const available of this.#available.values()) if (available) devices++;
    for (const { active, src, dst } of this.#links.values())
      if (active && this.isAvailable(src) && this.isAvailable(dst)) links++;
    return { devices, links };
  }

  /**
   * Strongly connected components of available devices and active links, ordered by their lowest device id. INDIRECT links
   * do not join them, as in ONOS: what lies between their ends is not known.
   */
  // biome-ignore lint/correctness/useYield: not in steps yet
  *clusters(): Steps<readonly ClusterMembers[]> {
    this.#clusters ??= this.#findClusters();
    return this.#clusters;
  }

  #neighbours(id: string): string[] {
    const ids: string[] = [];
    for (const link of this.#out.get(id) ?? []) {
      if (joins(link) && this.isAvailable(link.dst)) ids.push(link.dst);
    }
    return ids;
  }

  #findClusters(): readonly ClusterMembers[] {
    const ids = [...this.#available].filter(([, available]) => available).map(([id]) => id);
    const components = stronglyConnected(ids.sort(), (id) => this.#neighbours(id));
    const clusterOf = new Map<string, number>();
    const members = components.map((devices) => ({ devices: devices.sort(), links: [] as string[] }));
    members.sort((a, b) => ((a.devices[0] ?? "") < (b.devices[0] ?? "") ? -1 : 1));
    for (const [n, { devices }] of members.entries()) for (const id of devices) clusterOf.set(id, n);
    for (const link of this.#links.values()) {
      const n = clusterOf.get(link.src);
      if (joins(link) && n !== undefined && n === clusterOf.get(link.dst)) members[n]?.links.push(link.id);
    }
    for (const { links } of members) links.sort();
    return members;
  }
}

const joins = ({ active, indirect }: GraphLink): boolean => active && !indirect;

/** Whether a change affects the topology: an entity is added or removed, or its availability, state or type changes. */
export function changesGraph({ kind, before, after, changed }: LogEntry): boolean {
  const addedOrRemoved = before === null || after === null;
  if (kind === "devices") return addedOrRemoved || changed.includes("available");
  if (kind === "links") return addedOrRemoved || changed.includes("state") || changed.includes("type");
  return kind === "hosts" && addedOrRemoved;
}

function addToSet<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const set = map.get(key);
  if (set) set.add(value);
  else map.set(key, new Set([value]));
}

interface Visit {
  readonly id: string;
  readonly neighbours: string[];
  next: number;
}

/** Tarjan's algorithm with an explicit stack: a chain of ten thousand switches would overflow the call stack. */
function stronglyConnected(ids: readonly string[], neighboursOf: (id: string) => string[]): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const components: string[][] = [];
  for (const root of ids) {
    if (order.has(root)) continue;
    const visits: Visit[] = [];
    const enter = (id: string) => {
      order.set(id, order.size);
      low.set(id, order.size - 1);
      stack.push(id);
      onStack.add(id);
      visits.push({ id, neighbours: neighboursOf(id), next: 0 });
    };
    const lower = (id: string, to: number) => low.set(id, Math.min(low.get(id) ?? to, to));
    enter(root);
    for (let visit = visits.at(-1); visit; visit = visits.at(-1)) {
      const neighbour = visit.neighbours[visit.next++];
      if (neighbour !== undefined) {
        if (!order.has(neighbour)) enter(neighbour);
        else if (onStack.has(neighbour)) lower(visit.id, order.get(neighbour) ?? 0);
        continue;
      }
      visits.pop();
      const parent = visits.at(-1);
      if (parent) lower(parent.id, low.get(visit.id) ?? 0);
      if (low.get(visit.id) !== order.get(visit.id)) continue;
      const component: string[] = [];
      for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
        onStack.delete(id);
        component.push(id);
        if (id === visit.id) break;
      }
      components.push(component);
    }
  }
  return components;
}
