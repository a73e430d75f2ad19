/**
 * The current state of the network in memory, and its indexes.
 *
 * The view is a pure function of the log. A revision is prepared in steps (`prepare`), separately from the state that
 * readers see, and becomes visible at once (`publish`), in a time that does not depend on the number of changes. Indexes
 * are changed while a revision is prepared: until it is visible they have additional ids, and never lack one.
 */
import { createBoundedCache } from "../lib/bounded-cache.ts";
import type { SortedIndex } from "../lib/sorted-index.ts";
import { COST, Pause, runToEnd, type Steps } from "../lib/steps.ts";
import {
  type Batch,
  type CollectionVersions,
  forStoreKinds,
  type Snapshot,
  STORE_KINDS,
  type StoreKind,
} from "../log/log.ts";
import type { Cluster, Topology } from "../model/entity.ts";
import { idKey, type Kind } from "../model/ids.ts";
import { Collection, type EncodedValue, totalBytes } from "./collection.ts";
import { DeviceLookup } from "./device-lookup.ts";
import { additionsOn, EncodedPage } from "./encoded-page.ts";
import { HostCounter, NO_HOSTS } from "./host-counts.ts";
import { Indexes, type IndexName, type StoredTypes } from "./indexes.ts";
import { type ClusterMembers, graphChangesOf, LinkGraph } from "./link-graph.ts";
import {
  type Collections,
  type IndexedKind,
  isSpelled,
  type LiveIndexes,
  NO_SPELLINGS,
  noCollections,
  RevisionState,
  type StateParts,
  withSpellings,
} from "./network-state.ts";
import { PageIndexer } from "./page-indexer.ts";
import type { PortNumbers } from "./port-matching.ts";
import {
  type ClaimCounts,
  countClaims,
  NO_CLAIM_COUNTS,
  type PreparedRevision,
  prepareRevision,
} from "./prepare-revision.ts";

/** Number of ports of all devices in `View.portNumbers` together. */
const MAX_MATCHED_PORTS = 100_000;

/** The network at one revision. It is immutable, so it is safe to use across pauses. */
export type NetworkState = Omit<RevisionState, "collections" | "spellings" | "lookup" | "ownBytes" | "has">;

export class View implements LiveIndexes {
  /** Number of changes applied since the view was created. The compactor uses it to decide when a snapshot is due. */
  changesApplied = 0;
  /** False while a batch is prepared. */
  indexesAreExact = true;
  /** The matched ports of each joined device in the current state, by its key: see `identity/joined-ports.ts`. */
  readonly portNumbers = createBoundedCache<string, PortNumbers>({
    maxSize: MAX_MATCHED_PORTS,
    sizeOf: ({ size }) => size + 1,
  });
  /** The revision since which no alias or name has lost its last device. */
  namesKeptSince = 0;
  #state: RevisionState;
  #graph = LinkGraph.empty;
  #graphTime = 0;
  #claimCounts: ClaimCounts = NO_CLAIM_COUNTS;
  readonly #indexes: { readonly [K in keyof StoredTypes]: Indexes<K> } = {
    devices: new Indexes("devices"),
    ports: new Indexes("ports"),
    links: new Indexes("links"),
    hosts: new Indexes("hosts"),
    claims: new Indexes("claims"),
    missing: new Indexes("missing"),
    settings: new Indexes("settings"),
  };

  constructor() {
    const versions = { ...forStoreKinds(() => 0), graph: 0 };
    this.#state = new RevisionState({
      revision: 0,
      time: 0,
      versions,
      collections: noCollections(),
      spellings: NO_SPELLINGS,
      lookup: DeviceLookup.empty,
      hostCounts: NO_HOSTS,
      graph: this.#graph,
      graphTime: 0,
      live: this,
    });
  }

  /** The current state. It is the same object until the next revision. */
  capture(): RevisionState {
    return this.#state;
  }

  /** Whether this is the current state, so that the indexes are valid for it. */
  isAt(state: object): boolean {
    return state === this.#state;
  }

  get revision(): number {
    return this.#state.revision;
  }

  get time(): number {
    return this.#state.time;
  }

  get graphTime(): number {
    return this.#graphTime;
  }

  get versions(): CollectionVersions {
    return this.#state.versions;
  }

  /** The number of entities of each kind that are claimed but held back, because a device they refer to is missing. */
  get heldBack(): ClaimCounts["heldBack"] {
    return this.#claimCounts.heldBack;
  }

  /** The number of entities of each kind with stored claims. */
  get storedClaims(): ClaimCounts["stored"] {
    return this.#claimCounts.stored;
  }

  size(kind: StoreKind): number {
    return this.#state.size(kind);
  }

  get(kind: StoreKind, id: string): string | undefined {
    return this.#state.get(kind, id);
  }

  has(kind: StoreKind, id: string): boolean {
    return this.#state.has(kind, id);
  }

  /** The shown spelling of an id. Aliases are not resolved: a claim under an id is not about the device with that alias. */
  spelledId(kind: Kind, id: string): string {
    return this.#state.spelledId(kind, id);
  }

  hasDevice(id: string): boolean {
    return this.#graph.hasDevice(id);
  }

  /** The values whose ids are in [from, to], in order of id. */
  range(kind: StoreKind, from: string, to: string): Generator<EncodedValue> {
    return this.#state.collections[kind].range(from, to);
  }

  indexes<K extends keyof StoredTypes>(kind: K): Indexes<K> {
    return this.#indexes[kind];
  }

  /** Returns undefined when this kind has no index of that name. */
  findIndex(kind: IndexedKind, name: string): SortedIndex | undefined {
    return this.#indexes[kind].find(name);
  }

  /** Builds an index on demand, unless it exists. No batch may be in preparation that has already changed indexes. */
  *buildIndex<K extends Kind>(kind: K, name: IndexName<K>): Steps<void> {
    const indexes = this.#indexes[kind];
    if (!indexes.find(name)) yield* indexes.build(name, parsedValues(kind, yield* this.#state.pages(kind)));
  }

  /**
   * Replaces the whole state at once. Only for a view that has no readers yet. Calls `onPage` after each page, and `onParsed`
   * with the length of texts that were parsed and are garbage now.
   */
  load(snapshot: Snapshot, onPage?: () => void, onParsed?: (length: number) => void): void {
    const collections: Record<StoreKind, Collection> = { ...noCollections() };
    const ids: [kind: StoreKind, id: string, exists: boolean][] = [];
    const load = <K extends StoreKind>(kind: K, visit?: (value: StoredTypes[K]) => void) => {
      const indexer = new PageIndexer(this.#indexes[kind]);
      const pages: EncodedPage[] = [];
      for (const record of snapshot.pages[kind]) {
        const page = EncodedPage.decode(record.encode(), record.storedId);
        pages.push(page);
        if (isSpelled(kind))
          for (const id of page.ids()) if (idKey(kind, id) !== id) ids.push([kind, id, true]);
        const parsedLength = indexer.add(page, visit);
        onParsed?.(parsedLength);
        onPage?.();
      }
      collections[kind] = Collection.of(pages);
    };
    for (const kind of STORE_KINDS) if (kind !== "hosts") load(kind);
    this.#graph = runToEnd(graphOf(collections));
    this.#graphTime = snapshot.graphTime;
    const { revision, time, versions } = snapshot;
    const spellings = runToEnd(withSpellings(NO_SPELLINGS, ids));
    const lookup = runToEnd(DeviceLookup.empty.with(additionsOn(runToEnd(collections.devices.pages()))));
    this.namesKeptSince = revision;
    // Hosts are loaded last: they take most of the memory, and the garbage of all others is collected before.
    for (const kind of ["devices", "links"] as const)
      onParsed?.(totalBytes(runToEnd(collections[kind].pages())));
    const hostCounter = new HostCounter();
    load("hosts", (host) => hostCounter.addMultihomed(host));
    const locations = this.#indexes.hosts.named("location");
    for (const key of locations.unsortedKeys())
      hostCounter.addLocated(spellings.devices.get(key) ?? key, locations.count(key));
    const hostCounts = runToEnd(hostCounter.addTo(NO_HOSTS));
    this.#setState({ revision, time, versions, collections, spellings, lookup, hostCounts });
    this.#claimCounts = runToEnd(countClaims(this.#state));
  }

  /** Sets the versions of a state that was built elsewhere: from another process, or by a conversion. */
  setVersions(versions: CollectionVersions, graphTime: number): void {
    const { revision, time, collections, spellings, lookup } = this.#state;
    const state = this.#state;
    this.#graphTime = graphTime;
    const hostCounts = () => state.hostCounts();
    this.#setState({ revision, time, versions, collections, spellings, lookup, hostCounts });
  }

  /** Applies a batch at once. For startup and tests. */
  apply(batch: Batch): void {
    this.publish(runToEnd(this.indexAndPrepare(batch)));
  }

  /** Adds the changes of a batch to the indexes, and prepares it. */
  *indexAndPrepare(batch: Batch): Steps<PreparedRevision> {
    this.indexesAreExact = false;
    const pause = new Pause();
    for (const { kind, id, before, after } of batch.entries) {
      this.#updateIndexes(kind, id, before, after);
      if (pause.due(COST.entity, before?.length, after?.length)) yield;
    }
    return yield* this.prepare(batch);
  }

  #updateIndexes<K extends StoreKind>(
    kind: K,
    id: string,
    before: string | null,
    after: string | null,
  ): void {
    const base = storedValueOf(kind, before)?.value;
    this.#indexes[kind].update(id, base, storedValueOf(kind, after)?.value, base);
  }

  /** Builds the state after a batch whose changes are in the indexes already. Readers see none of it. */
  prepare(batch: Batch): Steps<PreparedRevision> {
    return prepareRevision(this.#state, this.#graph, this.#claimCounts, batch);
  }

  /** Makes a prepared revision the current one. No other revision may have been published since it was prepared. */
  publish({ parts, graph, changesGraph, claimCounts, changes }: PreparedRevision): void {
    this.changesApplied += changes;
    this.#graph = graph;
    if (changesGraph) this.#graphTime = parts.time;
    this.#claimCounts = claimCounts;
    this.#setState(parts);
    this.endIndexChange();
  }

  /** Ends the preparation of a batch: indexes are exact for the current state again. */
  endIndexChange(): void {
    for (const kind of STORE_KINDS) this.#indexes[kind].dropRetired();
    this.indexesAreExact = true;
  }

  /** Sorts the keys of indexes that need it. */
  *tidyIndexes(): Steps<void> {
    for (const kind of STORE_KINDS) yield* this.#indexes[kind].tidy();
  }

  #setState(parts: Omit<StateParts, "graph" | "graphTime" | "live">): void {
    for (const kind of STORE_KINDS) parts.collections[kind].publish();
    if (parts.lookup.losses > this.#state.lookup.losses) this.namesKeptSince = parts.revision;
    this.#state = new RevisionState({
      ...parts,
      graph: this.#graph,
      graphTime: this.#graphTime,
      live: this,
    });
  }
}

/** A value as stored text and in parsed form. Both are kept together, so that a value is parsed once. */
export interface StoredValue<K extends StoreKind> {
  readonly text: string;
  readonly value: StoredTypes[K];
}

export function storedValueOf<K extends StoreKind>(
  kind: K,
  text: string | null | undefined,
): StoredValue<K> | undefined {
  return text == null ? undefined : { text, value: parseStored(kind, text) };
}

/** The text is not validated, because only a commit and the log produce it. */
export function parseStored<K extends keyof StoredTypes>(_kind: K, text: string): StoredTypes[K] {
  return JSON.parse(text);
}

/** The graph of all devices and links. */
export function* graphOf(collections: Collections): Steps<LinkGraph> {
  return yield* LinkGraph.empty.with(
    graphChangesOf(
      additionsOn(yield* collections.devices.pages()),
      additionsOn(yield* collections.links.pages()),
    ),
  );
}

function* parsedValues<K extends Kind>(
  kind: K,
  pages: readonly EncodedPage[],
): Generator<[id: string, value: StoredTypes[K], length: number]> {
  for (const { id, after } of additionsOn(pages)) yield [id, parseStored(kind, after), after.length];
}

/** All pages of a state, for the log. */
export function* snapshotOf(state: RevisionState): Steps<Snapshot> {
  const { revision, time, versions } = state;
  const pages = forStoreKinds((): readonly EncodedPage[] => []);
  for (const kind of STORE_KINDS) pages[kind] = yield* state.pages(kind);
  return { revision, time, versions, graphTime: yield* state.graphTime(), pages };
}

export function* topologyOf(state: NetworkState): Steps<Topology> {
  const graph = yield* state.linkGraph();
  return {
    time: yield* state.graphTime(),
    devices: state.size("devices"),
    links: state.size("links"),
    clusters: yield* graph.clusterCount(),
    hosts: state.size("hosts"),
  };
}

export const clusterOf = (members: ClusterMembers, id: number): Cluster => ({
  id,
  deviceCount: members.devices.length,
  linkCount: members.links.length,
  root: members.devices[0] ?? "",
});
