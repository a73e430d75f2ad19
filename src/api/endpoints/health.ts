/**
 * The health endpoints: `/healthz` (whether the process responds) and `/readyz` (whether the network is complete). They need
 * no credentials, so they contain no more than a probe needs. Only users see the status of each source.
 */
import Type from "typebox";
import type { Response } from "../../http1/response.ts";
import { KINDS } from "../../model/ids.ts";
import { Readiness } from "../../model/readiness.ts";
import type { SourceReport, SourceStatus } from "../../model/source-status.ts";
import { MergeRules } from "../../view/merge-rules.ts";
import type { View } from "../../view/view.ts";
import { type ClusterStatus, staleSeconds } from "../cluster-status.ts";
import { CHANGED_MS, CONNECTED_MS, LOG } from "../openapi/example-network.ts";
import { type HeaderName, UNIVERSAL_HEADERS } from "../openapi/parts.ts";
import { LOG_HEADER } from "../response/common-headers.ts";
import { JSON_TYPE } from "../response/representation.ts";
import type { ServiceEndpoint, ServiceExchange } from "./service-endpoint.ts";

const HEADERS = { "Content-Type": JSON_TYPE, "Cache-Control": "no-store" };

const HEALTH_HEADERS: readonly HeaderName[] = ["Cache-Control", ...UNIVERSAL_HEADERS];

export const isHealthPath = (path: string): boolean => path === LIVENESS_PATH || path === READINESS_PATH;

const LIVENESS_PATH = "/healthz";
const READINESS_PATH = "/readyz";

/** A request to a health endpoint, which needs no credentials. */
type HealthExchange = Pick<ServiceExchange, "service" | "isStopping" | "isUser">;

interface HealthEndpoint extends ServiceEndpoint {
  respond(exchange: HealthExchange): Response;
}

export const getHealth: HealthEndpoint = {
  path: LIVENESS_PATH,
  access: "public",
  matches: (path) => path === LIVENESS_PATH,
  respond: () => ({ status: 200, headers: HEADERS, body: '{"status":"alive"}' }),
  openapi: {
    id: "getHealth",
    tag: "Service",
    summary: "Whether the process responds",
    description: "For liveness probes. Needs no credentials.",
    mediaType: JSON_TYPE,
    schema: Type.Object({ status: Type.Literal("alive") }, { $id: "Liveness" }),
    example: { status: "alive" },
    headers: HEALTH_HEADERS,
  },
};

export const getReadiness: HealthEndpoint = {
  path: READINESS_PATH,
  access: "public",
  matches: (path) => path === READINESS_PATH,
  respond: readinessResponse,
  openapi: {
    id: "getReadiness",
    tag: "Service",
    summary: "Whether every source has synced",
    description:
      "For readiness probes. Needs no credentials; with valid ones the body has the version, the state of every source, the processes and the storage.",
    mediaType: JSON_TYPE,
    schema: Readiness,
    example: {
      status: "ready",
      version: "0.1.0",
      revision: 8,
      logId: LOG,
      sources: [
        {
          name: "openflow",
          kind: "openflow",
          status: "synced",
          since: CONNECTED_MS,
          lastSyncedAt: CHANGED_MS,
          restarts: 0,
          entities: { devices: 2, ports: 4, links: 2, hosts: 1 },
        },
      ],
      storage: { bytes: 69_632, snapshots: 1, oldest: 0, oldestTime: CONNECTED_MS },
    },
    headers: [...HEALTH_HEADERS, "Gazetteer-Log"],
    unavailable: "Not ready yet, or stopping.",
  },
};

/**
 * The service is ready when every source has synced. Afterwards a stale source, a log that cannot be written, or a cluster
 * log that cannot be used makes it degraded, which is still ready because reads are served. It is no longer ready if its
 * view is older than `maxStaleSeconds`. A source that has failed since the start makes it degraded and not unready, if there
 * is a network from before or from other sources, because nobody knows how long the failure lasts. A source on standby is
 * ignored, because its claims come from the node that runs it.
 */
function readinessResponse({ service, isStopping, isUser }: HealthExchange): Response {
  const { context, version, clusterStatus: cluster, clock } = service;
  const sources = service.sources();
  const readers = service.readers?.count();
  const now = clock.now();
  const { view, log } = context;
  const unsynced = sources.filter((source) => source.status === "starting");
  const isStarting = unsynced.some(({ error }) => error === undefined || !hasNetwork(view));
  const hasStale = unsynced.length > 0 || sources.some((source) => source.status === "stale");
  const { writeFailure, bytes, snapshots, oldest, oldestTime } = log.stats();
  const isDegraded = hasStale || writeFailure !== undefined || cluster?.trouble !== undefined;
  const unreadiness = isStopping
    ? "stopping"
    : isStarting
      ? "starting"
      : cluster && isTooOld(cluster, now)
        ? "stale"
        : undefined;
  const details = {
    version,
    revision: view.revision,
    logId: log.id,
    sources: sources.map(withoutMetrics),
    ...(readers && { readers }),
    storage: { bytes, snapshots, oldest, oldestTime },
    ...(writeFailure && { log: { status: "failing" as const, ...writeFailure } }),
    ...(cluster && { cluster: clusterDetails(cluster, now) }),
  };
  // Only users see that the service is degraded. A probe needs only whether it is ready.
  const body: Readiness = isUser
    ? { status: unreadiness ?? (isDegraded ? "degraded" : "ready"), ...details }
    : { status: unreadiness ?? "ready" };
  const headers = isUser ? { ...HEADERS, [LOG_HEADER]: log.id } : HEADERS;
  return { status: unreadiness ? 503 : 200, headers, body: JSON.stringify(body) };
}

/** Whether a source has ever reported, now or before a restart. The revision is not enough, because a failure has one too. */
const hasNetwork = (view: View): boolean =>
  KINDS.some((kind) => view.size(kind) > 0) ||
  MergeRules.read(view)
    .facts.values()
    .some(({ hasSynced }) => hasSynced);

const isTooOld = (cluster: ClusterStatus, now: number): boolean =>
  cluster.maxStaleSeconds > 0 && (staleSeconds(cluster, now) ?? 0) > cluster.maxStaleSeconds;

function clusterDetails(cluster: ClusterStatus, now: number) {
  const { name, node, trouble, lag, lost } = cluster;
  const seconds = staleSeconds(cluster, now);
  return {
    name,
    node,
    lag,
    ...(seconds !== undefined && { staleSeconds: seconds }),
    ...(trouble && {
      condition: trouble.condition,
      error: trouble.message,
      since: trouble.since,
    }),
    ...(lost.length > 0 && { lost: [...lost] }),
  };
}

const withoutMetrics = ({ metrics: _, ...status }: SourceReport): SourceStatus => status;
