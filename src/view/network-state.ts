/**
 * The network at one revision, current or historical. It never changes, so a computation may use it across pauses. States
 * share the pages, devices and links that are equal in them.
 */
import { LayeredMap } from "../lib/layered-map.ts";
import type { SortedIndex } from "../lib/sorted-index.ts";
import { COST, Pause, SharedSteps, type Steps } from "../lib/steps.ts";
import { type CollectionVersions, forStoreKinds, STORE_KINDS, type StoreKind } from "../log/log.ts";
import { idKey, type Kind } from "../model/ids.ts";
import { Collection, type EncodedValue } from "./collection.ts";
import {
  type AmbiguousName,
  type DeviceLookup,
  devicesNamedIn,
  nameKey,
  resolvedIds,
} from "./device-lookup.ts";
import type { EncodedPage } from "./encoded-page.ts";
import type { DeviceHostCounts } from "./host-counts.ts";
import { LinkGraph } from "./link-graph.ts";

/** The kinds whose ids contain ids of devices, and so have several spellings. */
export type SpelledKind = Exclude<Kind, "hosts">;
export const isSpelled = (kind: StoreKind): kind is SpelledKind =>
  kind === "devices" || kind === "ports" || kind === "links";

/** The ids that are not shown in lower case, by `idKey`. Most networks have none. */
export type Spellings = Readonly<Record<SpelledKind, LayeredMap<string, string>>>;

export type Collections = Readonly<Record<StoreKind, Collection>>;

/** The collections whose indexes are also read outside of commits. */
export type IndexedKind = Kind | "missing" | "claims";

/** The live indexes of the view, which are valid while the view is at this state. */
export interface LiveIndexes {
  isAt(state: object): boolean;
  findIndex(kind: IndexedKind, name: string): SortedIndex | undefined;
  readonly indexesAreExact: boolean;
}

export interface StateParts {
  readonly revision: number;
  readonly time: number;
  readonly versions: CollectionVersions;
  readonly collections: Collections;
  readonly spellings: Spellings;
  readonly lookup: DeviceLookup;
  /** The counts, or a function that computes them when they are needed. */
  readonly hostCounts: DeviceHostCounts | (() => Steps<DeviceHostCounts>);
  readonly graph: LinkGraph | (() => Steps<LinkGraph>);
  readonly graphTime: number | (() => Steps<number>);
  readonly live?: LiveIndexes;
}

/** A state. Other folders use it as a `NetworkState`. */
export class RevisionState {
  readonly revision: number;
  /** Epoch milliseconds of that revision. */
  readonly time: number;
  readonly versions: CollectionVersions;
  readonly collections: Collections;
  readonly spellings: Spellings;
  readonly lookup: DeviceLookup;
  /** Size of what the state does not share with the current one, if it is neither the current one nor in a cache. */
  ownBytes = 0;
  readonly #live: LiveIndexes | undefined;
  readonly #hostCounts: DeviceHostCounts | SharedSteps<DeviceHostCounts>;
  readonly #graph: LinkGraph | SharedSteps<LinkGraph>;
  readonly #graphTime: number | SharedSteps<number>;

  constructor(parts: StateParts) {
    const { hostCounts, graph, graphTime } = parts;
    this.revision = parts.revision;
    this.time = parts.time;
    this.versions = parts.versions;
    this.collections = parts.collections;
    this.spellings = parts.spellings;
    this.lookup = parts.lookup;
    this.#live = parts.live;
    this.#hostCounts = typeof hostCounts === "function" ? new SharedSteps(hostCounts()) : hostCounts;
    this.#graph = typeof graph === "function" ? new SharedSteps(graph()) : graph;
    this.#graphTime = typeof graphTime === "function" ? new SharedSteps(graphTime()) : graphTime;
  }

  /** The memory that exists only because this state is kept although it is not the current one, as an upper bound. */
  get heldBytes(): number {
    let bytes = this.ownBytes;
    for (const kind of STORE_KINDS) bytes += this.collections[kind].heldBytes;
    return bytes;
  }

  size(kind: StoreKind): number {
    return this.collections[kind].size;
  }

  /**
   * The stored JSON. `id` is the shown id; for a missing entity, its `missingKey`. A replica has neither claims nor
   * settings (see `History.requireAllCollections`).
   */
  get(kind: StoreKind, id: string): string | undefined {
    return this.collections[kind].get(id);
  }

  /** The same as `get`, as bytes that a response sends unchanged. */
  find(kind: StoreKind, id: string): EncodedValue | undefined {
    return this.collections[kind].find(id);
  }

  has(kind: StoreKind, id: string): boolean {
    return this.collections[kind].has(id);
  }

  /** The id as this state shows it, for an id in any spelling. An id that is not in the state becomes its key. */
  spelledId(kind: Kind, id: string): string {
    const key = idKey(kind, id);
    return kind === "hosts" ? key : (this.spellings[kind].get(key) ?? key);
  }

  /**
   * The shown id, also for an id in which devices are named by aliases or, if `acceptsNames` is set, by their names. An
   * entity with this id has precedence over one whose devices have these aliases or names.
   */
  shownId(kind: Kind, id: string, acceptsNames: boolean): string {
    const spelled = this.spelledId(kind, id);
    if (kind === "hosts") return spelled;
    if (kind === "devices") {
      const device = this.lookup.find(nameKey(spelled), acceptsNames);
      return device === undefined || this.has("devices", spelled) ? spelled : device;
    }
    if (this.has(kind, spelled)) return spelled;
    const resolved = resolvedIds(kind, spelled, (device) => this.shownId("devices", device, acceptsNames));
    return resolved.find((candidate) => this.has(kind, candidate)) ?? spelled;
  }

  /** Whether a device has this alias or name. If none has, there is nothing to resolve. */
  isCalled(name: string): boolean {
    return this.lookup.has(nameKey(name));
  }

  /** The first device name in the id that several devices have, and that is the id of none. */
  findAmbiguousName(kind: Kind, id: string): AmbiguousName | undefined {
    for (const name of devicesNamedIn(kind, id)) {
      const ambiguous = this.lookup.findAmbiguous(nameKey(name), name);
      if (ambiguous && !this.has("devices", this.spelledId("devices", name))) return ambiguous;
    }
    return undefined;
  }

  /** The pages of a collection. Pauses only if pages have pending writes. The array never changes. */
  pages(kind: StoreKind): Steps<readonly EncodedPage[]> {
    return this.collections[kind].pages();
  }

  /** The number of hosts located at each device. */
  *hostCounts(): Steps<DeviceHostCounts> {
    const counts = this.#hostCounts;
    return counts instanceof SharedSteps ? yield* counts.result() : counts;
  }

  *linkGraph(): Steps<LinkGraph> {
    return this.#graph instanceof LinkGraph ? this.#graph : yield* this.#graph.result();
  }

  /** Epoch milliseconds of the last change of the graph: `topology.time` in the interface. */
  *graphTime(): Steps<number> {
    return typeof this.#graphTime === "number" ? this.#graphTime : yield* this.#graphTime.result();
  }

  /** The live index, while the view is at this revision; undefined afterwards, and for earlier states. */
  findIndex(kind: IndexedKind, name: string): SortedIndex | undefined {
    return this.#live?.isAt(this) ? this.#live.findIndex(kind, name) : undefined;
  }

  /** False while a batch is prepared: indexes then have additional ids, so every candidate must be checked. */
  get indexesAreExact(): boolean {
    return this.#live?.isAt(this) === true && this.#live.indexesAreExact;
  }
}

export const noCollections = (): Collections => forStoreKinds(() => Collection.of([]));

export const NO_SPELLINGS: Spellings = {
  devices: new LayeredMap(),
  ports: new LayeredMap(),
  links: new LayeredMap(),
};

/** Values that appear or disappear, by kind and id. */
export type Existence = Iterable<readonly [kind: StoreKind, id: string, exists: boolean]>;

/** Returns the spellings after these ids were added or removed. */
export function* withSpellings(spellings: Spellings, changes: Existence): Steps<Spellings> {
  const byKind: Record<SpelledKind, Map<string, string | undefined>> = {
    devices: new Map(),
    ports: new Map(),
    links: new Map(),
  };
  const pause = new Pause();
  for (const [kind, id, exists] of changes) {
    if (pause.due(COST.key)) yield;
    if (!isSpelled(kind)) continue;
    const key = idKey(kind, id);
    if (key === id) continue;
    const changed = byKind[kind];
    if (exists) changed.set(key, id);
    // Another spelling of the same id may have replaced this one.
    else if ((changed.get(key) ?? spellings[kind].get(key)) === id) changed.set(key, undefined);
  }
  const { devices, ports, links } = byKind;
  if (devices.size + ports.size + links.size === 0) return spellings;
  return {
    devices: yield* spellings.devices.with(devices),
    ports: yield* spellings.ports.with(ports),
    links: yield* spellings.links.with(links),
  };
}
