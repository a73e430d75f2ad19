/**
 * The client: a typed method for every read of the interface, and `watch`. It keeps no connection between calls.
 * Entities are trusted as the service's OpenAPI document describes them; the objects around them are checked.
 *
 * This file is the entry of the package `netgazetteer-client`, so it also exports the types that callers need.
 */
import { type Clock, systemClock } from "../lib/clock.ts";
import type { ClusterOverview } from "../model/cluster-overview.ts";
import type { Cluster, Device, Entities, Host, Link, Port, Topology } from "../model/entity.ts";
import type { Explanation } from "../model/explanation.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import type { Alarm, Incident, IncidentSearch } from "../model/incident.ts";
import type { PathExplanation } from "../model/path-explanation.ts";
import type { Readiness } from "../model/readiness.ts";
import { type Credentials, parseAddress } from "./address.ts";
import { ClientError, createLocalError, logIdOf } from "./client-error.ts";
import { LocalCache } from "./local-cache.ts";
import { createTransport, discardBody, type Fetch, parameterText, type RequestOptions } from "./transport.ts";
import {
  type ChangesResult,
  type CollectionName,
  type DeviceWithPorts,
  type DiffResult,
  type HostCounts,
  idOf,
  type KindsOf,
  type ListResult,
  type PathsResult,
  type Query,
  type RevisionOrTime,
  type SearchResult,
  type StreamedList,
  type Timeline,
  type WatchEvent,
  type WatchTarget,
} from "./types.ts";
import { type WatchOptions, watch } from "./watch.ts";
import { type ProblemsResult, ProblemsState, type WatchedProblems } from "./watch-problems.ts";
import { WatchState } from "./watch-state.ts";

/*
 * NDJSON is parsed while it arrives, some lines at a time: parsing a list of tens of megabytes as one JSON text would
 * block a page for a second and hold the list in memory twice.
 */

/** The number of lines that are parsed at a time. Parsing them takes a few milliseconds. */
const LINES_PER_BATCH = 200;

/** `T` is the type that the interface guarantees for each line; it is not checked. */
export async function* readLines<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T[], void, void> {
  const decoder = new TextDecoder();
  /** The beginning of the line whose end has not arrived. */
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (let at = 0; at < lines.length; at += LINES_PER_BATCH)
      yield lines.slice(at, at + LINES_PER_BATCH).map(parseLine<T>);
  }
  if (rest !== "") yield [parseLine<T>(rest)];
}

function parseLine<T>(line: string): T {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw createLocalError("protocol", "a line of the response is not JSON", error);
  }
}

export type * from "./types.ts";
export type {
  Alarm,
  Clock,
  Cluster,
  Credentials,
  Device,
  Explanation,
  Fetch,
  Host,
  Incident,
  IncidentSearch,
  Link,
  PathExplanation,
  Port,
  ProblemsResult,
  Readiness,
  Topology,
  WatchedProblems,
  WatchOptions,
};
export { ClientError, idOf, LocalCache };

export interface ClientOptions {
  /** `http://host:port`, with a path when the service is below one or has another prefix. */
  readonly url: string | URL;
  readonly credentials?: Credentials | undefined;
  readonly fetch?: Fetch | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Client {
  /** `ifNoneMatch` is the `etag` of an earlier result. Resolves to undefined when nothing changed since that result. */
  list<C extends CollectionName>(
    collection: C,
    query: Query,
    options: ReadOptions & { readonly ifNoneMatch: string },
  ): Promise<ListResult<Entities[C]> | undefined>;
  /** A whole collection, or a page of it with `limit`. */
  list<C extends CollectionName>(
    collection: C,
    query?: Query,
    options?: ReadOptions,
  ): Promise<ListResult<Entities[C]>>;
  /** All pages of a collection, all of the same revision; `limit` is the size of a page. */
  pages<C extends CollectionName>(
    collection: C,
    query?: Query,
    options?: ReadOptions,
  ): AsyncGenerator<ListResult<Entities[C]>, void, void>;
  /** A whole collection, read while it arrives, so that a long one is not parsed in one piece and not held twice. */
  stream<C extends CollectionName>(
    collection: C,
    query?: Query,
    options?: ReadOptions,
  ): Promise<StreamedList<Entities[C]>>;

  device(id: string, query?: Query, options?: ReadOptions): Promise<Device>;
  /** The device and its ports. */
  ports(deviceId: string, query?: Query, options?: ReadOptions): Promise<DeviceWithPorts>;
  host(id: string, query?: Query, options?: ReadOptions): Promise<Host>;
  link(id: string, query?: Query, options?: ReadOptions): Promise<Link>;
  /** What each source claims about one entity, and why each field has its value. The id of a port is `DEVICE/PORT`. */
  explain(kind: Kind, id: string, query?: Query, options?: ReadOptions): Promise<Explanation>;
  /** The number of hosts at each device. The query has the filters of a list of hosts. */
  hostCounts(query?: Query, options?: ReadOptions): Promise<HostCounts>;
  /** Finds devices and hosts by the beginnings of words, an address or a CIDR block; the best hit is first. */
  search(text: string, query?: Query, options?: ReadOptions): Promise<SearchResult>;
  topology(query?: Query, options?: ReadOptions): Promise<Topology>;
  clusters(query?: Query, options?: ReadOptions): Promise<Cluster[]>;
  /** The problems of the network, worst first; with `limit`, a page of them. */
  problems(query?: Query, options?: ReadOptions): Promise<ProblemsResult>;
  /** The list of problems, yielded again whenever it changes, for as long as the caller iterates. */
  watchProblems(query?: Query, options?: WatchOptions): AsyncGenerator<WatchedProblems, void, void>;
  clusterDevices(cluster: number, query?: Query, options?: ReadOptions): Promise<string[]>;
  clusterLinks(cluster: number, query?: Query, options?: ReadOptions): Promise<Link[]>;

  /** The shortest paths between two devices or hosts, given by id. `limit` and `cursor` select a page, as in a list. */
  paths(src: string, dst: string, query?: Query, options?: ReadOptions): Promise<PathsResult>;
  /** The number of shortest paths and the devices and links that they use, or the reason why there is none. */
  explainPaths(src: string, dst: string, query?: Query, options?: ReadOptions): Promise<PathExplanation>;

  /** The changes after a revision. With `fold: true` in the query, only the last change of each entity. */
  changes<T extends WatchTarget>(
    target: T,
    since: number,
    query?: Query,
    options?: ReadOptions,
  ): Promise<ChangesResult<KindsOf<T>>>;
  /** What was added, removed and updated between two revisions or times. `to` defaults to now. */
  diff<T extends WatchTarget>(
    target: T,
    from: RevisionOrTime,
    to?: RevisionOrTime,
    query?: Query,
    options?: ReadOptions,
  ): Promise<DiffResult<KindsOf<T>>>;
  /** The number of changes in each of `buckets` equal intervals of the whole history, or of the time between two times. */
  timeline(
    buckets: number,
    interval?: { readonly from?: string | Date; readonly to?: string | Date },
    options?: ReadOptions,
  ): Promise<Timeline>;

  /** The nearest incident before or after a revision or time. `at` defaults to now. */
  incident(
    direction: "previous" | "next",
    at?: RevisionOrTime,
    options?: ReadOptions,
  ): Promise<IncidentSearch>;

  /** Yields all entities, then every change, for as long as the caller iterates. See `WatchEvent`. */
  watch<T extends WatchTarget>(
    target: T,
    query?: Query,
    options?: WatchOptions,
  ): AsyncGenerator<WatchEvent<KindsOf<T>>, void, void>;

  /** Any representation: `raw("topology", { format: "svg" })`. Rejects when the status is not a success. */
  raw(
    path: string,
    query?: Query,
    options?: ReadOptions & { readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Response>;
  /** The readiness of the service. The request needs no credentials; with them the response has more fields. */
  ready(options?: ReadOptions): Promise<Readiness>;
  /** The nodes, leases and NATS stream of the cluster. A service that is a single node has no `name` in it. */
  cluster(options?: ReadOptions): Promise<ClusterOverview>;
}

const DEFAULT_PAGE_SIZE = 1000;

export function createClient(options: ClientOptions): Client {
  const { clock = systemClock, random = Math.random } = options;
  const { apiUrl, serviceUrl, authorization } = parseAddress(options.url, options.credentials);
  // `fetch` is wrapped, because a browser's `fetch` throws when it is called as a method of another object.
  const common = { clock, fetch: options.fetch ?? ((url, init) => fetch(url, init)) };
  const api = createTransport({ ...common, base: apiUrl, authorization });
  const service = createTransport({ ...common, base: serviceUrl, authorization });

  /** The log of the last read. A watch that starts at the revision of that read compares it to detect a new log. */
  let lastLogId: string | undefined;

  async function send(path: string, query: Query, options?: RequestOptions): Promise<Response> {
    const response = await api.send(path, query, options);
    lastLogId = logIdOf(response) ?? lastLogId;
    return response;
  }

  async function read<T>(path: string, query: Query = {}, options: ReadOptions = {}): Promise<T> {
    return parseJson(await api.readText(await send(path, query, options), options.signal));
  }

  function list<C extends CollectionName>(
    collection: C,
    query: Query,
    options: ReadOptions & { readonly ifNoneMatch: string },
  ): Promise<ListResult<Entities[C]> | undefined>;
  function list<C extends CollectionName>(
    collection: C,
    query?: Query,
    options?: ReadOptions,
  ): Promise<ListResult<Entities[C]>>;
  async function list<C extends CollectionName>(
    collection: C,
    query: Query = {},
    { signal, ifNoneMatch }: ReadOptions & { readonly ifNoneMatch?: string } = {},
  ): Promise<ListResult<Entities[C]> | undefined> {
    const conditional: RequestOptions =
      ifNoneMatch === undefined ? {} : { headers: { "if-none-match": ifNoneMatch }, acceptedStatuses: [304] };
    const response = await send(`/${collection}`, query, { signal, ...conditional });
    if (response.status === 304) return undefined;
    return parseList(collection, response, await api.readText(response, signal));
  }

  async function* pages<C extends CollectionName>(
    collection: C,
    query: Query = {},
    options: ReadOptions = {},
  ): AsyncGenerator<ListResult<Entities[C]>, void, void> {
    let page = await list(collection, { limit: DEFAULT_PAGE_SIZE, ...query }, options);
    yield page;
    while (page.next !== undefined) {
      page = await list(collection, { limit: DEFAULT_PAGE_SIZE, ...query, cursor: page.next }, options);
      yield page;
    }
  }

  async function stream<C extends CollectionName>(
    collection: C,
    query: Query = {},
    { signal }: ReadOptions = {},
  ): Promise<StreamedList<Entities[C]>> {
    const response = await send(`/${collection}`, { ...query, format: "ndjson" }, { signal });
    const revision = response.headers.get("gazetteer-revision");
    if (revision === null) throw createLocalError("protocol", "the list has no revision");
    return { revision: Number(revision), batches: readLines(api.readChunks(response, signal)) };
  }

  /**
   * Opens a stream and stores its log in `log`. Fails with 410 when `since` is a revision of another log. The service may
   * also respond with an error because it does not have that revision yet; that response names the log of the service.
   */
  async function openStream(
    target: WatchTarget | "topology/problems",
    query: Query,
    log: LogReference,
    signal: AbortSignal | undefined,
  ): Promise<AsyncGenerator<Uint8Array, void, void>> {
    const headers = { accept: "text/event-stream" };
    const isOther = (id: string | undefined) =>
      query.since !== undefined && log.id !== undefined && log.id !== id;
    const response = await api.send(`/${target}`, query, { headers, signal }).catch((error: unknown) => {
      if (!(error instanceof ClientError) || error.logId === undefined || !isOther(error.logId)) throw error;
      throw otherLog(log, error.logId);
    });
    const logId = logIdOf(response);
    if (isOther(logId)) {
      discardBody(response);
      throw otherLog(log, logId);
    }
    log.id = logId;
    const type = response.headers.get("content-type") ?? "of no content type";
    if (type.startsWith("text/event-stream")) return api.readChunks(response, signal);
    discardBody(response);
    const detail = `the response is ${type}, not an event stream; is this a Gazetteer service?`;
    throw createLocalError("protocol", detail);
  }

  return {
    list,
    pages,
    stream,
    device: (id, query, options) => read(`/devices/${encodeURIComponent(id)}`, query, options),
    ports: (id, query, options) => read(`/devices/${encodeURIComponent(id)}/ports`, query, options),
    host: (id, query, options) => read(`/hosts/${encodeURIComponent(id)}`, query, options),
    link: (id, query, options) => read(`/links/${encodeURIComponent(id)}`, query, options),
    explain: (kind, id, query, options) => read(entityPath(kind, id), { ...query, explain: true }, options),
    hostCounts: async (query = {}, options = {}) => {
      const response = await send("/hosts", { ...query, count: "device" }, options);
      const body = parseJson<Omit<HostCounts, "revision">>(await api.readText(response, options.signal));
      return { ...body, revision: Number(response.headers.get("gazetteer-revision")) };
    },
    search: (text, query, options) => read("/topology/search", { ...query, q: text }, options),
    topology: (query, options) => read("/topology", query, options),
    problems: (query, options) => read("/topology/problems", query, options),
    watchProblems: (query = {}, options = {}) => {
      const connect = () => openStream("topology/problems", query, { id: undefined }, options.signal);
      return watch(new ProblemsState(), { connect, clock, random }, options);
    },
    clusters: async (query, options) =>
      (await read<{ clusters: Cluster[] }>("/topology/clusters", query, options)).clusters,
    clusterDevices: async (n, query, options) =>
      (await read<{ devices: string[] }>(`/topology/clusters/${n}/devices`, query, options)).devices,
    clusterLinks: async (n, query, options) =>
      (await read<{ links: Link[] }>(`/topology/clusters/${n}/links`, query, options)).links,
    paths: async (src, dst, query = {}, options = {}) => {
      const response = await send(pathsPath(src, dst), query, options);
      const count = Number(response.headers.get("gazetteer-paths") ?? 0);
      const { paths, next } = parseJson<PathsResult>(await api.readText(response, options.signal));
      return { paths, count, ...(next !== undefined && { next }) };
    },
    explainPaths: (src, dst, query, options) =>
      read(pathsPath(src, dst), { ...query, explain: true }, options),
    changes: (target, since, query, options) => read(`/${target}`, { ...query, since }, options),
    diff: (target, from, to, query, options) =>
      read(
        `/${target}`,
        { ...query, diff: `${parameterText(from)}..${to === undefined ? "" : parameterText(to)}` },
        options,
      ),
    timeline: (buckets, interval, options) => read("/topology", { ...interval, timeline: buckets }, options),
    incident: (direction, at, options) => read("/topology", { incident: direction, at }, options),
    watch: (target, query = {}, options = {}) => {
      // Each watch has its own reference, because every watch must detect a new log, not only the first that reconnects.
      const log: LogReference = { id: lastLogId };
      const connect = (since: number | undefined) =>
        openStream(target, { ...query, since }, log, options.signal);
      const state = new WatchState(kindsOf(target), options.since);
      return watch(state, { connect, clock, random }, options);
    },
    raw: (path, query = {}, options = {}) => send(`/${path.replace(/^\/+/, "")}`, query, options),
    cluster: async (options = {}) => {
      const response = await service.send("/cluster", {}, options);
      return parseJson(await service.readText(response, options.signal));
    },
    ready: async (options = {}) => {
      // A response with status 503 has the same body: it means that the service is not ready, not that the request failed.
      const response = await service.send("/readyz", {}, { ...options, acceptedStatuses: [503] });
      const readiness = parseJson<Readiness>(await service.readText(response, options.signal));
      lastLogId = readiness.logId ?? lastLogId;
      return readiness;
    },
  };
}

/** The log that revisions belong to. A service that lost its data has a new log with another id. */
interface LogReference {
  id: string | undefined;
}

function otherLog(log: LogReference, id: string | undefined): ClientError {
  log.id = id;
  const detail = "the service has a new log, whose revisions mean other changes";
  return new ClientError({ status: 410, code: "revision-expired", detail });
}

function kindsOf<T extends WatchTarget>(target: T): readonly KindsOf<T>[];
function kindsOf(target: WatchTarget): readonly Kind[] {
  return target === "topology" ? KINDS : [target];
}

const pathsPath = (src: string, dst: string): string =>
  `/paths/${encodeURIComponent(src)}/${encodeURIComponent(dst)}`;

function entityPath(kind: Kind, id: string): string {
  if (kind !== "ports") return `/${kind}/${encodeURIComponent(id)}`;
  // The id of a device may contain a slash, the number of a port cannot.
  const slash = id.lastIndexOf("/");
  return `/devices/${encodeURIComponent(id.slice(0, slash))}/ports/${encodeURIComponent(id.slice(slash + 1))}`;
}

function parseList<C extends CollectionName>(
  collection: C,
  response: Response,
  text: string,
): ListResult<Entities[C]> {
  const body = parseJson<Readonly<Record<string, unknown>> | null>(text);
  const items = body?.[collection];
  const revision = response.headers.get("gazetteer-revision");
  if (!isListOf(collection, items) || revision === null) {
    const detail = `the response is not a list of ${collection} with its revision; is this a Gazetteer service?`;
    throw createLocalError("protocol", detail);
  }
  const etag = response.headers.get("etag") ?? "";
  const next = typeof body?.next === "string" ? { next: body.next } : {};
  return { items, revision: Number(revision), etag, ...next };
}

const isListOf = <C extends CollectionName>(_collection: C, items: unknown): items is Entities[C][] =>
  Array.isArray(items);

/** `T` is the type that the interface guarantees; it is not checked. */
function parseJson<T>(text: string): T {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw createLocalError("protocol", "the response is not JSON; is this a Gazetteer service?", error);
  }
}
