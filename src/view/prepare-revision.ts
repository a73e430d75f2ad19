/**
 * Builds the state after a batch, in steps, separately from the state that readers see. Publishing it then takes only a few
 * assignments, whatever the size of the batch.
 */
import { COST, Pause, type Steps } from "../lib/steps.ts";
import { type Batch, type LogEntry, STORE_KINDS, type StoreKind } from "../log/log.ts";
import { type HeldBack, updateHeldBack } from "./held-back.ts";
import { withHostCounts } from "./host-counts.ts";
import { changesGraph, graphChangesOf, type LinkGraph } from "./link-graph.ts";
import { RevisionState, type StateParts, withSpellings } from "./network-state.ts";

export interface PreparedRevision {
  readonly parts: Omit<StateParts, "graph" | "graphTime" | "live">;
  readonly graph: LinkGraph;
  /** Whether the batch changes the topology, and so the time of the graph. */
  readonly changesGraph: boolean;
  readonly heldBack: HeldBack;
  /** Number of changes in the batch. */
  readonly changes: number;
  /** Total length of the texts of the batch. */
  readonly bytes: number;
}

interface KindChanges {
  readonly entries: LogEntry[];
  sizeChange: number;
}

export function* prepareRevision(
  base: RevisionState,
  graph: LinkGraph,
  heldBack: HeldBack,
  { revision, time, entries }: Batch,
): Steps<PreparedRevision> {
  const byKind = new Map<StoreKind, KindChanges>();
  let bytes = 0;
  let isGraphChanged = false;
  const pause = new Pause();
  for (const entry of entries) {
    let changes = byKind.get(entry.kind);
    if (!changes) {
      changes = { entries: [], sizeChange: 0 };
      byKind.set(entry.kind, changes);
    }
    changes.entries.push(entry);
    changes.sizeChange += (entry.after === null ? 0 : 1) - (entry.before === null ? 0 : 1);
    bytes += (entry.before?.length ?? 0) + (entry.after?.length ?? 0);
    isGraphChanged ||= changesGraph(entry);
    if (pause.due(COST.key)) yield;
  }
  const collections = { ...base.collections };
  const versions = { ...base.versions };
  for (const kind of STORE_KINDS) {
    const changes = byKind.get(kind);
    if (!changes) continue;
    collections[kind] = yield* base.collections[kind].withWrites(changes.entries, changes.sizeChange);
    versions[kind] = revision;
  }
  if (isGraphChanged) versions.graph = revision;
  const spellings = yield* withSpellings(base.spellings, existenceChanges(entries));
  const lookup = yield* base.lookup.with(byKind.get("devices")?.entries ?? []);
  const hostCounts = yield* withHostCounts(yield* base.hostCounts(), byKind.get("hosts")?.entries ?? []);
  const parts = { revision, time, versions, collections, spellings, lookup, hostCounts };
  return {
    parts,
    graph: yield* changedGraph(graph, byKind.get("devices")?.entries, byKind.get("links")?.entries),
    changesGraph: isGraphChanged,
    heldBack: yield* updateHeldBack(
      heldBack,
      base,
      new RevisionState({ ...parts, graph, graphTime: 0 }),
      entries,
    ),
    changes: entries.length,
    bytes,
  };
}

function* existenceChanges(
  entries: readonly LogEntry[],
): Generator<[kind: StoreKind, id: string, exists: boolean]> {
  for (const { kind, id, before, after } of entries) {
    if ((before === null) !== (after === null)) yield [kind, id, after !== null];
  }
}

function* changedGraph(
  graph: LinkGraph,
  devices: readonly LogEntry[] = [],
  links: readonly LogEntry[] = [],
): Steps<LinkGraph> {
  if (devices.length + links.length === 0) return graph;
  return yield* graph.with(graphChangesOf(devices, links));
}
