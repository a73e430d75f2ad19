/**
 * How the service is: alive, ready, and in what state each source is. No credentials are needed for either, so neither
 * tells more than a probe or a person at 3 a.m. needs.
 */

import type { Response } from "../http1/response.ts";
import { JSON_TYPE } from "./media-types.ts";
import type { View } from "../view/view.ts";

/** What the supervisor says of a source. */
export interface SourceReport {
  readonly name: string;
  readonly kind: string;
  readonly status: "starting" | "synced" | "stale" | "stopped";
  readonly since: number;
  readonly error?: string;
  readonly lastSyncedAt?: number;
  readonly restarts: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

const HEADERS = { "Content-Type": JSON_TYPE, "Cache-Control": "no-store" };

export const healthz = (): Response => ({ status: 200, headers: HEADERS, body: '{"status":"alive"}' });

/** Ready once every source has said what it knows; a source that is stale later leaves it ready, but degraded. */
export function readyz(view: View, sources: readonly SourceReport[], stopping: boolean): Response {
  const starting = sources.some((source) => source.status === "starting");
  const stale = sources.some((source) => source.status === "stale");
  const status = stopping ? "stopping" : starting ? "starting" : stale ? "degraded" : "ready";
  const body = {
    status,
    revision: view.revision,
    sources: sources.map(({ name, kind, status: state, since, error, lastSyncedAt, restarts }) => ({
      name,
      kind,
      status: state,
      since,
      ...(error !== undefined && { error }),
      ...(lastSyncedAt !== undefined && { lastSyncedAt }),
      restarts,
    })),
  };
  return { status: stopping || starting ? 503 : 200, headers: HEADERS, body: JSON.stringify(body) };
}
