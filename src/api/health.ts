/**
 * The health endpoints: `/healthz` (the process responds) and `/readyz` (whether the network is complete). Both need no
 * credentials, so they contain no more than a probe needs; the status of each source is for users.
 */
import type { Response } from "../http1/response.ts";
import type { SourceReport, SourceStatus } from "../model/source-status.ts";
import { JSON_TYPE } from "./media-types.ts";
import type { ReadContext } from "./reads/read-context.ts";

const HEADERS = { "Content-Type": JSON_TYPE, "Cache-Control": "no-store" };

export const livenessResponse = (): Response => ({
  status: 200,
  headers: HEADERS,
  body: '{"status":"alive"}',
});

export interface ReadinessInput {
  readonly context: Pick<ReadContext, "view" | "log">;
  readonly sources: readonly SourceReport[];
  readonly isStopping: boolean;
  /** Whether the request has valid credentials. */
  readonly isUser: boolean;
}

/**
 * Ready once every source has synced. A source that becomes stale later, or a log that cannot be written, makes it
 * degraded, which is still ready: reads are served. So is a service with a network from before, or from other sources,
 * while the peer of a source cannot be read since the start: nobody knows how long that will be. A source on standby counts
 * neither way: its claims come from the node that runs it.
 */
export function readinessResponse({ context, sources, isStopping, isUser }: ReadinessInput): Response {
  const { view, log } = context;
  const unsynced = sources.filter((source) => source.status === "starting");
  const isStarting = unsynced.some(({ error }) => error === undefined || view.revision === 0);
  const hasStale = unsynced.length > 0 || sources.some((source) => source.status === "stale");
  const { writeFailure } = log.stats();
  const isDegraded = hasStale || writeFailure !== undefined;
  const status = isStopping ? "stopping" : isStarting ? "starting" : isDegraded ? "degraded" : "ready";
  const details = {
    revision: view.revision,
    logId: log.id,
    sources: sources.map(withoutMetrics),
    ...(writeFailure && { log: { status: "failing", ...writeFailure } }),
  };
  const body = isUser ? { status, ...details } : { status };
  return { status: isStopping || isStarting ? 503 : 200, headers: HEADERS, body: JSON.stringify(body) };
}

const withoutMetrics = ({ metrics: _, ...status }: SourceReport): SourceStatus => status;
