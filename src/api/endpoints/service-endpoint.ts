/** The type of the service's own paths, outside the versioned interface, and the context that they are served from. */
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import type { Clock } from "../../lib/clock.ts";
import type { CancelSignal } from "../../lib/scheduler.ts";
import type { ClusterOverview } from "../../model/cluster-overview.ts";
import type { SourceReport } from "../../model/source-status.ts";
import type { ClusterStatus } from "../cluster-status.ts";
import type { ForwardMetrics } from "../forwarding/forwarding.ts";
import type { ConfigReloadMetrics, ReaderMetrics } from "../metrics/metrics.ts";
import type { ProcessMetrics } from "../metrics/process-metrics.ts";
import type { Schema } from "../openapi/components.ts";
import { COMMON_HEADERS, type HeaderName, type ProblemStatus } from "../openapi/parts.ts";
import type { StaticFile, StaticSite } from "../site/static-site.ts";
import type { EndpointText } from "./endpoint.ts";
import type { MapSource } from "./map-source.ts";
import type { ReadContext } from "./read-context.ts";

export interface ServiceEndpoint {
  /** The path in the OpenAPI document. `matches` decides which requests it serves. */
  readonly path: string;
  /** Who may read it: everybody, all users including those with the role `metrics`, or only users with the role `reader`. */
  readonly access: "public" | "metrics" | "reader";
  matches(path: string, service: ServiceContext): boolean;
  /** Whether a matching path exists. Without this function every matching path exists. */
  exists?(path: string): Promise<boolean>;
  /** Returns undefined, or throws a `ProblemDetails`, if the path does not exist. Throws one if it cannot be read. */
  respond(exchange: ServiceExchange): Response | Promise<Response | undefined>;
  /** The advice in the response to a request that writes; undefined for the usual text. */
  readonly writeAdvice?: string;
  /** The documentation; undefined for a path that is not part of the documented interface. */
  readonly openapi?: ServiceDocumentation;
}

/** A request to one of these paths. Its method is GET or HEAD, and its sender may read the path. */
export interface ServiceExchange {
  readonly service: ServiceContext;
  readonly request: Request;
  readonly path: string;
  /** The name of the user on the scheduler. */
  readonly owner: string;
  readonly signal: CancelSignal;
  /** Whether the request has valid credentials, which public paths do not need. */
  readonly isUser: boolean;
  readonly isStopping: boolean;
}

export interface ServiceDocumentation extends EndpointText {
  readonly mediaType: string;
  readonly schema: Schema;
  readonly example: unknown;
  readonly headers: readonly HeaderName[];
  /** Whether the response has an entity tag and content encodings. */
  readonly isFile?: boolean;
  /** The statuses of problems that not every path of the service has. */
  readonly problems?: readonly ProblemStatus[];
  /** The description of when the same body has the status 503. */
  readonly unavailable?: string;
}

export const FILE_HEADERS: readonly HeaderName[] = [...COMMON_HEADERS, "ETag", "Content-Encoding"];

export interface ServiceEndpointOptions {
  readonly version: string;
  /** Path prefixes that serve the same as `controller`; `onos` does so in the dialect of ONOS. */
  readonly aliases: readonly string[];
  /** The address that the process listens on. The server sets it. */
  readonly address?: (() => { readonly host: string; readonly port: number }) | undefined;
  readonly limits: { readonly pageLimit: number };
  readonly context: ReadContext;
  readonly sources: () => readonly SourceReport[];
  /** Number of records that were not valid, by the name of the source. */
  readonly rejectedRecords: () => Readonly<Record<string, number>>;
  readonly site: StaticSite | undefined;
  /** The settings and metrics of the map from the configuration. Set only in the main process. */
  readonly map?: MapSource | undefined;
  readonly configReload?: ConfigReloadMetrics | undefined;
  /** The time when the server's certificate expires (epoch milliseconds). */
  readonly tlsExpiresAt?: (() => number) | undefined;
  /** The reader processes. Set only in the main process of a service that has some. */
  readonly readers?: ReaderMetrics | undefined;
  /** The state of this node. Set only in the main process of a node of a cluster. */
  readonly clusterStatus?: ClusterStatus | undefined;
  /** Reads all nodes of the cluster from NATS. Set only in the main process of a node of a cluster. */
  readonly clusterOverview?: (() => Promise<ClusterOverview>) | undefined;
  readonly clock: Clock;
}

/** The context that the endpoints of one process are served from. */
export interface ServiceContext extends ServiceEndpointOptions {
  metrics(): ProcessMetrics;
  readonly forwards: ForwardMetrics | undefined;
  /** The OpenAPI document with the current limits. */
  openapi(): StaticFile;
}
