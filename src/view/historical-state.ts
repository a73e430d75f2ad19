/**
 * The network at an earlier revision. It is built from the nearer of two states: the current one (undoing later batches)
 * or a snapshot (applying the batches after it). Only pages with changed values are new; all others are shared with the
 * current state, so that a historical state costs as much as what changed.
 */
import type { CollectionVersions, Log, StoreKind } from "../log/log.ts";
import { hasOneSpelling, idKey, KINDS, type Kind } from "../model/ids.ts";
import { pageIndexFor } from "./collection.ts";
import { EncodedPage } from "./encoded-page.ts";
import { changesGraph, LinkGraph } from "./link-graph.ts";
import { type NetworkState, parseStored, type View } from "./view.ts";

/** By id; null when the entity did not exist. */
type ChangedValues = Map<string, string | null>;

export class HistoricalState implements NetworkState {
  readonly revision: number;
  readonly time: number;
  readonly #log: Log;
  readonly #base: (kind: Kind) => readonly EncodedPage[];
  readonly #changedValues: ReadonlyMap<StoreKind, ChangedValues>;
  readonly #pages = new Map<Kind, readonly EncodedPage[]>();
  #graph: LinkGraph | undefined;
  #graphTime: number | undefined;

  constructor(
    revision: number,
    time: number,
    log: Log,
    base: (kind: Kind) => readonly EncodedPage[],
    changedValues: ReadonlyMap<StoreKind, ChangedValues>,
  ) {
    this.revision = revision;
    this.time = time;
    this.#log = log;
    this.#base = base;
    this.#changedValues = changedValues;
  }

  /** A historical state never changes, so that every version is its revision. */
  get versions(): CollectionVersions {
    const { revision } = this;
    return {
      devices: revision,
      ports: revision,
      links: revision,
      hosts: revision,
      claims: revision,
      graph: revision,
    };
  }

  pages(kind: Kind): readonly EncodedPage[] {
    let pages = this.#pages.get(kind);
    if (!pages) {
      pages = withChangedValues(this.#base(kind), this.#changedValues.get(kind) ?? new Map());
      this.#pages.set(kind, pages);
    }
    return pages;
  }

  size(kind: Kind): number {
    return this.pages(kind).reduce((sum, page) => sum + page.length, 0);
  }

  get(kind: Kind, id: string): string | undefined {
    const pages = this.pages(kind);
    return pages[pageIndexFor(pages, id)]?.get(id);
  }

  /** Without an index: the ids of the kind are searched, but only for an id that is not there as it was given. */
  shownId(kind: Kind, id: string): string {
    const key = idKey(kind, id);
    for (const spelling of [id, key]) if (this.get(kind, spelling) !== undefined) return spelling;
    if (hasOneSpelling(kind, key)) return key;
    for (const { ids } of this.pages(kind)) {
      const found = ids.find((candidate) => idKey(kind, candidate) === key);
      if (found !== undefined) return found;
    }
    return key;
  }

  get graph(): LinkGraph {
    if (!this.#graph) {
      this.#graph = new LinkGraph();
      for (const [id, text] of valuesWithIds(this.pages("devices"))) {
        this.#graph.setDevice(id, parseStored("devices", text));
      }
      for (const [id, text] of valuesWithIds(this.pages("links")))
        this.#graph.setLink(id, parseStored("links", text));
    }
    return this.#graph;
  }

  get graphTime(): number {
    if (this.#graphTime === undefined) {
      const snapshot = this.#log.snapshotAtOrBefore(this.revision);
      let last = snapshot?.graphTime ?? 0;
      for (const batch of this.#log.read(snapshot?.revision ?? 0, this.revision)) {
        if (batch?.entries.some(changesGraph)) last = batch.time;
      }
      this.#graphTime = last;
    }
    return this.#graphTime;
  }
}

/** `revision` must be at least the log's oldest. */
export function historicalStateAt(view: View, log: Log, revision: number): HistoricalState {
  const snapshot = log.snapshotAtOrBefore(revision);
  const revisionsSinceSnapshot = revision - (snapshot?.revision ?? 0);
  const changedValues = new Map<StoreKind, ChangedValues>();
  const valuesFor = (kind: StoreKind): ChangedValues => {
    let values = changedValues.get(kind);
    if (!values) {
      values = new Map();
      changedValues.set(kind, values);
    }
    return values;
  };
  const time = log.timeOf(revision) ?? 0;
  if (view.revision - revision <= revisionsSinceSnapshot) {
    const pages = currentPages(view);
    for (const batch of log.read(revision, view.revision)) {
      for (const { kind, id, before } of batch?.entries ?? []) {
        const values = valuesFor(kind);
        if (!values.has(id)) values.set(id, before);
      }
    }
    return new HistoricalState(revision, time, log, (kind) => pages.get(kind) ?? [], changedValues);
  }
  for (const batch of log.read(snapshot?.revision ?? 0, revision)) {
    for (const { kind, id, after } of batch?.entries ?? []) valuesFor(kind).set(id, after);
  }
  const storedPages = (kind: Kind) =>
    snapshot?.pages[kind].map((record) => EncodedPage.decode(record.encode(), record.storedId)) ?? [];
  return new HistoricalState(revision, time, log, storedPages, changedValues);
}

/** The current state as an immutable one. Pages are immutable, so that holding the arrays is enough. */
export function currentAsHistorical(view: View, log: Log): HistoricalState {
  const pages = currentPages(view);
  return new HistoricalState(view.revision, view.time, log, (kind) => pages.get(kind) ?? [], new Map());
}

function currentPages(view: View): Map<Kind, readonly EncodedPage[]> {
  return new Map(KINDS.map((kind) => [kind, view.pages(kind)]));
}

function withChangedValues(pages: readonly EncodedPage[], values: ChangedValues): readonly EncodedPage[] {
  if (values.size === 0) return pages;
  const from = pages.length > 0 ? pages : [EncodedPage.empty];
  const perPage = new Map<number, ChangedValues>();
  for (const [id, value] of values) {
    const at = pageIndexFor(from, id);
    const changes = perPage.get(at);
    if (changes) changes.set(id, value);
    else perPage.set(at, new Map([[id, value]]));
  }
  return from.flatMap((page, at) => {
    const changes = perPage.get(at);
    return changes ? page.withChanges(changes) : [page];
  });
}

export function* valuesWithIds(pages: readonly EncodedPage[]): Generator<[id: string, text: string]> {
  for (const page of pages) {
    for (const [i, id] of page.ids.entries()) yield [id, page.value(i)];
  }
}
