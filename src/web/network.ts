/**
 * The network as the page knows it: three maps and the few look-ups that the views share. It is a plain mirror of the
 * interface's collections; whoever fills it (a list, a stream, a difference) does so through `set` and `remove`.
 */
import type { Device, Host, Link } from "../model/entity.ts";
import { linkId } from "../model/ids.ts";

/** The two records of one cable, or the one there is. */
export interface Cable {
  readonly id: string;
  readonly links: readonly [Link, ...Link[]];
  /** `a` to `b` is the direction that works, where only one does. */
  readonly a: Link["src"];
  readonly b: Link["src"];
  readonly active: boolean;
  readonly oneWay: boolean;
  readonly verified: boolean;
  readonly conflict: boolean;
}

/** One thing together with the collection it belongs to. */
export type Entry =
  | { readonly resource: "devices"; readonly value: Device }
  | { readonly resource: "links"; readonly value: Link }
  | { readonly resource: "hosts"; readonly value: Host };
export type Collection = Entry["resource"];

export const inConflict = (entity: { readonly annotations?: Readonly<Record<string, string>> }): boolean =>
  (entity.annotations?.conflict ?? "") !== "";

/** Both directions of a cable have this one id: that of the link whose id sorts first. */
export function cableId(link: Pick<Link, "src" | "dst">): string {
  const forth = linkId(link.src, link.dst);
  const back = linkId(link.dst, link.src);
  return forth < back ? forth : back;
}

export class Network {
  readonly devices = new Map<string, Device>();
  readonly links = new Map<string, Link>();
  readonly hosts = new Map<string, Host>();
  readonly cables = new Map<string, Cable>();
  /** Rises with every change: a cheap way to see that there was one. */
  version = 0;
  /** Hosts are loaded last, in pages: until the last page, neither their number nor the absence of one is known. */
  hostsLoaded = false;
  readonly #cablesOf = new Map<string, Set<string>>();
  readonly #hostsOf = new Map<string, Set<string>>();

  set(entry: Entry): void {
    this.version++;
    const { resource, value } = entry;
    switch (resource) {
      case "devices":
        this.devices.set(value.id, value);
        return;
      case "links":
        this.links.set(value.id, value);
        this.#recable(value);
        return;
      case "hosts":
        this.#unplace(this.hosts.get(value.id));
        this.hosts.set(value.id, value);
        for (const { elementId } of value.locations) add(this.#hostsOf, elementId, value.id);
    }
  }

  remove(kind: Collection, id: string): void {
    this.version++;
    const link = kind === "links" ? this.links.get(id) : undefined;
    if (kind === "hosts") this.#unplace(this.hosts.get(id));
    this[kind].delete(id);
    if (link) this.#recable(link);
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

  #recable(link: Link): void {
    const id = cableId(link);
    const reverse = linkId(link.dst, link.src);
    const records = [this.links.get(link.id), this.links.get(reverse)].flatMap((record) => record ?? []);
    const cable = cableOf(id, records);
    if (cable === undefined) {
      this.cables.delete(id);
      this.#cablesOf.get(link.src.device)?.delete(id);
      this.#cablesOf.get(link.dst.device)?.delete(id);
      return;
    }
    this.cables.set(id, cable);
    add(this.#cablesOf, link.src.device, id);
    add(this.#cablesOf, link.dst.device, id);
  }

  #unplace(host: Host | undefined): void {
    for (const { elementId } of host?.locations ?? []) this.#hostsOf.get(elementId)?.delete(host?.id ?? "");
  }
}

function cableOf(id: string, records: readonly Link[]): Cable | undefined {
  const links = records.toSorted((p, q) => (p.id < q.id ? -1 : 1));
  const [first, second] = links;
  if (first === undefined) return undefined;
  const working = links.filter((link) => link.state === "ACTIVE");
  const along = (working.length === 1 ? working[0] : undefined) ?? first;
  return {
    id,
    links: second === undefined ? [first] : [first, second],
    a: along.src,
    b: along.dst,
    active: working.length > 0,
    oneWay: second === undefined || working.length === 1,
    verified: links.every((link) => link.verified),
    conflict: links.some(inConflict),
  };
}

function add(index: Map<string, Set<string>>, key: string, value: string): void {
  const set = index.get(key);
  if (set) set.add(value);
  else index.set(key, new Set([value]));
}
