/**
 * The client: every read of the interface as a typed call, and `watch`. It holds neither connection nor state between
 * calls. What comes from outside is trusted as far as the service's OpenAPI document goes; the forms around it are
 * checked.
 *
 * This is the entry of the package, `gazetteer/client`, so it also gives out what callers need from beside it.
 */
import { type Clock, systemClock } from "../lib/clock.ts";
import type { Cluster, Device, Entities, Host, Link, Port, Topology } from "../model/entity.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { addressOf, type Credentials } from "./address.ts";
import { ClientError, localError } from "./client-error.ts";
import { LocalCache } from "./local-cache.ts";
import { createTransport, type Fetch, parameter } from "./transport.ts";
import {
  type Carried,
  type Change,
  type Changes,
  type ConnectionState,
  type DeviceWithPorts,
  type Difference,
  type Differences,
  idOf,
  type Listing,
  type Moment,
  type Query,
  type Readiness,
  type Resource,
  type SyncedFacts,
  type Timeline,
  type WatchChange,
  type WatchEvent,
  type Watched,
} from "./types.ts";
import { type WatchOptions, watch } from "./watch.ts";

export type {
  Change,
  Changes,
  Clock,
  Cluster,
  ConnectionState,
  Credentials,
  Device,
  DeviceWithPorts,
  Difference,
  Differences,
  Fetch,
  Host,
  Link,
  Listing,
  Moment,
  Port,
  Query,
  Readiness,
  Resource,
  SyncedFacts,
  Timeline,
  Topology,
  WatchChange,
  WatchEvent,
  Watched,
  WatchOptions,
};
export { ClientError, idOf, LocalCache };

export interface ClientOptions {
  /** `http://host:port`, or longer where the service stands below a path or under another prefix. */
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
  /** With the `etag` of an earlier answer: undefined when nothing changed since. */
  list<R extends Resource>(
    resource: R,
    query: Query,
    options: ReadOptions & { readonly ifNoneMatch: string },
  ): Promise<Listing<Entities[R]> | undefined>;
  /** A whole collection, or a page of it with `limit`. */
  list<R extends Resource>(resource: R, query?: Query, options?: ReadOptions): Promise<Listing<Entities[R]>>;
  /** Page by page, all of one revision; `limit` is the size of a page. */
  pages<R extends Resource>(
    resource: R,
    query?: Query,
    options?: ReadOptions,
  ): AsyncGenerator<Listing<Entities[R]>, void, void>;

  device(id: string, query?: Query, options?: ReadOptions): Promise<Device>;
  /** The device and its ports. */
  ports(deviceId: string, query?: Query, options?: ReadOptions): Promise<DeviceWithPorts>;
  host(id: string, query?: Query, options?: ReadOptions): Promise<Host>;
  topology(query?: Query, options?: ReadOptions): Promise<Topology>;
  clusters(query?: Query, options?: ReadOptions): Promise<Cluster[]>;
  clusterDevices(cluster: number, query?: Query, options?: ReadOptions): Promise<string[]>;
  clusterLinks(cluster: number, query?: Query, options?: ReadOptions): Promise<Link[]>;

  /** What changed after a revision; `fold: true` in the query gives only the last change of each thing. */
  changes<W extends Watched>(
    resource: W,
    since: number,
    query?: Query,
    options?: ReadOptions,
  ): Promise<Changes<Carried<W>>>;
  /** What appeared, disappeared and changed between two moments, the second of which may be left open for now. */
  diff<W extends Watched>(
    resource: W,
    from: Moment,
    to?: Moment,
    query?: Query,
    options?: ReadOptions,
  ): Promise<Differences<Carried<W>>>;
  /** Changes counted in `buckets` equal spans, of all that is kept or between two times. */
  timeline(
    buckets: number,
    span?: { readonly from?: string | Date; readonly to?: string | Date },
    options?: ReadOptions,
  ): Promise<Timeline>;

  /** What there is, then every change, for as long as it is iterated. See `WatchEvent`. */
  watch<W extends Watched>(
    resource: W,
    query?: Query,
    options?: WatchOptions,
  ): AsyncGenerator<WatchEvent<Carried<W>>, void, void>;

  /** Any other representation: `raw("topology", { format: "svg" })`. The response is a success. */
  raw(
    path: string,
    query?: Query,
    options?: ReadOptions & { readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Response>;
  /** Needs no credentials. */
  ready(options?: ReadOptions): Promise<Readiness>;
}

const DEFAULT_PAGE = 1000;

export function createClient(options: ClientOptions): Client {
  const { clock = systemClock, random = Math.random } = options;
  const address = addressOf(options.url, options.credentials);
  // Called through the global, because a browser's `fetch` refuses to be anybody's method.
  const common = { clock, fetch: options.fetch ?? ((url, init) => fetch(url, init)) };
  const api = createTransport({ ...common, base: address.interface, authorization: address.authorization });
  const open = createTransport({ ...common, base: address.service, authorization: undefined });

  /** The log that the revisions of the last list count in. */
  let seenLog: string | undefined;

  async function read<T>(path: string, query: Query = {}, options: ReadOptions = {}): Promise<T> {
    return parsed(await api.text(await api.send(path, query, options), options.signal));
  }

  function list<R extends Resource>(
    resource: R,
    query: Query,
    options: ReadOptions & { readonly ifNoneMatch: string },
  ): Promise<Listing<Entities[R]> | undefined>;
  function list<R extends Resource>(
    resource: R,
    query?: Query,
    options?: ReadOptions,
  ): Promise<Listing<Entities[R]>>;
  async function list<R extends Resource>(
    resource: R,
    query: Query = {},
    { signal, ifNoneMatch }: ReadOptions & { readonly ifNoneMatch?: string } = {},
  ): Promise<Listing<Entities[R]> | undefined> {
    const conditional =
      ifNoneMatch === undefined ? {} : { headers: { "if-none-match": ifNoneMatch }, accept: [304] };
    const response = await api.send(`/${resource}`, query, { signal, ...conditional });
    seenLog = logOf(response);
    if (response.status === 304) return undefined;
    return listing(resource, response, await api.text(response, signal));
  }

  async function* pages<R extends Resource>(
    resource: R,
    query: Query = {},
    options: ReadOptions = {},
  ): AsyncGenerator<Listing<Entities[R]>, void, void> {
    let page = await list(resource, { limit: DEFAULT_PAGE, ...query }, options);
    yield page;
    while (page.next !== undefined) {
      page = await list(resource, { limit: DEFAULT_PAGE, ...query, cursor: page.next }, options);
      yield page;
    }
  }

  /** A stream, and whether the revisions it counts in are still those of `log`, which it names anew. */
  async function connect(watched: Watched, query: Query, log: LogName, signal: AbortSignal | undefined) {
    const headers = { accept: "text/event-stream" };
    const response = await api.send(`/${watched}`, query, { headers, signal });
    const before = log.name;
    log.name = logOf(response);
    if (query.since !== undefined && before !== undefined && before !== log.name) {
      await response.body?.cancel();
      const detail = "the service lost its memory and counts revisions anew";
      throw new ClientError({ status: 410, code: "revision-expired", detail });
    }
    const type = response.headers.get("content-type") ?? "nothing";
    if (type.startsWith("text/event-stream")) return api.chunks(response, signal);
    await response.body?.cancel();
    throw localError("protocol", `the answer is ${type} and no stream of events; is that a Gazetteer?`);
  }

  return {
    list,
    pages,
    device: (id, query, options) => read(`/devices/${encodeURIComponent(id)}`, query, options),
    ports: (id, query, options) => read(`/devices/${encodeURIComponent(id)}/ports`, query, options),
    host: (id, query, options) => read(`/hosts/${encodeURIComponent(id)}`, query, options),
    topology: (query, options) => read("/topology", query, options),
    clusters: async (query, options) =>
      (await read<{ clusters: Cluster[] }>("/topology/clusters", query, options)).clusters,
    clusterDevices: async (n, query, options) =>
      (await read<{ devices: string[] }>(`/topology/clusters/${n}/devices`, query, options)).devices,
    clusterLinks: async (n, query, options) =>
      (await read<{ links: Link[] }>(`/topology/clusters/${n}/links`, query, options)).links,
    changes: (resource, since, query, options) => read(`/${resource}`, { ...query, since }, options),
    diff: (resource, from, to, query, options) =>
      read(
        `/${resource}`,
        { ...query, diff: `${parameter(from)}..${to === undefined ? "" : parameter(to)}` },
        options,
      ),
    timeline: (buckets, span, options) => read("/topology", { ...span, timeline: buckets }, options),
    watch: (resource, query = {}, options = {}) => {
      // Each watch remembers for itself: several may have to learn of a change, one after the other.
      const log: LogName = { name: seenLog };
      const connectSince = (since: number | undefined) =>
        connect(resource, { ...query, since }, log, options.signal);
      return watch({ kinds: carriedBy(resource), connect: connectSince, clock, random }, options);
    },
    raw: (path, query = {}, options = {}) => api.send(`/${path.replace(/^\/+/, "")}`, query, options),
    ready: async (options = {}) => {
      // "Not yet" is an answer to this question, and no failure.
      const response = await open.send("/readyz", {}, { ...options, accept: [503] });
      return parsed(await open.text(response, options.signal));
    },
  };
}

/** Revisions count in one log; a service that lost its data counts in another, from the beginning. */
interface LogName {
  name: string | undefined;
}
const logOf = (response: Response): string | undefined => response.headers.get("gazetteer-log") ?? undefined;

function carriedBy<W extends Watched>(watched: W): readonly Carried<W>[];
function carriedBy(watched: Watched): readonly Kind[] {
  return watched === "topology" ? KINDS : [watched];
}

function listing<R extends Resource>(resource: R, response: Response, text: string): Listing<Entities[R]> {
  const body = parsed<Readonly<Record<string, unknown>> | null>(text);
  const items = body?.[resource];
  const revision = response.headers.get("gazetteer-revision");
  if (!isListOf(resource, items) || revision === null) {
    throw localError(
      "protocol",
      `the answer is not a list of ${resource} with its revision; is that a Gazetteer?`,
    );
  }
  const etag = response.headers.get("etag") ?? "";
  const next = typeof body?.next === "string" ? { next: body.next } : {};
  return { items, revision: Number(revision), etag, ...next };
}

const isListOf = <R extends Resource>(_resource: R, items: unknown): items is Entities[R][] =>
  Array.isArray(items);

/** The body, as what the interface says it is. */
function parsed<T>(text: string): T {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw localError("protocol", "the answer is not JSON; is that a Gazetteer?", error);
  }
}
