/**
 * From a record of the stream to what it tells. The form around an entity is checked here; the entity's own fields are
 * the service's promise (its OpenAPI document), and checking a million of them again would be paid by every reader.
 * Event names and resources that are not known are passed over: the interface may gain some.
 */
import { KINDS, type Kind } from "../model/ids.ts";
import { localError } from "./client-error.ts";
import type { EventRecord } from "./event-stream.ts";
import type { SyncedFacts, WatchChange, WatchSnapshot } from "./types.ts";

/** A change whose place in its revision is still open. */
export type HeldChange<K extends Kind> = WatchChange<K> & { readonly revision: number; last: boolean };

type Body = Readonly<Record<string, unknown>>;

/** Undefined when the record tells of something else. */
export function snapshotIn<K extends Kind>(
  { event, data }: EventRecord,
  kinds: readonly K[],
): WatchSnapshot<K> | undefined {
  if (event !== "snapshot") return undefined;
  const { resource, revision, value } = bodyOf(data);
  if (!kinds.some((kind) => kind === resource)) return undefined;
  const told = { type: event, resource, revision, value };
  if (isSnapshot<K>(told)) return told;
  throw localError("protocol", "the stream has a malformed snapshot record");
}

export function changeIn<K extends Kind>(
  { event, data }: EventRecord,
  kinds: readonly K[],
): HeldChange<K> | undefined {
  if (event !== "added" && event !== "updated" && event !== "removed") return undefined;
  const { resource, revision, time, value, changed } = bodyOf(data);
  if (!kinds.some((kind) => kind === resource)) return undefined;
  const fields = event === "updated" ? { changed } : {};
  const told = { type: event, resource, revision, time, ...fields, value, last: false };
  if (isChange<K>(told)) return told;
  throw localError("protocol", `the stream has a malformed ${event} record`);
}

const isSnapshot = <K extends Kind>(told: Body): told is Body & WatchSnapshot<K> =>
  Number.isSafeInteger(told.revision) && isObject(told.value);

const isChange = <K extends Kind>(told: Body): told is Body & HeldChange<K> =>
  Number.isSafeInteger(told.revision) &&
  typeof told.time === "number" &&
  isObject(told.value) &&
  (told.type !== "updated" || Array.isArray(told.changed));

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

export function revisionIn({ event, data }: EventRecord): number {
  const { revision } = bodyOf(data);
  if (typeof revision === "number" && Number.isSafeInteger(revision)) return revision;
  throw localError("protocol", `the stream's ${event} record has no revision`);
}

/** Undefined from a service that does not tell them. */
export function syncedFactsIn({ data }: EventRecord): SyncedFacts | undefined {
  const { time, graphTime, marks } = bodyOf(data);
  const facts = { time, graphTime, marks };
  return isSyncedFacts(facts) ? facts : undefined;
}

function isSyncedFacts(facts: Body): facts is Body & SyncedFacts {
  const { time, graphTime, marks } = facts;
  if (typeof time !== "number" || typeof graphTime !== "number" || !isObject(marks)) return false;
  const told: Body = { ...marks };
  return [...KINDS, "graph"].every((name) => typeof told[name] === "number");
}

/** Why the service ends the stream, in a word. */
export function reasonIn({ data }: EventRecord): string {
  const { reason } = bodyOf(data);
  return typeof reason === "string" ? reason : "unknown";
}

function bodyOf(data: string): Body {
  let body: unknown;
  try {
    body = JSON.parse(data);
  } catch (error) {
    throw localError("protocol", "the stream has a record that is not JSON", error);
  }
  if (isObject(body)) return { ...body };
  throw localError("protocol", "the stream has a record that is not an object");
}
