/** The type of the service's own paths, outside the versioned interface, and what they are served from. */
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import type { Clock } from "../../lib/clock.ts";
import type { CancelSignal } from "../../lib/scheduler.ts";
import type { ClusterOverview } from "../../model/cluster-overview.ts";
import type { SourceReport } from "../../model/source-status.ts";
import type { ClusterStatus } from "../cluster-status.ts";
import type { ForwardMetrics } from "../forwarding/forward-counters.ts";
import type { ConfigReloadMetrics, ReaderMetrics } from "../metrics/metrics.ts";
import type { ProcessCounters } from "../metrics/process-counters.ts";
import type { Schema } from "../openapi/components.ts";
import { COMMON_HEADERS, type HeaderName, type ProblemStatus } from "../openapi/parts.ts";
import type { StaticFile } from "../site/static-file.ts";
import type { StaticSite } from "../site/static-site.ts";
import type { EndpointText } from "./endpoint.ts";
import type { MapSource } from "./map-source.ts";
import type { ReadContext } from "./read-context.ts";

export interface ServiceEndpoint {
  /** The path in the OpenAPI document; `matches` decides which requests it gets. */
  readonly path: string;
  /** Who may read it: everybody, users with the role `metrics` as well, or only those with the role `reader`. */
  readonly access: "public" | "metrics" | "reader";
  matches(path: string, service: ServiceContext): boolean;
  /** Whether something is at a path that matches; always when left out. */
  exists?(path: string): Promise<boolean>;
  /** Undefined where nothing is at the path. Throws a `Problem` for what does not exist or cannot be read. */
  respond(exchange: ServiceExchange): Response | Promise<Response | undefined>;
  /** What to do instead of a request that writes; undefined for what is said everywhere. */
  readonly writeAdvice?: string;
  /** Undefined for a path that is not part of the documented interface. */
  readonly openapi?: ServiceDocumentation;
}

/** A request to one of these paths. Its method reads, and who sent it may read it. */
export interface ServiceExchange {
  readonly service: ServiceContext;
  readonly request: Request;
  readonly path: string;
  /** The user on the scheduler. */
  readonly owner: string;
  readonly signal: CancelSignal;
  /** Whether the request has valid credentials: what is public is read without. */
  readonly isUser: boolean;
  readonly isStopping: boolean;
}

export interface ServiceDocumentation extends EndpointText {
  readonly mediaType: string;
  readonly schema: Schema;
  readonly example: unknown;
  readonly headers: readonly HeaderName[];
  /** Whether it has an entity tag and content encodings. */
  readonly isFile?: boolean;
  /** The statuses of problems that not every path of the service has. */
  readonly problems?: readonly ProblemStatus[];
  /** When the same body comes with the status 503. */
  readonly unavailable?: string;
}

export const FILE_HEADERS: readonly HeaderName[] = [...COMMON_HEADERS, "ETag", "Content-Encoding"];

export interface ServiceEndpointOptions {
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
  /** What the configuration gives the map, in the main process. */
  readonly map?: MapSource | undefined;
  readonly configReload?: ConfigReloadMetrics | undefined;
  /** When the server's certificate expires, in epoch milliseconds. */
  readonly tlsExpiresAt?: (() => number) | undefined;
  /** The reader processes, in the main process of a service that has some. */
  readonly readers?: ReaderMetrics | undefined;
  /** The state of this node, in the main process of a node of a cluster. */
  readonly clusterStatus?: ClusterStatus | undefined;
  /** All nodes of the cluster, as NATS has them now. In the main process of a node of a cluster. */
  readonly clusterOverview?: (() => Promise<ClusterOverview>) | undefined;
  readonly clock: Clock;
}

/** What the endpoints of one process are served from. */
export interface ServiceContext extends ServiceEndpointOptions {
  counters(): ProcessCounters;
  readonly forwards: ForwardMetrics | undefined;
  /** The OpenAPI document with the limits of now. */
  openapi(): StaticFile;
}
