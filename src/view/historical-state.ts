/**
 * The network as it was at one revision. Made from the nearest known state, now (undoing what came since) or a
 * snapshot (redoing what came after it), by putting the differing values on its pages: whatever did not change is
 * shared with the present, so a past costs what differs, not what there is.
 */
import type { Log, CollectionVersions, StoreKind } from "../log/log.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { pageIndexFor } from "./collection.ts";
import { EncodedPage } from "./encoded-page.ts";
import { changesGraph, LinkGraph } from "./link-graph.ts";
import { type NetworkState, parseStored, type View } from "./view.ts";

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
    differing: ReadonlyMap<StoreKind, ChangedValues>,
  ) {
    this.revision = revision;
    this.time = time;
    this.#log = log;
    this.#base = base;
    this.#changedValues = differing;
  }

  /** Everything about a past is of its revision: it never changes again. */
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
        if (batch.entries.some(changesGraph)) last = batch.time;
      }
      this.#graphTime = last;
    }
    return this.#graphTime;
  }
}

/** The past at `revision`, which must be one the log can still tell. */
export function historicalStateAt(view: View, log: Log, revision: number): HistoricalState {
  const snapshot = log.snapshotAtOrBefore(revision);
  const fromSnapshot = revision - (snapshot?.revision ?? 0);
  const differing = new Map<StoreKind, ChangedValues>();
  const valuesFor = (kind: StoreKind): ChangedValues => {
    let values = differing.get(kind);
    if (!values) {
      values = new Map();
      differing.set(kind, values);
    }
    return values;
  };
  const time = log.timeOf(revision) ?? 0;
  if (view.revision - revision <= fromSnapshot) {
    const now = currentPages(view);
    for (const { entries } of log.read(revision, view.revision)) {
      for (const { kind, id, before } of entries) {
        const values = valuesFor(kind);
        if (!values.has(id)) values.set(id, before);
      }
    }
    return new HistoricalState(revision, time, log, (kind) => now.get(kind) ?? [], differing);
  }
  for (const { entries } of log.read(snapshot?.revision ?? 0, revision)) {
    for (const { kind, id, after } of entries) valuesFor(kind).set(id, after);
  }
  const stored = (kind: Kind) =>
    snapshot?.pages[kind].map((record) => EncodedPage.decode(record.encode(), record.storedId)) ?? [];
  return new HistoricalState(revision, time, log, stored, differing);
}

/** Now, held fast: its pages are immutable already, only the list of them is taken. */
export function currentAsHistorical(view: View, log: Log): HistoricalState {
  const now = currentPages(view);
  return new HistoricalState(view.revision, view.time, log, (kind) => now.get(kind) ?? [], new Map());
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
    const some = perPage.get(at);
    if (some) some.set(id, value);
    else perPage.set(at, new Map([[id, value]]));
  }
  return from.flatMap((page, at) => {
    const some = perPage.get(at);
    return some ? page.withChanges(some) : [page];
  });
}

export function* valuesWithIds(pages: readonly EncodedPage[]): Generator<[id: string, text: string]> {
  for (const page of pages) {
    for (const [i, id] of page.ids.entries()) yield [id, page.value(i)];
  }
}
