/**
 * The types of responses and of watch events. The entities come from the model's schemas. The objects around them are
 * declared here; the client checks them in part where it parses them.
 */
import type { Device, Entities, Port } from "../model/entity.ts";
import { type Kind, portId } from "../model/ids.ts";

/** The collections that have a path of their own. */
export type CollectionName = Exclude<Kind, "ports">;
/** What can be watched: one collection, or everything. */
export type WatchTarget = CollectionName | "topology";
/** The kinds of entity in a stream of `T`. */
export type KindsOf<T extends WatchTarget> = T extends CollectionName ? T : Kind;

/** A revision, or a time as a `Date` or RFC 3339 text. */
export type RevisionOrTime = number | string | Date;

/** The value of a query parameter. A list of values matches any of them. */
export type QueryValue = string | number | boolean | Date | readonly (string | number | boolean)[];
/** Query parameters of the interface. Parameters with the value undefined are not sent. */
export type Query = Readonly<Record<string, QueryValue | undefined>>;

export interface ListResult<T> {
  readonly items: T[];
  /** The revision of the list. A watch with this revision as `since` continues without a gap. */
  readonly revision: number;
  readonly etag: string;
  /** The cursor of the next page when the query has `limit`; absent on the last page. */
  readonly next?: string;
}

/** A list that is read while it arrives. */
export interface StreamedList<T> {
  /** The revision of the whole list. */
  readonly revision: number;
  /** The entities, in batches. Leaving the loop closes the connection. */
  readonly batches: AsyncGenerator<T[], void, void>;
}

export type DeviceWithPorts = Device & { readonly ports: Port[] };

/** One object type for each kind in `K`, so that `resource` discriminates the type of `value`. */
type ForEachKind<K extends Kind, Fields> = {
  [R in K]: Fields & { readonly resource: R; readonly value: Entities[R] };
}[K];
type ChangedFields = { readonly changed: readonly string[] };

/** One change in the log. The `value` of `removed` is the last value of the entity. */
export type Change<K extends Kind = Kind> =
  | ForEachKind<K, { readonly event: "added" | "removed"; readonly revision: number; readonly time: number }>
  | ForEachKind<
      K,
      { readonly event: "updated"; readonly revision: number; readonly time: number } & ChangedFields
    >;

export interface ChangesResult<K extends Kind = Kind> {
  readonly changes: Change<K>[];
  /** The `since` of the next request. */
  readonly revision: number;
}

/** A link of a path. A link between a host and a device has the type EDGE, and one of its ends names the host. */
export interface PathLink {
  readonly src: PathLinkEnd;
  readonly dst: PathLinkEnd;
  readonly type: string;
  readonly state: string;
  /** The id of the link; a link of type EDGE has none. */
  readonly id?: string;
}
export interface PathLinkEnd {
  readonly port: string;
  readonly device?: string;
  readonly host?: string;
}

export interface PathsResult {
  readonly paths: { readonly cost: number; readonly links: readonly PathLink[] }[];
  /** The number of paths on all pages together. */
  readonly count: number;
  /** The cursor of the next page; absent on the last page. */
  readonly next?: string;
}

/** The result of a search, best hit first. */
export interface SearchResult {
  readonly hits: readonly ForEachKind<"devices" | "hosts", unknown>[];
  /** Whether `hits` has all that match. */
  readonly complete: boolean;
}

/** The number of hosts that are located at each device. */
export interface HostCounts {
  /** The number of hosts by the id of the device. */
  readonly counts: Readonly<Record<string, number>>;
  /** The number of hosts, each counted once. */
  readonly total: number;
  /** The revision of the counts. */
  readonly revision: number;
}

/** `time` is in epoch milliseconds. */
export interface RevisionTime {
  readonly revision: number;
  readonly time: number;
}

/** How one entity differs between two revisions. */
export type EntityDiff<K extends Kind = Kind> =
  | ForEachKind<K, { readonly event: "added" | "removed" }>
  | {
      [R in K]: ForEachKind<R, { readonly event: "updated"; readonly before: Entities[R] } & ChangedFields>;
    }[K];

export interface DiffResult<K extends Kind = Kind> {
  readonly from: RevisionTime;
  readonly to: RevisionTime;
  /** The differences, sorted by resource, then by id. */
  readonly changes: EntityDiff<K>[];
}

/** The number of changes in each of several equal intervals between two times (epoch milliseconds), and of faults among them. */
export interface Timeline {
  readonly from: number;
  readonly to: number;
  readonly counts: number[];
  /** Devices and links that became unavailable or inactive, or were removed. */
  readonly faults: number[];
  /** Devices and links that became available or active, or were added again. */
  readonly recoveries: number[];
  readonly oldest: RevisionTime;
  /** The revision at which every source had reported once, but not before `oldest`; the newest revision until then. */
  readonly loaded: RevisionTime;
  readonly newest: RevisionTime;
}

/**
 * The events of a watch, in this order: one `snapshot` for each entity, `synced`, then every change in order of
 * revision, each exactly once. A watch with `since` starts with the changes.
 *
 * `last` is true on the last change of a revision. After it, the applied events are a state that the network was in,
 * and a later watch may start at that revision.
 *
 * After `reset`, `snapshot`s and a `synced` follow, because the service no longer has the changes since the last
 * revision. What was received before is out of date; `synced` completes its replacement.
 */
export type WatchEvent<K extends Kind = Kind> =
  | WatchSnapshot<K>
  | { readonly type: "synced"; readonly revision: number; readonly facts?: SyncedMetadata }
  | { readonly type: "reset" }
  | WatchChange<K>;
/** What a copy of the state needs besides the entities to give the same responses as the service. */
export interface SyncedMetadata {
  /** The time of the revision, in epoch milliseconds. */
  readonly time: number;
  /** The time of the last change of the graph, in epoch milliseconds. */
  readonly graphTime: number;
  /** The revision that last changed each collection. `missing` is that of the entities that are intended, not observed. */
  readonly marks: Readonly<Record<Kind | "graph", number>> & { readonly missing?: number };
}
export type WatchSnapshot<K extends Kind = Kind> = ForEachKind<
  K,
  { readonly type: "snapshot"; readonly revision: number }
>;
export type WatchChange<K extends Kind = Kind> =
  | ForEachKind<K, { readonly type: "added" | "removed" } & RevisionFields>
  | ForEachKind<K, { readonly type: "updated" } & RevisionFields & ChangedFields>;
interface RevisionFields {
  readonly revision: number;
  /** The time of the revision, in epoch milliseconds. */
  readonly time: number;
  readonly last: boolean;
}

/** The state of a watch's connection. Only `closed` is final. */
export type ConnectionState =
  | { readonly state: "connecting" }
  | { readonly state: "connected" }
  | { readonly state: "reconnecting"; readonly afterMs: number; readonly reason: string }
  | { readonly state: "closed" };

/** The id of an entity in its collection. */
export function idOf(value: Entities[Kind]): string {
  return "element" in value ? portId(value.element, value.port) : value.id;
}
