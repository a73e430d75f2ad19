/**
 * The text of server-sent events. All changes of one revision are rendered together, and only the last record carries
 * the id: a client that resumes by id has either all changes of a revision or none. Without filters the records of a
 * batch are the same for every subscriber, and are rendered once.
 */
import { runToEnd } from "../../lib/steps.ts";
import type { Batch } from "../../log/log.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import { type Change, filterEntry } from "../../query/changes.ts";
import type { Filter } from "../../query/filter.ts";
import type { NetworkState } from "../../view/view.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { changeIn, changeMembers } from "../reads/change-json.ts";

/**
 * Keeps the connection alive. An id without data is no event but moves the position to resume from: without it a
 * subscriber whose filters match little would resume from a revision that is no longer kept.
 */
export const heartbeatRecord = (revision: number): string => `: heartbeat\nid: ${revision}\n\n`;
/** Sent first, so that the client knows at once that it is connected. */
export const OPENING_COMMENT = ": connected\n\n";

export const snapshotRecord = (resource: Kind, revision: number, value: string): string =>
  `event: snapshot\ndata: {"resource":"${resource}","revision":${revision},"value":${value}}\n\n`;

/** Contains the revisions that last changed each collection, so that a replica computes the same entity tags. */
export function syncedRecord(state: NetworkState): string {
  const { revision, time, versions } = state;
  const graphTime = runToEnd(state.graphTime());
  const { claims: _, ...marks } = versions;
  const data = { revision, time, graphTime, marks };
  return `id: ${revision}\nevent: synced\ndata: ${JSON.stringify(data)}\n\n`;
}

export const overflowRecord = (revision: number): string =>
  `event: overflow\ndata: {"revision":${revision}}\n\n`;

export const closingRecord = (reason: "shutdown" | "credentials", retryMs: number): string =>
  `retry: ${retryMs}\nevent: closing\ndata: {"reason":"${reason}"}\n\n`;

export function changeRecords(
  committed: readonly Change[],
  revision: number,
  time: number,
  dialect: Dialect,
): string {
  const changes = committed.flatMap((change) => changeIn(dialect, change) ?? []);
  let text = "";
  for (const [i, change] of changes.entries()) {
    if (i === changes.length - 1) text += `id: ${revision}\n`;
    text += `event: ${change.event}\ndata: {${changeMembers(change, revision, time)}}\n\n`;
  }
  return text;
}

/** Unfiltered records of each batch, by dialect and scope. */
const unfilteredRecords = new WeakMap<Batch, Map<string, string>>();

export function batchRecords(
  batch: Batch,
  scope: readonly Kind[],
  filters: readonly Filter[],
  dialect: Dialect,
): string {
  if (filters.length > 0) return renderBatch(batch, scope, filters, dialect);
  let byScope = unfilteredRecords.get(batch);
  if (!byScope) {
    byScope = new Map();
    unfilteredRecords.set(batch, byScope);
  }
  const key = dialect.keyPrefix + scope.join();
  let text = byScope.get(key);
  if (text === undefined) {
    text = renderBatch(batch, scope, filters, dialect);
    byScope.set(key, text);
  }
  return text;
}

function renderBatch(
  { entries, revision, time }: Batch,
  scope: readonly Kind[],
  filters: readonly Filter[],
  dialect: Dialect,
): string {
  const changes = entries.flatMap((entry) => filterEntry(entry, scope, filters) ?? []);
  // A replica subscribes to everything and must reach every revision, also one that changed no public entity.
  const isEverything = scope.length === KINDS.length && filters.length === 0;
  if (changes.length === 0 && isEverything) return `id: ${revision}\n\n`;
  return changeRecords(changes, revision, time, dialect);
}
