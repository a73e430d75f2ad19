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

/** Returns undefined when the record is neither an entity of one of `kinds` nor a change of one. */
export function parseEntityRecord<K extends Kind>(
  { event, data }: EventRecord,
  kinds: readonly K[],
): WatchSnapshot<K> | PendingChange<K> | undefined {
  const isChange = event === "added" || event === "updated" || event === "removed";
  if (!isChange && event !== "snapshot") return undefined;
  const { resource, revision, time, value, changed } = parseBody(data);
  if (!kinds.some((kind) => kind === resource)) return undefined;
  const record = {
    type: event,
    resource,
    revision,
    ...(isChange && { time }),
    ...(event === "updated" && { changed }),
    value,
    ...(isChange && { last: false }),
  };
  if (isEntityRecord<K>(record)) return record;
  throw createLocalError("protocol", `the stream has a malformed ${event} record`);
}

const isEntityRecord = <K extends Kind>(body: Body): body is Body & (WatchSnapshot<K> | PendingChange<K>) =>
  Number.isSafeInteger(body.revision) &&
  isObject(body.value) &&
  (body.type === "snapshot" || typeof body.time === "number") &&
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

/** The fields of the body are not checked, unless `T` leaves them unknown. */
export function parseBody<T = Body>(data: string): T {
  let body: T;
  try {
    body = JSON.parse(data);
  } catch (error) {
    throw createLocalError("protocol", "the stream has a record that is not JSON", error);
  }
  if (isObject(body)) return body;
  throw createLocalError("protocol", "the stream has a record that is not an object");
}
