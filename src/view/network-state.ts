/**
 * The network at one revision, current or historical. It never changes, so a computation may use it across pauses. States
 * share the pages, devices and links that are equal in them.
 */
import { LayeredMap } from "../lib/layered-map.ts";
import type { SortedIndex } from "../lib/sorted-index.ts";
import { COST, Pause, SharedSteps, type Steps } from "../lib/steps.ts";
import { type CollectionVersions, forStoreKinds, STORE_KINDS, type StoreKind } from "../log/log.ts";
import { idKey, type Kind } from "../model/ids.ts";
import { Collection } from "./collection.ts";
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

/** A `NetworkState`, with members that only this folder uses. */
export class RevisionState {
  readonly revision: number;
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

  constructor({
    revision,
    time,
    versions,
    collections,
    spellings,
    lookup,
    hostCounts,
    graph,
    graphTime,
    live,
  }: StateParts) {
    this.revision = revision;
    this.time = time;
    this.versions = versions;
    this.collections = collections;
    this.spellings = spellings;
    this.lookup = lookup;
    this.#live = live;
    this.#hostCounts = typeof hostCounts === "function" ? new SharedSteps(hostCounts()) : hostCounts;
    this.#graph = typeof graph === "function" ? new SharedSteps(graph()) : graph;
    this.#graphTime = typeof graphTime === "function" ? new SharedSteps(graphTime()) : graphTime;
  }

  get heldBytes(): number {
    let bytes = this.ownBytes;
    for (const kind of STORE_KINDS) bytes += this.collections[kind].heldBytes;
    return bytes;
  }

  size(kind: StoreKind): number {
    return this.collections[kind].size;
  }

  get(kind: StoreKind, id: string): string | undefined {
    return this.collections[kind].get(id);
  }

  has(kind: StoreKind, id: string): boolean {
    return this.collections[kind].has(id);
  }

  spelledId(kind: Kind, id: string): string {
    const key = idKey(kind, id);
    return kind === "hosts" ? key : (this.spellings[kind].get(key) ?? key);
  }

  /** The shown id of an entity. An entity with this id has precedence over one whose devices have these aliases or names. */
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

  isCalled(name: string): boolean {
    return this.lookup.has(nameKey(name));
  }

  findAmbiguousName(kind: Kind, id: string): AmbiguousName | undefined {
    for (const name of devicesNamedIn(kind, id)) {
      const ambiguous = this.lookup.findAmbiguous(nameKey(name), name);
      if (ambiguous && !this.has("devices", this.spelledId("devices", name))) return ambiguous;
    }
    return undefined;
  }

  pages(kind: StoreKind): Steps<readonly EncodedPage[]> {
    return this.collections[kind].pages();
  }

  *hostCounts(): Steps<DeviceHostCounts> {
    const counts = this.#hostCounts;
    return counts instanceof SharedSteps ? yield* counts.result() : counts;
  }

  *linkGraph(): Steps<LinkGraph> {
    return this.#graph instanceof LinkGraph ? this.#graph : yield* this.#graph.result();
  }

  *graphTime(): Steps<number> {
    return typeof this.#graphTime === "number" ? this.#graphTime : yield* this.#graphTime.result();
  }

  findIndex(kind: IndexedKind, name: string): SortedIndex | undefined {
    return this.#live?.isAt(this) ? this.#live.findIndex(kind, name) : undefined;
  }

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
