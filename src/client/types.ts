/**
 * What the service answers, as types: what each path gives and what each stream carries. The entities come from the
 * model's schemas; the envelopes around them are stated here and checked in part where they are read.
 */
import type { Device, Entities, Port } from "../model/entity.ts";
import { type Kind, portId } from "../model/ids.ts";

/** The collections that have a path of their own. */
export type Resource = Exclude<Kind, "ports">;
/** What can be watched: one collection, or everything. */
export type Watched = Resource | "topology";
/** The kinds of entity that a stream of `W` carries. */
export type Carried<W extends Watched> = W extends Resource ? W : Kind;

/** A revision, or a time: a `Date` or RFC 3339 text. */
export type Moment = number | string | Date;

/** Several values of one parameter are any of them. */
export type QueryValue = string | number | boolean | Date | readonly (string | number | boolean)[];
/** Filters and other parameters, as the interface lists them; undefined is left out. */
export type Query = Readonly<Record<string, QueryValue | undefined>>;

export interface Listing<T> {
  readonly items: T[];
  /** The revision that this answer shows: where a stream may take over, with `since`. */
  readonly revision: number;
  readonly etag: string;
  /** With `limit`: the cursor of the next page; absent on the last. */
  readonly next?: string;
}

export type DeviceWithPorts = Device & { readonly ports: Port[] };

type Each<K extends Kind, Facts> = {
  [R in K]: Facts & { readonly resource: R; readonly value: Entities[R] };
}[K];
type Fields = { readonly changed: readonly string[] };

/** One change of the log. `removed` carries the last value. */
export type Change<K extends Kind = Kind> =
  | Each<K, { readonly event: "added" | "removed"; readonly revision: number; readonly time: number }>
  | Each<K, { readonly event: "updated"; readonly revision: number; readonly time: number } & Fields>;

export interface Changes<K extends Kind = Kind> {
  readonly changes: Change<K>[];
  /** Ask for what follows with this. */
  readonly revision: number;
}

/** `time` is in epoch milliseconds. */
export interface Mark {
  readonly revision: number;
  readonly time: number;
}

/** What one thing was and is, between two moments. */
export type Difference<K extends Kind = Kind> =
  | Each<K, { readonly event: "added" | "removed" }>
  | { [R in K]: Each<R, { readonly event: "updated"; readonly before: Entities[R] } & Fields> }[K];

export interface Differences<K extends Kind = Kind> {
  readonly from: Mark;
  readonly to: Mark;
  /** By resource, then id. */
  readonly changes: Difference<K>[];
}

/** How many changes fell into each of equal spans between two times (epoch milliseconds). */
export interface Timeline {
  readonly from: number;
  readonly to: number;
  readonly counts: number[];
  readonly oldest: Mark;
  readonly newest: Mark;
}

export interface SourceStatus {
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly since: number;
  readonly error?: string;
  readonly lastSyncedAt?: number;
  readonly restarts: number;
}
/** `degraded`: every source has been heard, but not every one of late. */
export interface Readiness {
  readonly status: "starting" | "ready" | "degraded" | "stopping";
  readonly revision: number;
  readonly sources: SourceStatus[];
}

/**
 * What a watch gives, in this order: what there is (`snapshot`, one for each thing), `synced`, then every change in
 * order of revision, each exactly once. A watch that begins at a given revision begins with the changes.
 *
 * `last` marks the last change of its revision: what was applied up to there is a state the network was in, and its
 * revision is one that a later watch may begin at.
 *
 * After `reset` everything comes anew (the service no longer knew what had changed meanwhile): `snapshot`s and a
 * `synced` follow. What was known before is out of date from there on, and wrong once `synced` is there.
 */
export type WatchEvent<K extends Kind = Kind> =
  | WatchSnapshot<K>
  | { readonly type: "synced"; readonly revision: number; readonly facts?: SyncedFacts }
  | { readonly type: "reset" }
  | WatchChange<K>;
/** What the service says of the state that was told: all that a copy needs to answer as it does. */
export interface SyncedFacts {
  /** Epoch milliseconds of the revision, and of the last change of the graph. */
  readonly time: number;
  readonly graphTime: number;
  /** The revision that last changed each collection. */
  readonly marks: Readonly<Record<Kind | "graph", number>>;
}
export type WatchSnapshot<K extends Kind = Kind> = Each<
  K,
  { readonly type: "snapshot"; readonly revision: number }
>;
export type WatchChange<K extends Kind = Kind> =
  | Each<K, { readonly type: "added" | "removed" } & ChangeFacts>
  | Each<K, { readonly type: "updated" } & ChangeFacts & Fields>;
interface ChangeFacts {
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly last: boolean;
}

/** How the connection of a watch is. Only `closed` is final. */
export type ConnectionState =
  | { readonly state: "connecting" }
  | { readonly state: "connected" }
  | { readonly state: "reconnecting"; readonly afterMs: number; readonly reason: string }
  | { readonly state: "closed" };

/** The id under which its collection knows an entity. */
export function idOf(value: Entities[Kind]): string {
  return "element" in value ? portId(value.element, value.port) : value.id;
}
