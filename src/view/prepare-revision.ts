/**
 * Builds the state after a batch, in steps, separately from the state that readers see. Publishing it then takes only a few
 * assignments, whatever the size of the batch.
 */
import { COST, Pause, type Steps } from "../lib/steps.ts";
import { type Batch, type LogEntry, STORE_KINDS, type StoreKind } from "../log/log.ts";
import { idKey, isKind, type Kind } from "../model/ids.ts";
import { withHostCounts } from "./host-counts.ts";
import { claimsKey, INTENDED, parseClaimsKey, type StoredClaims } from "./indexes.ts";
import { changesGraph, graphChangesOf, type LinkGraph } from "./link-graph.ts";
import { isSpelled, RevisionState, type StateParts, withSpellings } from "./network-state.ts";

export interface PreparedRevision {
  readonly parts: Omit<StateParts, "graph" | "graphTime" | "live">;
  readonly graph: LinkGraph;
  /** Whether the batch changes the topology, and so the time of the graph. */
  readonly changesGraph: boolean;
  readonly claimCounts: ClaimCounts;
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
  claimCounts: ClaimCounts,
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
  const spellings = yield* withSpellings(base.spellings, existenceChanges(byKind));
  const lookup = yield* base.lookup.with(byKind.get("devices")?.entries ?? []);
  const hostCounts = yield* withHostCounts(yield* base.hostCounts(), byKind.get("hosts")?.entries ?? []);
  const parts = { revision, time, versions, collections, spellings, lookup, hostCounts };
  return {
    parts,
    graph: yield* changedGraph(graph, byKind.get("devices")?.entries, byKind.get("links")?.entries),
    changesGraph: isGraphChanged,
    claimCounts: yield* updateClaimCounts(
      claimCounts,
      base,
      new RevisionState({ ...parts, graph, graphTime: 0 }),
      entries,
    ),
    changes: entries.length,
    bytes,
  };
}

function* existenceChanges(
  byKind: ReadonlyMap<StoreKind, KindChanges>,
): Generator<[kind: StoreKind, id: string, exists: boolean]> {
  for (const [kind, { entries }] of byKind) {
    if (!isSpelled(kind)) continue;
    for (const { id, before, after } of entries)
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

/** A number for each kind. */
type KindCounts = Readonly<Record<Kind, number>>;

/** Counts of the entities with stored claims. They are updated with each batch, because counting would read all claims. */
export interface ClaimCounts {
  readonly stored: KindCounts;
  /** Those that are claimed but held back, because a device they refer to is missing. */
  readonly heldBack: KindCounts;
}
const NONE: KindCounts = { devices: 0, ports: 0, links: 0, hosts: 0 };
export const NO_CLAIM_COUNTS: ClaimCounts = { stored: NONE, heldBack: NONE };

/** The part of a state that determines what is held back: its claims and the entities that it shows. */
type ClaimState = Pick<RevisionState, "get" | "has" | "spelledId" | "size">;

export function* countClaims(state: RevisionState): Steps<ClaimCounts> {
  const [stored, heldBack] = [{ ...NONE }, { ...NONE }];
  for (const page of yield* state.pages("claims")) {
    for (const id of page.ids()) {
      const parsed = parseClaimsKey(id);
      if (!parsed) continue;
      stored[parsed.kind]++;
      if (isHeldBack(state, parsed.kind, parsed.key)) heldBack[parsed.kind]++;
    }
    yield;
  }
  return { stored, heldBack };
}

/** The counts after a batch that leads from one state to the other. */
function* updateClaimCounts(
  counts: ClaimCounts,
  before: ClaimState,
  after: ClaimState,
  entries: readonly LogEntry[],
): Steps<ClaimCounts> {
  if (before.size("claims") === 0 && after.size("claims") === 0) return counts;
  const [stored, heldBack] = [{ ...counts.stored }, { ...counts.heldBack }];
  const pause = new Pause();
  for (const { kind, id, before: oldText, after: newText } of entries) {
    if (pause.due(COST.key)) yield;
    const claimed = kind === "claims" && parseClaimsKey(id);
    if (claimed) stored[claimed.kind] += Number(newText !== null) - Number(oldText !== null);
  }
  const seen = new Set<string>();
  for (const { kind, id, before: oldText, after: newText } of entries) {
    if (pause.due(COST.key, oldText?.length, newText?.length)) yield;
    if ((oldText === null) === (newText === null) && !(kind === "claims" && mayBePlan(oldText, newText)))
      continue;
    // In most networks no host has stored claims, however many devices have.
    if (isKind(kind) && counts.stored[kind] === 0 && stored[kind] === 0) continue;
    const parsed = isKind(kind) ? { kind, key: idKey(kind, id) } : kind === "claims" && parseClaimsKey(id);
    if (!parsed) continue;
    const storedKey = claimsKey(parsed.kind, parsed.key);
    if (seen.has(storedKey)) continue;
    seen.add(storedKey);
    heldBack[parsed.kind] +=
      Number(isHeldBack(after, parsed.kind, parsed.key)) -
      Number(isHeldBack(before, parsed.kind, parsed.key));
  }
  return { stored, heldBack };
}

/** Whether an entity is held back. An entity that is only intended is not observed, and so not held back. */
function isHeldBack(state: ClaimState, kind: Kind, key: string): boolean {
  const claimed = claimsKey(kind, key);
  // Few entities have stored claims.
  if (!state.has("claims", claimed) || state.has(kind, state.spelledId(kind, key))) return false;
  const text = state.get("claims", claimed) ?? "[]";
  return !mayBePlan(text) || parseClaims(text).some(([, , role]) => role !== INTENDED);
}

/** The text is not validated, because only a commit and the log produce it. */
const parseClaims = (text: string): StoredClaims => JSON.parse(text);

const INTENDED_TEXT = JSON.stringify(INTENDED);
/** Whether a claim of an intended source may be among the stored claims. */
const mayBePlan = (...texts: (string | null)[]): boolean =>
  texts.some((text) => text?.includes(INTENDED_TEXT));
