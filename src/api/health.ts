/**
 * The health endpoints: `/healthz` (the process responds) and `/readyz` (whether the network is complete, with the
 * status of each source). Both need no credentials, so they contain no more than a probe or an operator needs.
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

/**
 * Ready once every source has synced. A source that becomes stale later, or a log that cannot be written, makes it
 * degraded, which is still ready: reads are served.
 */
export function readinessResponse(
  { view, log }: Pick<ReadContext, "view" | "log">,
  sources: readonly SourceReport[],
  isStopping: boolean,
): Response {
  const isStarting = sources.some((source) => source.status === "starting");
  const hasStale = sources.some((source) => source.status === "stale");
  const { writeFailure } = log.stats();
  const isDegraded = hasStale || writeFailure !== undefined;
  const status = isStopping ? "stopping" : isStarting ? "starting" : isDegraded ? "degraded" : "ready";
  const body = {
    status,
    revision: view.revision,
    sources: sources.map(withoutMetrics),
    ...(writeFailure && { log: { status: "failing", ...writeFailure } }),
  };
  return { status: isStopping || isStarting ? 503 : 200, headers: HEADERS, body: JSON.stringify(body) };
}

const withoutMetrics = ({ metrics: _, ...status }: SourceReport): SourceStatus => status;
