/**
 * The text of server-sent events. Changes of one revision are one block, and only the last record of a block carries
 * the id: a client that resumes by id has either seen all of a revision or none of it. A block that has no filter is
 * the same for everybody, and is made once however many read it.
 */
import type { Batch } from "../../log/log.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import type { Filter } from "../../query/filter.ts";
import type { NetworkState } from "../../view/view.ts";
import { type Change, changeFields, changeFor } from "../reads/changes.ts";

/**
 * Keeps the connection alive, and tells how far the reader has come (an id without data moves the place to resume from
 * and is no event): one whose filters let little through must not find its last event too old to resume from.
 */
export const heartbeat = (revision: number): string => `: heartbeat\nid: ${revision}\n\n`;
/** Sent first, so that the client learns at once that it is connected. */
export const GREETING = ": connected\n\n";

export const snapshotRecord = (resource: Kind, revision: number, value: string): string =>
  `event: snapshot\ndata: {"resource":"${resource}","revision":${revision},"value":${value}}\n\n`;

/** With when its parts last changed, so that a copy can answer with the same entity tags. */
export function syncedRecord({ revision, time, graphTime, marks }: NetworkState): string {
  const { claims: _, ...seen } = marks;
  return `id: ${revision}\nevent: synced\ndata: ${JSON.stringify({ revision, time, graphTime, marks: seen })}\n\n`;
}

export const overflowRecord = (revision: number): string =>
  `event: overflow\ndata: {"revision":${revision}}\n\n`;

export const closingRecord = (reason: "shutdown" | "credentials", retryMs: number): string =>
  `retry: ${retryMs}\nevent: closing\ndata: {"reason":"${reason}"}\n\n`;

export function changeRecords(changes: readonly Change[], revision: number, time: number): string {
  let text = "";
  for (const [i, change] of changes.entries()) {
    if (i === changes.length - 1) text += `id: ${revision}\n`;
    text += `event: ${change.event}\ndata: {${changeFields(change, revision, time)}}\n\n`;
  }
  return text;
}

const shared = new WeakMap<Batch, Map<string, string>>();

export function batchRecords(batch: Batch, scope: readonly Kind[], filters: readonly Filter[]): string {
  if (filters.length > 0) return made(batch, scope, filters);
  let texts = shared.get(batch);
  if (!texts) {
    texts = new Map();
    shared.set(batch, texts);
  }
  const name = scope.join();
  let text = texts.get(name);
  if (text === undefined) {
    text = made(batch, scope, filters);
    texts.set(name, text);
  }
  return text;
}

function made(
  { entries, revision, time }: Batch,
  scope: readonly Kind[],
  filters: readonly Filter[],
): string {
  const changes = entries.flatMap((entry) => changeFor(entry, scope, filters) ?? []);
  // Who follows everything is told of every revision, also of one that changed nothing to be seen: it is there now.
  const all = scope.length === KINDS.length && filters.length === 0;
  if (changes.length === 0 && all) return `id: ${revision}\n\n`;
  return changeRecords(changes, revision, time);
}
