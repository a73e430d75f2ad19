/**
 * The graph of devices and links at one version. It is immutable: a change gives a new graph that shares all devices that
 * did not change, so that readers can use theirs across pauses. Devices are numbered, and links refer to their ends by
 * number, so that neighbourhoods and clusters are computed on arrays, without parsing any page. Clusters are computed once
 * per version.
 */

import { LayeredMap } from "../lib/layered-map.ts";
import { compareTexts } from "../lib/sorted.ts";
import { COST, Pause, SharedSteps, type Steps, sortInSteps } from "../lib/steps.ts";
import type { LogEntry } from "../log/log.ts";
import type { Device, Link } from "../model/entity.ts";

export interface ClusterMembers {
  /** The device ids in order. */
  readonly devices: readonly string[];
  readonly links: readonly string[];
}

export interface GraphLink {
  readonly id: string;
  readonly src: string;
  readonly dst: string;
  readonly active: boolean;
  /** Whether the type is INDIRECT: the link leads through a network that is not known. */
  readonly indirect: boolean;
  /** The numbers of `src` and `dst`. */
  readonly from: number;
  readonly to: number;
}

export interface GraphDevice {
  readonly id: string;
  /** Whether the device is available; undefined when a link refers to a device that does not exist. */
  readonly available: boolean | undefined;
  readonly out: readonly GraphLink[];
  readonly in: readonly GraphLink[];
  /** The numbers of the devices that `out` leads to, for computing clusters. They are adjacent in memory, unlike the links. */
  readonly joined: readonly number[];
}

/** The changed values by id, with the length of the parsed text; the value is undefined when it was removed. */
type ChangedValues<T> = Iterable<readonly [id: string, value: T | undefined, length?: number]>;

export interface GraphChanges {
  readonly devices: ChangedValues<Pick<Device, "available">>;
  readonly links: ChangedValues<Pick<Link, "src" | "dst" | "state" | "type">>;
}

/** A stored value; null when it was removed. */
interface StoredText {
  readonly id: string;
  readonly after: string | null;
}

/** The changes of stored values, parsed one by one. */
export const graphChangesOf = (devices: Iterable<StoredText>, links: Iterable<StoredText>): GraphChanges => ({
  devices: parsed<Device>(devices),
  links: parsed<Link>(links),
});

function* parsed<T>(
  texts: Iterable<StoredText>,
): Generator<[id: string, value: T | undefined, length: number]> {
  for (const { id, after } of texts)
    yield after === null ? [id, undefined, 0] : [id, JSON.parse(after), after.length];
}

interface GraphParts {
  /** The devices by number. A hole is a free number. */
  readonly devices: readonly (GraphDevice | undefined)[];
  readonly numbers: LayeredMap<string, number>;
  readonly links: LayeredMap<string, GraphLink>;
  readonly free: readonly number[];
}

const EMPTY: GraphParts = { devices: [], numbers: new LayeredMap(), links: new LayeredMap(), free: [] };

export class LinkGraph {
  static readonly empty = new LinkGraph(EMPTY);
  readonly #parts: GraphParts;
  #components: SharedSteps<Components> | undefined;
  #clusters: SharedSteps<readonly ClusterMembers[]> | undefined;

  private constructor(parts: GraphParts) {
    this.#parts = parts;
  }

  /** The devices by number. A hole is a number that no device has. Numbers differ between nodes. */
  get devices(): readonly (GraphDevice | undefined)[] {
    return this.#parts.devices;
  }

  numberOf(id: string): number | undefined {
    return this.#parts.numbers.get(id);
  }

  hasDevice(id: string): boolean {
    return this.#device(id)?.available !== undefined;
  }

  isAvailable(id: string): boolean {
    return this.#device(id)?.available === true;
  }

  /** The active links from a device to available devices; none when the device itself is not available. */
  outgoing(id: string): GraphLink[] {
    const device = this.#device(id);
    return device?.available ? device.out.filter(({ active, to }) => active && this.#isAvailable(to)) : [];
  }

  /** The active links from available devices to a device; none when the device itself is not available. */
  incoming(id: string): GraphLink[] {
    const device = this.#device(id);
    return device?.available ? device.in.filter(({ active, from }) => active && this.#isAvailable(from)) : [];
  }

  /** All links from a device, in any state. */
  linksFrom(id: string): readonly GraphLink[] {
    return this.#device(id)?.out ?? [];
  }

  /** All links to a device, in any state. */
  linksTo(id: string): readonly GraphLink[] {
    return this.#device(id)?.in ?? [];
  }

  /** The number of available devices, and of active links between them. */
  activeCounts(): { devices: number; links: number } {
    let devices = 0;
    let links = 0;
    for (const device of this.#parts.devices) {
      if (!device?.available) continue;
      devices++;
      for (const { active, to } of device.out) if (active && this.#isAvailable(to)) links++;
    }
    return { devices, links };
  }

  /** Devices within `hops` links of `start`, in either direction and in any state of the links. */
  *devicesWithin(start: Iterable<string>, hops: number): Steps<Set<string>> {
    const reached = new Set<string>(start);
    let frontier = [...reached];
    const pause = new Pause();
    for (let hop = 0; hop < hops && frontier.length > 0; hop++) {
      const next: string[] = [];
      const reach = (id: string) => {
        if (reached.has(id)) return;
        reached.add(id);
        next.push(id);
      };
      for (const id of frontier) {
        const device = this.#device(id);
        if (!device) continue;
        for (const { dst } of device.out) reach(dst);
        for (const { src } of device.in) reach(src);
        if (pause.due((1 + device.out.length + device.in.length) * COST.item)) yield;
      }
      frontier = next;
    }
    return reached;
  }

  /**
   * Strongly connected components of available devices and active links, ordered by their lowest device id. INDIRECT links
   * do not join them, as in ONOS, because the network between their ends is not known.
   */
  *clusters(): Steps<readonly ClusterMembers[]> {
    this.#clusters ??= new SharedSteps(this.#findClusters());
    return yield* this.#clusters.result();
  }

  /** The number of clusters, without listing their members. */
  *clusterCount(): Steps<number> {
    return (yield* this.#findComponents()).count;
  }

  *#findComponents(): Steps<Components> {
    this.#components ??= new SharedSteps(findComponents(this.#parts.devices));
    return yield* this.#components.result();
  }

  *#findClusters(): Steps<readonly ClusterMembers[]> {
    return yield* membersOf(this.#parts.devices, yield* this.#findComponents());
  }

  #device(id: string): GraphDevice | undefined {
    const number = this.#parts.numbers.get(id);
    return number === undefined ? undefined : this.#parts.devices[number];
  }

  #isAvailable(number: number): boolean {
    return this.#parts.devices[number]?.available === true;
  }

  /** The graph with these changes; the same graph when they do not affect it. */
  *with({ devices, links }: GraphChanges): Steps<LinkGraph> {
    const draft = new GraphDraft(this.#parts);
    const pause = new Pause();
    for (const [id, device, length] of devices) {
      draft.setDevice(id, device?.available);
      if (pause.due(COST.key, length)) yield;
    }
    for (const [id, link, length] of links) {
      draft.setLink(id, link);
      if (pause.due(COST.key, length)) yield;
    }
    return draft.hasChanged ? new LinkGraph(yield* draft.finish()) : this;
  }
}

interface DraftDevice {
  readonly id: string;
  available: boolean | undefined;
  readonly out: GraphLink[];
  readonly in: GraphLink[];
  joined: readonly number[];
}

/** A graph that is being changed. A device is copied at its first change. */
class GraphDraft {
  readonly #base: GraphParts;
  readonly #devices: (GraphDevice | undefined)[];
  readonly #free: number[];
  readonly #drafts = new Map<number, DraftDevice>();
  readonly #numbers = new Map<string, number | undefined>();
  readonly #links = new Map<string, GraphLink | undefined>();

  constructor(base: GraphParts) {
    this.#base = base;
    this.#devices = [...base.devices];
    this.#free = [...base.free];
  }

  get hasChanged(): boolean {
    return this.#drafts.size > 0;
  }

  setDevice(id: string, available: boolean | undefined): void {
    const number = this.#numberOf(id);
    const current = number === undefined ? undefined : this.#devices[number]?.available;
    if (current === available) return;
    const draft = this.#draft(number ?? this.#addNumber(id), id);
    draft.available = available;
  }

  setLink(id: string, link: Pick<Link, "src" | "dst" | "state" | "type"> | undefined): void {
    const old = this.#links.has(id) ? this.#links.get(id) : this.#base.links.get(id);
    const active = link?.state === "ACTIVE";
    const indirect = link?.type === "INDIRECT";
    if (old ? link && old.active === active && old.indirect === indirect : !link) return;
    if (old) {
      remove(this.#draft(old.from, old.src).out, old);
      remove(this.#draft(old.to, old.dst).in, old);
      this.#links.set(id, undefined);
    }
    if (!link) return;
    const [src, dst] = [link.src.device, link.dst.device];
    const from = this.#numberOf(src) ?? this.#addNumber(src);
    const to = this.#numberOf(dst) ?? this.#addNumber(dst);
    const added = { id, src, dst, active, indirect, from, to };
    this.#links.set(id, added);
    this.#draft(from, src).out.push(added);
    this.#draft(to, dst).in.push(added);
  }

  *finish(): Steps<GraphParts> {
    const pause = new Pause();
    for (const [number, draft] of this.#drafts) {
      const { id, available, out, in: incoming } = draft;
      draft.joined = out.filter(joins).map(({ to }) => to);
      if (pause.due(COST.key)) yield;
      if (available !== undefined || out.length > 0 || incoming.length > 0) continue;
      this.#devices[number] = undefined;
      this.#numbers.set(id, undefined);
      this.#free.push(number);
    }
    return {
      devices: this.#devices,
      numbers: yield* this.#base.numbers.with(this.#numbers),
      links: yield* this.#base.links.with(this.#links),
      free: this.#free,
    };
  }

  #numberOf(id: string): number | undefined {
    return this.#numbers.has(id) ? this.#numbers.get(id) : this.#base.numbers.get(id);
  }

  #addNumber(id: string): number {
    const number = this.#free.pop() ?? this.#devices.length;
    this.#numbers.set(id, number);
    this.#devices[number] = undefined;
    return number;
  }

  #draft(number: number, id: string): DraftDevice {
    let draft = this.#drafts.get(number);
    if (!draft) {
      const { available, out = [], in: incoming = [], joined = [] } = this.#devices[number] ?? {};
      draft = { id, available, out: [...out], in: [...incoming], joined };
      this.#drafts.set(number, draft);
      this.#devices[number] = draft;
    }
    return draft;
  }
}

function remove<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}

/** Whether a change affects the topology: an entity is added or removed, or its availability, state or type changes. */
export function changesGraph({ kind, before, after, changed }: LogEntry): boolean {
  const addedOrRemoved = before === null || after === null;
  if (kind === "devices") return addedOrRemoved || changed.includes("available");
  if (kind === "links") return addedOrRemoved || changed.includes("state") || changed.includes("type");
  return kind === "hosts" && addedOrRemoved;
}

/*
 * The clusters of a graph: its strongly connected components, found by Tarjan's algorithm on typed arrays, in steps. The
 * stack is explicit, because a chain of ten thousand switches would overflow the call stack.
 */

interface Components {
  readonly count: number;
  /** The number of the component of each device, or -1 where it has none. */
  readonly componentOf: Int32Array;
}

const NONE = -1;

const joins = ({ active, indirect }: GraphLink): boolean => active && !indirect;

function* findComponents(devices: LinkGraph["devices"]): Steps<Components> {
  const count = devices.length;
  const order = new Int32Array(count).fill(NONE);
  const low = new Int32Array(count);
  const componentOf = new Int32Array(count).fill(NONE);
  /** The devices that are not in a component yet, in the order in which they were reached. */
  const open = new Int32Array(count);
  const path = new Int32Array(count);
  /** The index of the next link to follow, by device. */
  const nextLink = new Int32Array(count);
  let reached = 0;
  let openCount = 0;
  let components = 0;
  const pause = new Pause();
  for (let root = 0; root < count; root++) {
    if (order[root] !== NONE || !devices[root]?.available) continue;
    let depth = 0;
    path[0] = root;
    order[root] = low[root] = reached++;
    open[openCount++] = root;
    while (depth >= 0) {
      if (pause.due(COST.item)) yield;
      const at = path[depth] ?? 0;
      const index = nextLink[at] ?? 0;
      nextLink[at] = index + 1;
      const to = devices[at]?.joined[index];
      if (to !== undefined) {
        if (order[to] === NONE) {
          if (!devices[to]?.available) continue;
          path[++depth] = to;
          order[to] = low[to] = reached++;
          open[openCount++] = to;
        } else if (componentOf[to] === NONE) low[at] = Math.min(low[at] ?? 0, order[to] ?? 0);
        continue;
      }
      depth--;
      const parent = path[depth] ?? 0;
      if (depth >= 0) low[parent] = Math.min(low[parent] ?? 0, low[at] ?? 0);
      if (low[at] !== order[at]) continue;
      for (let member = NONE; member !== at; ) {
        member = open[--openCount] ?? at;
        componentOf[member] = components;
      }
      components++;
    }
  }
  return { count: components, componentOf };
}

/** The members of each component, ordered by their lowest device id. */
function* membersOf(
  devices: LinkGraph["devices"],
  { count, componentOf }: Components,
): Steps<readonly ClusterMembers[]> {
  const members = Array.from({ length: count }, () => ({ devices: [] as string[], links: [] as string[] }));
  const pause = new Pause();
  for (const [number, device] of devices.entries()) {
    const component = members[componentOf[number] ?? NONE];
    if (!device || !component) continue;
    component.devices.push(device.id);
    for (const link of device.out) {
      if (joins(link) && componentOf[link.to] === componentOf[number]) component.links.push(link.id);
    }
    if (pause.due((1 + device.out.length) * COST.item)) yield;
  }
  const clusters: ClusterMembers[] = [];
  for (const component of members) {
    clusters.push({
      devices: yield* sortInSteps(component.devices, compareTexts),
      links: yield* sortInSteps(component.links, compareTexts),
    });
    if (clusters.length % 100 === 0) yield;
  }
  return yield* sortInSteps(clusters, (a, b) => compareTexts(a.devices[0] ?? "", b.devices[0] ?? ""));
}
