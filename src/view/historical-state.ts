/**
 * The network at an earlier revision. It is built in steps from the nearer of two states: the current one (undoing later
 * batches) or a snapshot (applying the batches after it). Only changed pages are new: all others are shared with the
 * current state, so that the size of a historical state depends on what changed.
 */
import { COST, type Paced, Pause, type Steps } from "../lib/steps.ts";
import {
  type Batch,
  forStoreKinds,
  type Log,
  type LogEntry,
  type Snapshot,
  STORE_KINDS,
  type StoreKind,
} from "../log/log.ts";
import { Collection, type Write } from "./collection.ts";
import { type DeviceChange, DeviceLookup } from "./device-lookup.ts";
import { additionsOn, EncodedPage } from "./encoded-page.ts";
import { type DeviceHostCounts, hostCountsOf, withHostCounts } from "./host-counts.ts";
import { changesGraph, graphChangesOf, type LinkGraph } from "./link-graph.ts";
import {
  type Collections,
  isSpelled,
  NO_SPELLINGS,
  noCollections,
  RevisionState,
  type Spellings,
  withSpellings,
} from "./network-state.ts";
import { readAll } from "./read-all.ts";
import { graphOf } from "./view.ts";

/** The values by id; null if the entity did not exist. */
type ChangedValues = Map<string, string | null>;
type Changes = Readonly<Record<StoreKind, ChangedValues>>;

/** A state, and the number of bytes of memory that it needs besides the current one. */
export interface SizedState {
  readonly state: RevisionState;
  readonly bytes: number;
}

interface Base {
  readonly collections: Collections;
  readonly spellings: Spellings;
  readonly lookup: DeviceLookup;
  /** The host counts; undefined if they must be computed from the values. */
  readonly hostCounts: DeviceHostCounts | undefined;
  readonly graph: LinkGraph | undefined;
  readonly bytes: number;
}

/**
 * The batches that lead from `revision`, whose time is given, to the current state. With them a state is built without
 * reading the log, except for the time of the graph when that is needed.
 */
export interface LaterBatches {
  readonly time: number;
  readonly batches: readonly Batch[];
}

/** `revision` must be at least the log's oldest, and not after `current`. */
export function* historicalStateAt(
  current: RevisionState,
  log: Log,
  revision: number,
  later?: LaterBatches,
): Steps<SizedState> {
  if (later) {
    const changes = yield* readBack(later.batches);
    return yield* build(yield* baseOf(current), changes, log, revision, later.time);
  }
  const snapshot = log.snapshotAtOrBefore(revision);
  const time = log.timeOf(revision) ?? 0;
  const isNearCurrent = current.revision - revision <= revision - (snapshot?.revision ?? 0);
  const base = isNearCurrent ? yield* baseOf(current) : yield* decodeSnapshot(snapshot, current);
  const changes = isNearCurrent
    ? yield* readBack(readAll(log, revision, current.revision))
    : yield* readForward(readAll(log, snapshot?.revision ?? 0, revision));
  return yield* build(base, changes, log, revision, time);
}

function* build(base: Base, changes: Changes, log: Log, revision: number, time: number): Steps<SizedState> {
  let { bytes } = base;
  const collections = { ...base.collections };
  const existence: [kind: StoreKind, id: string, exists: boolean][] = [];
  for (const kind of STORE_KINDS) {
    const writes: Write[] = [];
    const pause = new Pause();
    let sizeChange = 0;
    for (const [id, after] of changes[kind]) {
      const existed = base.collections[kind].has(id);
      if (existed !== (after !== null)) existence.push([kind, id, after !== null]);
      sizeChange += Number(after !== null) - Number(existed);
      bytes += id.length + (after?.length ?? 0);
      writes.push({ id, after });
      if (pause.due(COST.key)) yield;
    }
    if (writes.length > 0) collections[kind] = yield* base.collections[kind].withWrites(writes, sizeChange);
  }
  // A historical state never changes, so every version is its revision.
  const versions = { ...forStoreKinds(() => revision), graph: revision };
  const { graph } = base;
  // The counts are not computed on demand from the current state, because that would keep its pages in memory.
  const hostCounts = base.hostCounts
    ? yield* withHostCounts(base.hostCounts, valueChanges(base.collections.hosts, changes.hosts))
    : () => hostCountsOf(collections.hosts);
  const state = new RevisionState({
    revision,
    time,
    versions,
    collections,
    spellings: yield* withSpellings(base.spellings, existence),
    lookup: yield* base.lookup.with(valueChanges(base.collections.devices, changes.devices)),
    hostCounts,
    graph: () => (graph ? changedGraph(graph, changes) : graphOf(collections)),
    graphTime: () => graphTimeAt(log, revision),
  });
  return { state, bytes };
}

function* baseOf(current: RevisionState): Steps<Base> {
  const { collections, spellings, lookup } = current;
  const hostCounts = yield* current.hostCounts();
  return { collections, spellings, lookup, hostCounts, graph: yield* current.linkGraph(), bytes: 0 };
}

/** Decodes the state of a snapshot. Pages that are also in the current state are shared with it. */
function* decodeSnapshot(snapshot: Snapshot | undefined, current: RevisionState): Steps<Base> {
  const collections: Record<StoreKind, Collection> = { ...noCollections() };
  let spellings = NO_SPELLINGS;
  let lookup = DeviceLookup.empty;
  let bytes = 0;
  for (const kind of STORE_KINDS) {
    const shared = new Map<number, EncodedPage>();
    for (const page of yield* current.pages(kind))
      if (page.storedId !== undefined) shared.set(page.storedId, page);
    const pages: EncodedPage[] = [];
    for (const record of snapshot?.pages[kind] ?? []) {
      let page = record.storedId === undefined ? undefined : shared.get(record.storedId);
      if (!page) {
        page = EncodedPage.decode(record.encode(), record.storedId);
        bytes += page.bytes.length;
        yield;
      }
      pages.push(page);
      spellings = yield* withSpellings(spellings, idsOf(kind, page));
    }
    if (kind === "devices") lookup = yield* lookup.with(additionsOn(pages));
    collections[kind] = Collection.of(pages);
    yield;
  }
  return { collections, spellings, lookup, hostCounts: undefined, graph: undefined, bytes };
}

function* valueChanges(base: Collection, changes: ChangedValues): Generator<DeviceChange> {
  for (const [id, after] of changes) yield { id, before: base.get(id) ?? null, after };
}

function* idsOf(
  kind: StoreKind,
  page: EncodedPage,
): Generator<[kind: StoreKind, id: string, exists: boolean]> {
  if (isSpelled(kind)) for (const id of page.ids()) yield [kind, id, true];
}

const noChanges = (): Changes => forStoreKinds(() => new Map());

/** The values that the changed entities had before the batches. */
function* readBack(batches: Paced<Batch>): Steps<Changes> {
  const changes = noChanges();
  yield* readEntries(batches, ({ kind, id, before }) => {
    if (!changes[kind].has(id)) changes[kind].set(id, before);
  });
  return changes;
}

/** The values that the changed entities have after the batches. */
function* readForward(batches: Paced<Batch>): Steps<Changes> {
  const changes = noChanges();
  yield* readEntries(batches, ({ kind, id, after }) => changes[kind].set(id, after));
  return changes;
}

function* readEntries(batches: Paced<Batch>, onEntry: (entry: LogEntry) => void): Steps<void> {
  const pause = new Pause();
  for (const batch of batches) {
    if (!batch) yield;
    for (const entry of batch?.entries ?? []) {
      onEntry(entry);
      if (pause.due(COST.key)) yield;
    }
  }
}

function changedGraph(graph: LinkGraph, { devices, links }: Changes): Steps<LinkGraph> {
  return graph.with(graphChangesOf(writesOf(devices), writesOf(links)));
}

function* writesOf(values: ChangedValues): Generator<Write> {
  for (const [id, after] of values) yield { id, after };
}

function* graphTimeAt(log: Log, revision: number): Steps<number> {
  const snapshot = log.snapshotAtOrBefore(revision);
  let last = snapshot?.graphTime ?? 0;
  for (const batch of log.read(snapshot?.revision ?? 0, revision)) {
    if (batch?.entries.some(changesGraph)) last = batch.time;
    yield;
  }
  return last;
}
