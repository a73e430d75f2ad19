/**
 * Changes as a query sees them: after a revision, folded to one change per entity, and between two states. The filters of
 * the query decide what a change is for its reader: an entity that begins to match is added, one that no longer matches is
 * removed, and one that never matched does not occur.
 */

import { COST, onlyPausing, Pause, type Steps, sortInSteps } from "../lib/steps.ts";
import type { Batch, LogEntry } from "../log/log.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { diffFields } from "../view/diff-fields.ts";
import type { History } from "../view/history.ts";
import { parseClaimsKey } from "../view/indexes.ts";
import { bindChangesAt, bindFilters, type ChangeFilters, changesNames } from "./bound-filters.ts";
import type { CountBytes } from "./count-bytes.ts";
import { type Filter, idCanMatch, matchesAll } from "./filter.ts";
import { type FilteredState, filterStateOrEmpty } from "./filtered-state.ts";
import { diffEntities, getEntity, selectEntities, type ValueDiff } from "./missing.ts";
import type { ParsedQuery } from "./query.ts";

export type ChangeEvent = "added" | "updated" | "removed";

export interface ResourceChange {
  readonly event: ChangeEvent;
  readonly resource: Kind;
  readonly id: string;
  /** The JSON of the entity; for `removed` the last one. */
  readonly value: string;
  /** The top-level fields that differ; empty unless the entity is updated. */
  readonly changed: readonly string[];
}

/** Memory of an entry of a map or set, besides its texts. */
const ENTRY_BYTES = 100;

/** A generator of items with pauses between them. */
type PacedGenerator<Item> = Generator<Item | undefined, void, void>;

/** A change with the revision that made it and the epoch milliseconds of that revision. */
export interface CommittedChange {
  readonly change: ResourceChange;
  readonly revision: number;
  readonly time: number;
}

/** The kinds whose changes a read covers: one list, or all of them for the topology. */
export const changeScope = (kind: Kind | undefined): readonly Kind[] => (kind ? [kind] : KINDS);

/** The parts of a query that decide which changes a reader sees. */
export type ChangeQuery = Pick<ParsedQuery, "filters" | "includesMissing">;

/**
 * The change that a reader with this query sees for an entry of the log; undefined when the entry matches neither before
 * nor after. In a batch, entities that are no longer missing come first and those that become missing come last, so an
 * entity that becomes missing or stops being missing is `removed`, then `added`.
 */
export function filterEntry(
  stored: LogEntry,
  scope: readonly Kind[],
  { filters, includesMissing }: ChangeQuery,
): ResourceChange | undefined {
  const entry = includesMissing ? asEntity(stored) : stored;
  const { id, before, after, changed } = entry;
  const resource = scope.find((kind) => kind === entry.kind);
  if (!resource || !idCanMatch(resource, id, filters)) return undefined;
  const matches = (json: string | null): json is string =>
    json !== null && matchesAll(resource, json, filters);
  if (matches(after)) {
    return matches(before)
      ? { event: "updated", resource, id, value: after, changed }
      : { event: "added", resource, id, value: after, changed: [] };
  }
  return matches(before) ? { event: "removed", resource, id, value: before, changed: [] } : undefined;
}

/** The entry of a missing entity as an entry of the entity's kind. */
function asEntity(entry: LogEntry): LogEntry {
  if (entry.kind !== "missing") return entry;
  const parsed = parseClaimsKey(entry.id);
  return parsed ? { ...entry, kind: parsed.kind, id: parsed.key } : entry;
}

/** A change and its position in its batch; earlier changes of the batch have smaller positions. */
export interface BatchChange {
  readonly change: ResourceChange;
  readonly position: number;
}

/**
 * The changes of a batch from a position on, for a reader whose filters are bound to the state before it. Returns the
 * filters for the next batch. Where a batch changes what a name means, entities begin or stop to match without a change of
 * their own; only then are the states before and after it read and compared.
 */
export function* changesInBatch(
  history: History,
  kind: Kind | undefined,
  query: ParsedQuery,
  { revision, entries }: Batch,
  bound: ChangeFilters,
  first = 0,
): Generator<BatchChange | undefined, ChangeFilters, void> {
  if (yield* changesNames(bound, entries)) {
    const after = yield* onlyPausing(history.stateAt(revision));
    const next = { ...bindFilters(query, after), named: bound.named };
    if (next.resolved !== bound.resolved) {
      const from = yield* onlyPausing(filterStateAt(history, query, revision - 1));
      const to = yield* onlyPausing(filterStateOrEmpty(after, query));
      let position = 0;
      for (const change of diffStates(from, to, kind)) {
        if (change === undefined) yield undefined;
        else if (position++ >= first) yield { change, position: position - 1 };
      }
      return next;
    }
  }
  const scope = changeScope(kind);
  const { includesMissing } = query;
  const pause = new Pause();
  for (let position = first; position < entries.length; position++) {
    const entry = entries[position];
    if (pause.due(COST.entity, entry?.before?.length, entry?.after?.length)) yield undefined;
    const change = entry && filterEntry(entry, scope, { filters: bound.filters, includesMissing });
    if (change) yield { change, position };
  }
  return bound;
}

function* filterStateAt(history: History, query: ParsedQuery, revision: number): Steps<FilteredState> {
  return yield* filterStateOrEmpty(yield* history.stateAt(revision), query);
}

/** All changes in (since, until], oldest first. */
export function* changesSince(
  history: History,
  kind: Kind | undefined,
  query: ParsedQuery,
  since: number,
  until: number,
): PacedGenerator<CommittedChange> {
  let bound = yield* onlyPausing(bindChangesAt(history, query, since));
  for (const batch of history.allBatches(since, until)) {
    yield undefined;
    if (batch === undefined) continue;
    const { revision, time } = batch;
    const changes = changesInBatch(history, kind, query, batch, bound);
    let next = changes.next();
    for (; !next.done; next = changes.next())
      yield next.value && { change: next.value.change, revision, time };
    bound = next.value;
  }
}

/** One change per entity, from its value at `since` to its value at `until`, in the order of the last changes. */
export function* foldedChangesSince(
  history: History,
  kind: Kind | undefined,
  query: ParsedQuery,
  since: number,
  until: number,
  count: CountBytes,
): PacedGenerator<CommittedChange> {
  const { filters, resolved } = yield* onlyPausing(bindChangesAt(history, query, since));
  if (resolved !== (yield* onlyPausing(bindChangesAt(history, query, until))).resolved) {
    const from = yield* onlyPausing(filterStateAt(history, query, since));
    const to = yield* onlyPausing(filterStateAt(history, query, until));
    const { revision, time } = to.state;
    for (const change of diffStates(from, to, kind, count)) yield change && { change, revision, time };
    return;
  }
  const scope = changeScope(kind);
  const folded = new Map<string, { entry: LogEntry; revision: number; time: number }>();
  const pause = new Pause();
  for (const batch of history.allBatches(since, until)) {
    yield undefined;
    if (batch === undefined) continue;
    const { entries, revision, time } = batch;
    for (const stored of entries) {
      if (pause.due(COST.entity, lengthOf(stored))) yield;
      const entry = query.includesMissing ? asEntity(stored) : stored;
      if (!scope.some((one) => one === entry.kind)) continue;
      const key = `${entry.kind} ${entry.id}`;
      const last = folded.get(key)?.entry;
      const first = last ?? entry;
      count(last ? textBytes(entry.after) - textBytes(last.after) : entryBytes(key, entry));
      folded.delete(key); // a map keeps the position of a key that is set again
      folded.set(key, { entry: { ...entry, before: first.before }, revision, time });
    }
  }
  for (const { entry, revision, time } of folded.values()) {
    if (pause.due(COST.entity, lengthOf(entry))) yield;
    const { before, after } = entry;
    if (before === after) continue;
    const changed = before !== null && after !== null ? differingFields(before, after) : [];
    const change = filterEntry({ ...entry, changed }, scope, {
      filters,
      includesMissing: query.includesMissing,
    });
    if (change) yield { change, revision, time };
  }
}

const textBytes = (text: string | null): number => text?.length ?? 0;

interface Texts {
  readonly before?: string | null | undefined;
  readonly after?: string | null | undefined;
}

const lengthOf = ({ before, after }: Texts): number => (before?.length ?? 0) + (after?.length ?? 0);

const entryBytes = (key: string, entry: LogEntry): number => ENTRY_BYTES + key.length + lengthOf(entry);

/** A change between two states. `before` is the JSON in the first state; undefined when the entity is added. */
export interface Difference extends ResourceChange {
  readonly before: string | undefined;
}

/**
 * The differences between two filtered states, by resource, then id. With `around` this is the only way to find changes: a
 * neighbourhood changes with the graph, so an entity can enter or leave it without a change of its own.
 */
export function* diffStates(
  from: FilteredState,
  to: FilteredState,
  kind: Kind | undefined,
  count: CountBytes = () => {},
): PacedGenerator<Difference> {
  // Additional pauses are needed, because handling a pair may take longer than finding it.
  const pause = new Pause();
  for (const resource of changeScope(kind)) {
    const filterBefore = createValueFilter(resource, from.filters(resource));
    const filterAfter = createValueFilter(resource, to.filters(resource));
    // Pages that both states share are skipped, but only if the filters are the same in both.
    const pairs = hasSameFilters(from, to)
      ? diffEntities(from, to, resource)
      : valuesInEither(from, to, resource, count);
    for (const pair of pairs) {
      if (pair === undefined || pause.due(COST.entity, lengthOf(pair))) yield;
      const before = filterBefore(pair?.before);
      const after = filterAfter(pair?.after);
      if (!pair || before === after) continue;
      const { id } = pair;
      if (after === undefined)
        yield { event: "removed", resource, id, value: before ?? "", changed: [], before };
      else if (before === undefined)
        yield { event: "added", resource, id, value: after, changed: [], before };
      else {
        const changed = differingFields(before, after);
        yield { event: "updated", resource, id, value: after, changed, before };
      }
    }
  }
}

const hasSameFilters = (from: FilteredState, to: FilteredState): boolean =>
  from.resolved === to.resolved && hasSameNeighbourhood(from, to);

const hasSameNeighbourhood = ({ neighbourhood: a }: FilteredState, { neighbourhood: b }: FilteredState) =>
  a === b || a?.symmetricDifference(b ?? new Set()).size === 0;

type ValueFilter = (json: string | undefined) => string | undefined;

const createValueFilter =
  (kind: Kind, filters: readonly Filter[]): ValueFilter =>
  (json) =>
    json !== undefined && matchesAll(kind, json, filters) ? json : undefined;

/** All entities that match in one of the states, in order of id. */
function* valuesInEither(
  from: FilteredState,
  to: FilteredState,
  kind: Kind,
  count: CountBytes,
): PacedGenerator<ValueDiff> {
  const ids = new Set<string>();
  // Only the entries are counted, because the texts of the ids belong to the pages.
  for (const filtered of [from, to]) {
    for (const item of selectEntities(filtered, kind)) {
      if (item === undefined) yield undefined;
      else if (!ids.has(item.id)) {
        ids.add(item.id);
        count(ENTRY_BYTES);
      }
    }
  }
  for (const id of yield* sortInSteps([...ids], (a, b) => (a < b ? -1 : 1))) {
    yield { id, before: getEntity(from, kind, id), after: getEntity(to, kind, id) };
  }
  count(-ids.size * ENTRY_BYTES);
}

const differingFields = (before: string, after: string): string[] =>
  diffFields(JSON.parse(before), JSON.parse(after));
