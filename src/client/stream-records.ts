/**
 * Parses the records of a stream into watch events. The object around an entity is checked here. The fields of the
 * entity are not: the service's OpenAPI document guarantees them, and checking up to a million entities again would
 * cost every client. Unknown event names and resources are skipped, because later versions may add some.
 */
import { KINDS, type Kind } from "../model/ids.ts";
import { createLocalError } from "./client-error.ts";
import type { EventRecord } from "./event-stream.ts";
import type { SyncedMetadata, WatchChange, WatchSnapshot } from "./types.ts";

/** A change of a revision whose end has not been received, so `last` may still change. */
export type PendingChange<K extends Kind> = WatchChange<K> & { readonly revision: number; last: boolean };

type Body = Readonly<Record<string, unknown>>;

/** Returns undefined when the record is not a snapshot record of one of `kinds`. */
export function parseSnapshot<K extends Kind>(
  { event, data }: EventRecord,
  kinds: readonly K[],
): WatchSnapshot<K> | undefined {
  if (event !== "snapshot") return undefined;
  const { resource, revision, value } = parseBody(data);
  if (!kinds.some((kind) => kind === resource)) return undefined;
  const snapshot = { type: event, resource, revision, value };
  if (isSnapshot<K>(snapshot)) return snapshot;
  throw createLocalError("protocol", "the stream has a malformed snapshot record");
}

/** Returns undefined when the record is not a change record of one of `kinds`. */
export function parseChange<K extends Kind>(
  { event, data }: EventRecord,
  kinds: readonly K[],
): PendingChange<K> | undefined {
  if (event !== "added" && event !== "updated" && event !== "removed") return undefined;
  const { resource, revision, time, value, changed } = parseBody(data);
  if (!kinds.some((kind) => kind === resource)) return undefined;
  const changedFields = event === "updated" ? { changed } : {};
  const change = { type: event, resource, revision, time, ...changedFields, value, last: false };
  if (isChange<K>(change)) return change;
  throw createLocalError("protocol", `the stream has a malformed ${event} record`);
}

const isSnapshot = <K extends Kind>(body: Body): body is Body & WatchSnapshot<K> =>
  Number.isSafeInteger(body.revision) && isObject(body.value);

const isChange = <K extends Kind>(body: Body): body is Body & PendingChange<K> =>
  Number.isSafeInteger(body.revision) &&
  typeof body.time === "number" &&
  isObject(body.value) &&
  (body.type !== "updated" || Array.isArray(body.changed));

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

export function parseRevision({ event, data }: EventRecord): number {
  const { revision } = parseBody(data);
  if (typeof revision === "number" && Number.isSafeInteger(revision)) return revision;
  throw createLocalError("protocol", `the stream's ${event} record has no revision`);
}

/** Returns undefined when the service does not send the metadata. */
export function parseSyncedMetadata({ data }: EventRecord): SyncedMetadata | undefined {
  const { time, graphTime, marks } = parseBody(data);
  const metadata = { time, graphTime, marks };
  return isSyncedMetadata(metadata) ? metadata : undefined;
}

function isSyncedMetadata(body: Body): body is Body & SyncedMetadata {
  const { time, graphTime, marks } = body;
  if (typeof time !== "number" || typeof graphTime !== "number" || !isObject(marks)) return false;
  const revisions: Body = { ...marks };
  return [...KINDS, "graph"].every((name) => typeof revisions[name] === "number");
}

export function parseClosingReason({ data }: EventRecord): string {
  const { reason } = parseBody(data);
  return typeof reason === "string" ? reason : "unknown";
}

function parseBody(data: string): Body {
  let body: unknown;
  try {
    body = JSON.parse(data);
  } catch (error) {
    throw createLocalError("protocol", "the stream has a record that is not JSON", error);
  }
  if (isObject(body)) return { ...body };
  throw createLocalError("protocol", "the stream has a record that is not an object");
}
