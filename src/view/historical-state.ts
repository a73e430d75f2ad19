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
  type Snapshot,
  STORE_KINDS,
  type StoreKind,
} from "../log/log.ts";
import { Collection } from "./collection.ts";
import { DeviceLookup } from "./device-lookup.ts";
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

/** The value of an entity in the base and in the historical state; null if it does not exist there. */
interface ValueChange {
  readonly id: string;
  before: string | null;
  after: string | null;
}
type Changes = Readonly<Record<StoreKind, Map<string, ValueChange>>>;

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
    const changes = yield* readChanges(later.batches, true);
    return yield* build(yield* baseOf(current), changes, log, revision, later.time);
  }
  const snapshot = log.snapshotAtOrBefore(revision);
  const time = log.timeOf(revision) ?? 0;
  const isNearCurrent = current.revision - revision <= revision - (snapshot?.revision ?? 0);
  const base = isNearCurrent ? yield* baseOf(current) : yield* decodeSnapshot(snapshot, current);
  const changes = isNearCurrent
    ? yield* readChanges(readAll(log, revision, current.revision), true)
    : yield* readChanges(readAll(log, snapshot?.revision ?? 0, revision), false);
  return yield* build(base, changes, log, revision, time);
}

function* build(base: Base, changes: Changes, log: Log, revision: number, time: number): Steps<SizedState> {
  let { bytes } = base;
  const collections = { ...base.collections };
  const existence: [kind: StoreKind, id: string, exists: boolean][] = [];
  for (const kind of STORE_KINDS) {
    const pause = new Pause();
    let sizeChange = 0;
    for (const { id, before, after } of changes[kind].values()) {
      const [existed, exists] = [before !== null, after !== null];
      if (existed !== exists) existence.push([kind, id, exists]);
      sizeChange += Number(exists) - Number(existed);
      bytes += id.length + (before?.length ?? 0) + (after?.length ?? 0);
      if (pause.due(COST.item)) yield;
    }
    if (changes[kind].size > 0)
      collections[kind] = yield* base.collections[kind].withWrites(changes[kind].values(), sizeChange);
  }
  // A historical state never changes, so every version is its revision.
  const versions = { ...forStoreKinds(() => revision), graph: revision };
  const { graph, hostCounts } = base;
  const state = new RevisionState({
    revision,
    time,
    versions,
    collections,
    spellings: yield* withSpellings(base.spellings, existence),
    lookup: yield* base.lookup.with(changes.devices.values()),
    // Both are computed on demand, from the changes: the pages of the current state would stay in memory.
    hostCounts: () =>
      hostCounts ? withHostCounts(hostCounts, changes.hosts.values()) : hostCountsOf(collections.hosts),
    graph: () =>
      graph
        ? graph.with(graphChangesOf(changes.devices.values(), changes.links.values()))
        : graphOf(collections),
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

function* idsOf(
  kind: StoreKind,
  page: EncodedPage,
): Generator<[kind: StoreKind, id: string, exists: boolean]> {
  if (isSpelled(kind)) for (const id of page.ids()) yield [kind, id, true];
}

/** The changes from the base to the other end of the batches, which is before them if they are undone. */
function* readChanges(batches: Paced<Batch>, isUndone: boolean): Steps<Changes> {
  const changes: Changes = forStoreKinds(() => new Map());
  const pause = new Pause();
  for (const batch of batches) {
    if (!batch) yield;
    for (const { kind, id, before, after } of batch?.entries ?? []) {
      const change = changes[kind].get(id);
      if (!change)
        changes[kind].set(id, isUndone ? { id, before: after, after: before } : { id, before, after });
      else if (isUndone) change.before = after;
      else change.after = after;
      if (pause.due(COST.key)) yield;
    }
  }
  return changes;
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
