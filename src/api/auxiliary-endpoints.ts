/**
 * The paths outside the versioned interface: health, metrics, the cluster, the OpenAPI document, the documentation, the web page and
 * the settings of its map; under the alias `onos` the state of the service in ONOS's words.
 * Only the health endpoints need no credentials, so that a probe needs no password.
 */
import type { Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import type { Clock } from "../lib/clock.ts";
import { quote } from "../lib/error-text.ts";
import type { CancelSignal } from "../lib/scheduler.ts";
import type { Steps } from "../lib/steps.ts";
import type { ClusterOverview } from "../model/cluster-overview.ts";
import type { SourceReport } from "../model/source-status.ts";
import { topologyOf } from "../view/view.ts";
import type { ClusterStatus } from "./cluster-status.ts";
import { isMapPath, MapEndpoints } from "./endpoints/map.ts";
import type { ReadContext } from "./endpoints/read-context.ts";
import { unknownPath } from "./endpoints/routing.ts";
import type { ForwardMetrics } from "./forwarding/forward-counters.ts";
import { FORWARDED_PREFIX } from "./forwarding/forward-path.ts";
import { livenessResponse, readinessResponse } from "./health.ts";
import type { MapSource } from "./map-source.ts";
import { isReadMethod, methodNotAllowed } from "./methods.ts";
import { type ConfigReloadMetrics, metricsResponse, type ReaderMetrics } from "./metrics/metrics.ts";
import type { ProcessCounters } from "./metrics/process-counters.ts";
import { WRITE_ADVICE } from "./onos/missing-resources.ts";
import { isInterfacePath, type Prefixes } from "./onos/prefixes.ts";
import {
  clusterNode,
  nameOfRun,
  type OnosStatusPath,
  ownNode,
  parseOnosStatusPath,
  systemInfo,
} from "./onos/status.ts";
import { openapiText } from "./openapi/document.ts";
import { addHeaders } from "./response/add-headers.ts";
import { JSON_TYPE } from "./response/media-types.ts";
import { Problem } from "./response/problem.ts";
import { loadDocs } from "./site/load-docs.ts";
import { StaticFile } from "./site/static-file.ts";
import { createStaticSite, type StaticSite } from "./site/static-site.ts";

export interface AuxiliaryEndpointsOptions {
  readonly version: string;
  /** Path prefixes that mean the same as `controller`; `onos` in the dialect of ONOS. */
  readonly aliases: readonly string[];
  /** Where the process listens. The server knows it. */
  readonly address?: (() => { readonly host: string; readonly port: number }) | undefined;
  readonly limits: { readonly pageLimit: number };
  readonly context: ReadContext;
  readonly sources: () => readonly SourceReport[];
  /** Source name → records that were not valid. */
  readonly rejectedRecords: () => Readonly<Record<string, number>>;
  readonly site: StaticSite | undefined;
  /** In the main process. */
  readonly map?: MapSource | undefined;
  readonly configReload?: ConfigReloadMetrics | undefined;
  /** When the server's certificate expires, in epoch milliseconds. */
  readonly tlsExpiresAt?: (() => number) | undefined;
  /** The reader processes, in the main process of a service that has some. */
  readonly readers?: ReaderMetrics | undefined;
  /** In the main process of a node of a cluster. */
  readonly clusterStatus?: ClusterStatus | undefined;
  /** All nodes of the cluster, as NATS has them now. In the main process of a node of a cluster. */
  readonly clusterOverview?: (() => Promise<ClusterOverview>) | undefined;
  readonly clock: Clock;
}

export type HealthPath = "/healthz" | "/readyz";

export const isHealthPath = (path: string): path is HealthPath => path === "/healthz" || path === "/readyz";

const CLUSTER_PATH = "/cluster";
const SINGLE_NODE: ClusterOverview = { nodes: [], leases: [] };
const FIXED_PATHS: readonly string[] = ["/", CLUSTER_PATH, "/metrics", "/openapi.json"];
const isDocsPath = (path: string): boolean => /^\/docs(\/|$)/.test(path);
/** A trailing slash is the same page. */
const pageOf = (path: string): string => path.replace(/\/$/, "");

const UNKNOWN_ADDRESS = { host: "127.0.0.1", port: 0 };

const onosResponse = (body: object): Response => ({
  status: 200,
  headers: { "Content-Type": JSON_TYPE, "Cache-Control": "no-store" },
  body: JSON.stringify(body),
});

export class AuxiliaryEndpoints {
  readonly #options: AuxiliaryEndpointsOptions;
  readonly #prefixes: Prefixes;
  readonly #counters: () => ProcessCounters;
  readonly #forwards: ForwardMetrics | undefined;
  readonly #docs = createStaticSite(loadDocs);
  readonly #map: MapEndpoints;
  /** With the limit that it contains, which may change while the service runs. */
  #openapi: { readonly file: StaticFile; readonly pageLimit: number } | undefined;

  constructor(
    options: AuxiliaryEndpointsOptions,
    prefixes: Prefixes,
    counters: () => ProcessCounters,
    forwarding: { readonly counters: ForwardMetrics } | undefined,
  ) {
    this.#options = options;
    this.#prefixes = prefixes;
    this.#map = new MapEndpoints(options.map);
    this.#counters = counters;
    this.#forwards = forwarding?.counters;
  }

  health(path: HealthPath, isStopping: boolean, isUser: boolean): Response {
    const { context, version, sources, readers, clusterStatus: cluster, clock } = this.#options;
    if (path === "/healthz") return livenessResponse();
    const now = clock.now();
    return readinessResponse({
      context,
      version,
      sources: sources(),
      readers: readers?.count(),
      isStopping,
      cluster,
      now,
      isUser,
    });
  }

  /** The client is authenticated. Throws a `Problem` for a path or a method that does not exist. */
  async respond(
    request: Request,
    path: string,
    headers: Readonly<Record<string, string>>,
    owner: string,
    signal: CancelSignal,
  ): Promise<Response> {
    const response =
      (await this.#fixedPath(request, path, owner, signal)) ??
      (await this.#onosStatus(request, path, owner, signal)) ??
      (await this.#docsResponse(request, path));
    const isRead = isReadMethod(request.method);
    if ((response || path === "/") && !isRead) throw methodNotAllowed(request.method);
    if (response) return addHeaders(response, headers);
    const siteResponse =
      isRead && !isInterfacePath(path, this.#prefixes) && (await this.#options.site?.respond(path, request));
    if (siteResponse) return siteResponse;
    throw unknownPath(path, this.#prefixes, request.method);
  }

  /** For OPTIONS, without credentials: throws a `Problem` for a path that does not exist. */
  async requirePath(path: string, method: string): Promise<void> {
    if (isHealthPath(path) || FIXED_PATHS.includes(path) || isMapPath(path)) return;
    if (this.#onosStatusPath(path)) return;
    const isPage = isDocsPath(path)
      ? await this.#docs.has(pageOf(path))
      : !isInterfacePath(path, this.#prefixes) && (await this.#options.site?.has(path));
    if (!isPage) throw unknownPath(path, this.#prefixes, method);
  }

  /** `owner` is whose turn on the scheduler it takes. */
  #fixedPath(
    request: Request,
    path: string,
    owner: string,
    signal: CancelSignal,
  ): Response | Promise<Response> | undefined {
    if (path === "/metrics") return this.#options.context.scheduler.run(owner, this.#metrics(), signal);
    if (path === CLUSTER_PATH) return this.#cluster();
    if (isMapPath(path)) {
      // Before Prometheus is queried.
      if (!isReadMethod(request.method)) throw methodNotAllowed(request.method);
      return this.#map.respond(request, path);
    }
    if (path === "/openapi.json") return this.#openapiDocument().respond(request);
    return undefined;
  }

  async #cluster(): Promise<Response> {
    const overview = (await this.#options.clusterOverview?.()) ?? SINGLE_NODE;
    const headers = { "Content-Type": JSON_TYPE, "Cache-Control": "no-store" };
    return { status: 200, headers, body: JSON.stringify(overview) };
  }

  #onosStatusPath(path: string): OnosStatusPath | undefined {
    return this.#options.aliases.includes(FORWARDED_PREFIX) ? parseOnosStatusPath(path) : undefined;
  }

  async #onosStatus(
    { method }: Request,
    path: string,
    owner: string,
    signal: CancelSignal,
  ): Promise<Response | undefined> {
    const wanted = this.#onosStatusPath(path);
    if (!wanted) return undefined;
    if (!isReadMethod(method)) throw methodNotAllowed(method, WRITE_ADVICE);
    const { context, version, clusterStatus, clusterOverview, address } = this.#options;
    const { host, port } = address?.() ?? UNKNOWN_ADDRESS;
    const isReady = this.health("/readyz", false, false).status === 200;
    const listed = (await clusterOverview?.())?.nodes ?? [];
    const own = listed.find(({ node }) => node === clusterStatus?.node);
    const name = clusterStatus && nameOfRun(clusterStatus.node);
    const self = own ? clusterNode(own) : ownNode({ name, host, port, isReady });
    const nodes = listed.length > 0 ? listed.map(clusterNode) : [self];
    if (wanted.read === "system") {
      const topology = await context.scheduler.run(owner, topologyOf(context.view.capture()), signal);
      return onosResponse(await systemInfo({ version, logId: context.log.id, nodes, self, topology }));
    }
    if (wanted.read === "nodes") return onosResponse({ nodes });
    const node = nodes.find(({ id }) => id === wanted.id);
    if (node) return onosResponse(node);
    const known = nodes.map(({ id }) => id).join(", ");
    throw new Problem("not-found", `There is no node ${quote(wanted.id)}; there are: ${known}.`);
  }

  *#metrics(): Steps<Response> {
    const { context, version, sources, rejectedRecords, readers, configReload, tlsExpiresAt } = this.#options;
    const { clusterStatus: cluster, clock, map } = this.#options;
    return yield* metricsResponse({
      context,
      version,
      counters: this.#counters(),
      sources: sources(),
      rejectedRecords: rejectedRecords(),
      readers,
      configReload,
      tlsExpiresAt: tlsExpiresAt?.(),
      forwards: this.#forwards,
      map,
      cluster,
      now: clock.now(),
    });
  }

  async #docsResponse(request: Request, path: string): Promise<Response | undefined> {
    return isDocsPath(path) ? this.#docs.respond(pageOf(path), request) : undefined;
  }

  #openapiDocument(): StaticFile {
    const { version, limits } = this.#options;
    const { pageLimit } = limits;
    if (this.#openapi?.pageLimit !== pageLimit) {
      const file = new StaticFile(Buffer.from(openapiText({ version, pageLimit })), JSON_TYPE);
      this.#openapi = { file, pageLimit };
    }
    return this.#openapi.file;
  }
}
