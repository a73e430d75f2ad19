/**
 * The current state of the network in memory: the collections on encoded pages, their indexes, and the graph of links.
 *
 * The view is a pure function of the log. `load`, `apply` and a commit change it, each within one turn of the event loop,
 * so that a reader always sees one complete revision.
 */
import { GcPacer } from "../lib/gc-pacer.ts";
import type { SortedIndex } from "../lib/sorted-index.ts";
import type { Steps } from "../lib/steps.ts";
import {
  type Batch,
  type CollectionVersions,
  type Snapshot,
  STORE_KINDS,
  type StoreKind,
} from "../log/log.ts";
import type { Cluster, Topology } from "../model/entity.ts";
import { hasOneSpelling, idKey, KINDS, type Kind } from "../model/ids.ts";
import { Collection, type EncodedValue, pageIndexFor } from "./collection.ts";
import { EncodedPage } from "./encoded-page.ts";
import { Indexes, type StoredTypes } from "./indexes.ts";
import { type ClusterMembers, changesGraph, LinkGraph } from "./link-graph.ts";

/** A value as stored text and as parsed. Both are kept together, so that a value is parsed once. */
export interface StoredValue<K extends StoreKind> {
  readonly text: string;
  readonly value: StoredTypes[K];
}

/** The kinds whose ids contain ids of devices, and so have several spellings. */
type SpelledKind = Exclude<Kind, "hosts">;
type GraphUpdate<K extends StoreKind> = (id: string, value: StoredTypes[K] | undefined) => void;

/** The network at one revision. Immutable: safe to use across pauses. */
export interface NetworkState {
  readonly revision: number;
  /** Epoch milliseconds of that revision. */
  readonly time: number;
  readonly versions: CollectionVersions;
  size(kind: Kind): number;
  /** `id` as it is shown. */
  get(kind: Kind, id: string): string | undefined;
  /** The id as this state shows it, for an id in any spelling. An id that is not in the state becomes its key. */
  shownId(kind: Kind, id: string): string;
  pages(kind: Kind): Steps<readonly EncodedPage[]>;
  linkGraph(): Steps<LinkGraph>;
  graphTime(): Steps<number>;
  /** The live index, while the view is still at this revision; undefined afterwards and for historical states. */
  findIndex(kind: Kind, name: string): SortedIndex | undefined;
  /** False while indexes hold additional ids, so that every candidate must be checked with `matches`. */
  readonly indexesAreExact: boolean;
}

export class View {
  revision = 0;
  time = 0;
  graphTime = 0;
  /** Changes applied since the view was created. The compactor decides by it when a snapshot is due. */
  changesApplied = 0;
  readonly graph = new LinkGraph();
  #graphRevision = 0;
  readonly #collections: Record<StoreKind, Collection> = {
    devices: new Collection(),
    ports: new Collection(),
    links: new Collection(),
    hosts: new Collection(),
    claims: new Collection(),
  };
  readonly #indexes: { readonly [K in keyof StoredTypes]: Indexes<K> } = {
    devices: new Indexes("devices"),
    ports: new Indexes("ports"),
    links: new Indexes("links"),
    hosts: new Indexes("hosts"),
    claims: new Indexes("claims"),
  };

  /** The ids that are not shown in lower case, by `idKey`. In most networks there are none. */
  readonly #spellings: Readonly<Record<SpelledKind, Map<string, string>>> = {
    devices: new Map(),
    ports: new Map(),
    links: new Map(),
  };

  /** Keeps the graph consistent with the collections. */
  readonly #graphUpdates: { readonly [K in StoreKind]?: GraphUpdate<K> } = {
    devices: (id, device) => this.graph.setDevice(id, device),
    links: (id, link) => this.graph.setLink(id, link),
  };

  get versions(): CollectionVersions {
    const { devices, ports, links, hosts, claims } = this.#collections;
    return {
      devices: devices.revision,
      ports: ports.revision,
      links: links.revision,
      hosts: hosts.revision,
      claims: claims.revision,
      graph: this.#graphRevision,
    };
  }

  #captured: CapturedState | undefined;

  /** The current state. The same object until the next revision. */
  capture(): NetworkState {
    if (this.#captured?.revision !== this.revision) this.#captured = new CapturedState(this, this.#captured);
    return this.#captured;
  }

  pages(kind: StoreKind): readonly EncodedPage[] {
    return this.#collections[kind].pages();
  }

  size(kind: StoreKind): number {
    return this.#collections[kind].size;
  }

  get(kind: StoreKind, id: string): string | undefined {
    return this.#collections[kind].get(id);
  }

  shownId(kind: Kind, id: string): string {
    const key = idKey(kind, id);
    return kind === "hosts" ? key : (this.#spellings[kind].get(key) ?? key);
  }

  has(kind: StoreKind, id: string): boolean {
    return this.#collections[kind].has(id);
  }

  /** The values whose ids are in [from, to], in order of id. */
  range(kind: StoreKind, from: string, to: string): Generator<string> {
    return this.#collections[kind].range(from, to);
  }

  /** The same values with their ids, as an array. */
  rangeWithIds(kind: StoreKind, from: string, to: string): EncodedValue[] {
    return this.#collections[kind].rangeWithIds(from, to);
  }

  indexes<K extends keyof StoredTypes>(kind: K): Indexes<K> {
    return this.#indexes[kind];
  }

  /** Undefined when this kind has no index of that name. */
  findIndex(kind: Kind, name: string): SortedIndex | undefined {
    return this.#indexes[kind].find(name);
  }

  /** Replaces the whole state. Only for a view that has no readers yet. */
  load(snapshot: Snapshot, gcPacer = new GcPacer()): void {
    for (const kind of STORE_KINDS) {
      const pages: EncodedPage[] = [];
      for (const record of snapshot.pages[kind]) {
        const page = EncodedPage.decode(record.encode(), record.storedId);
        pages.push(page);
        for (const [i, id] of page.ids.entries())
          this.#updateIndexes(kind, id, undefined, parseStored(kind, page.value(i)));
        gcPacer.addGarbage(page.bytes.length);
      }
      this.#collections[kind] = new Collection(pages);
      this.#indexes[kind].sortKeys();
    }
    this.revision = snapshot.revision;
    this.time = snapshot.time;
    this.setVersions(snapshot.versions, snapshot.graphTime);
  }

  /** Sets the versions of a state that was built elsewhere: from a snapshot, or from another process. */
  setVersions(versions: CollectionVersions, graphTime: number): void {
    for (const kind of STORE_KINDS) this.#collections[kind].revision = versions[kind];
    this.#graphRevision = versions.graph;
    this.graphTime = graphTime;
  }

  apply(batch: Batch): void {
    for (const { kind, id, before, after } of batch.entries) {
      this.replaceValue(kind, id, storedValueOf(kind, before), storedValueOf(kind, after));
    }
    this.finishRevision(batch);
  }

  /**
   * Replaces one value without finishing a revision. For a commit, which changes the view until its batch is complete, and
   * passes values that are already parsed.
   */
  replaceValue<K extends StoreKind>(
    kind: K,
    id: string,
    before: StoredValue<K> | undefined,
    after: StoredValue<K> | undefined,
  ) {
    this.#collections[kind].put(id, before?.text ?? null, after?.text ?? null);
    this.#updateIndexes(kind, id, before?.value, after?.value);
  }

  /** Makes the replaced values the new revision. */
  finishRevision(batch: Batch): void {
    this.revision = batch.revision;
    this.time = batch.time;
    this.changesApplied += batch.entries.length;
    for (const kind of new Set(batch.entries.map((entry) => entry.kind))) {
      this.#collections[kind].revision = batch.revision;
    }
    if (!batch.entries.some(changesGraph)) return;
    this.#graphRevision = batch.revision;
    this.graphTime = batch.time;
  }

  #updateIndexes<K extends StoreKind>(
    kind: K,
    id: string,
    before: StoredTypes[K] | undefined,
    after: StoredTypes[K] | undefined,
  ) {
    this.#indexes[kind].update(id, before, after);
    if (!before !== !after && kind !== "hosts" && kind !== "claims")
      this.#updateSpelling(kind, id, after !== undefined);
    const updateGraph: GraphUpdate<K> | undefined = this.#graphUpdates[kind];
    updateGraph?.(id, after);
  }

  #updateSpelling(kind: SpelledKind, id: string, exists: boolean): void {
    const key = idKey(kind, id);
    if (key === id) return;
    const spellings = this.#spellings[kind];
    if (exists) spellings.set(key, id);
    else if (spellings.get(key) === id) spellings.delete(key);
  }

  /** The number of entities of each kind that are claimed but held back, because a device they refer to is missing. */
  get heldBack(): Readonly<Record<Kind, number>> {
    const counts = { devices: 0, ports: 0, links: 0, hosts: 0 };
    for (const page of this.pages("claims")) {
      for (const key of page.ids) {
        const [name = "", id = ""] = key.split(" ");
        const kind = KINDS.find((candidate) => candidate === name);
        if (kind && !this.has(kind, this.shownId(kind, id))) counts[kind]++;
      }
    }
    return counts;
  }

  snapshot(): Snapshot {
    const { revision, time, graphTime, versions } = this;
    const pages = {
      devices: this.pages("devices"),
      ports: this.pages("ports"),
      links: this.pages("links"),
      hosts: this.pages("hosts"),
      claims: this.pages("claims"),
    };
    return { revision, time, graphTime, versions, pages };
  }
}

export function storedValueOf<K extends StoreKind>(
  kind: K,
  text: string | null | undefined,
): StoredValue<K> | undefined {
  return text == null ? undefined : { text, value: parseStored(kind, text) };
}

/** Not validated: only `replaceValue` and the log produce this text. */
export function parseStored<K extends keyof StoredTypes>(_kind: K, text: string): StoredTypes[K] {
  return JSON.parse(text);
}

export function* topologyOf(state: NetworkState): Steps<Topology> {
  const graph = yield* state.linkGraph();
  return {
    time: yield* state.graphTime(),
    devices: state.size("devices"),
    links: state.size("links"),
    clusters: (yield* graph.clusters()).length,
    hosts: state.size("hosts"),
  };
}

class CapturedState implements NetworkState {
  readonly revision: number;
  readonly time: number;
  readonly versions: CollectionVersions;
  readonly indexesAreExact = true;
  readonly #view: View;
  readonly #graphTime: number;
  readonly #sizes: Readonly<Record<Kind, number>>;
  readonly #pages: Readonly<Record<Kind, readonly EncodedPage[]>>;
  #graph: LinkGraph | undefined;

  constructor(view: View, previous: CapturedState | undefined) {
    this.#view = view;
    this.revision = view.revision;
    this.time = view.time;
    this.versions = view.versions;
    this.#graphTime = view.graphTime;
    const { size, pages } = {
      size: (kind: Kind) => view.size(kind),
      pages: (kind: Kind) => view.pages(kind),
    };
    this.#sizes = {
      devices: size("devices"),
      ports: size("ports"),
      links: size("links"),
      hosts: size("hosts"),
    };
    this.#pages = {
      devices: pages("devices"),
      ports: pages("ports"),
      links: pages("links"),
      hosts: pages("hosts"),
    };
    const isSameGraph =
      previous?.versions.devices === this.versions.devices && previous.versions.links === this.versions.links;
    if (previous && isSameGraph) this.#graph = previous.#graph;
  }

  size(kind: Kind): number {
    return this.#sizes[kind];
  }

  get(kind: Kind, id: string): string | undefined {
    if (this.#view.revision === this.revision) return this.#view.get(kind, id);
    const pages = this.#pages[kind];
    return pages[pageIndexFor(pages, id)]?.get(id);
  }

  shownId(kind: Kind, id: string): string {
    if (this.#view.revision === this.revision) return this.#view.shownId(kind, id);
    const key = idKey(kind, id);
    for (const spelling of [id, key]) if (this.get(kind, spelling) !== undefined) return spelling;
    if (hasOneSpelling(kind, key)) return key;
    for (const { ids } of this.#pages[kind]) {
      const found = ids.find((candidate) => idKey(kind, candidate) === key);
      if (found !== undefined) return found;
    }
    return key;
  }

  // biome-ignore lint/correctness/useYield: pages are written when the state is captured
  *pages(kind: Kind): Steps<readonly EncodedPage[]> {
    return this.#pages[kind];
  }

  *linkGraph(): Steps<LinkGraph> {
    if (this.#graph) return this.#graph;
    const graph = new LinkGraph();
    for (const kind of ["devices", "links"] as const) {
      for (const page of this.#pages[kind]) {
        for (const [i, id] of page.ids.entries()) {
          if (kind === "devices") graph.setDevice(id, parseStored(kind, page.value(i)));
          else graph.setLink(id, parseStored(kind, page.value(i)));
        }
        yield;
      }
    }
    this.#graph = graph;
    return graph;
  }

  // biome-ignore lint/correctness/useYield: known
  *graphTime(): Steps<number> {
    return this.#graphTime;
  }

  findIndex(kind: Kind, name: string): SortedIndex | undefined {
    return this.#view.revision === this.revision ? this.#view.findIndex(kind, name) : undefined;
  }
}

export const clusterOf = (members: ClusterMembers, id: number): Cluster => ({
  id,
  deviceCount: members.devices.length,
  linkCount: members.links.length,
  root: members.devices[0] ?? "",
});
