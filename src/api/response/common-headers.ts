/**
 * The headers of every response. Some protect people who use browsers: no page may show a response in a frame; a browser
 * does not guess media types; pages of other origins cannot embed a response unless origins are configured; and a response
 * that is not a page runs and loads nothing when it is opened, because its text comes from the network.
 */
import { CommonHeaders } from "../../http1/common-headers.ts";
import type { Response } from "../../http1/response.ts";
import { type ClusterView, staleSeconds } from "../cluster-status.ts";

export const STALE_HEADER = "Gazetteer-Stale";
export const LOG_HEADER = "Gazetteer-Log";

export const FRAME_ANCESTORS = "frame-ancestors 'none'";
/** The policy of a response that does not set its own. Pages set one (`static-site.ts`). */
const NO_PAGE_POLICY = `default-src 'none'; sandbox; ${FRAME_ANCESTORS}`;

const securityHeaders = (origins: readonly string[]) => ({
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": NO_PAGE_POLICY,
  "Cross-Origin-Resource-Policy": origins.length > 0 ? "cross-origin" : "same-origin",
});

/** The headers of every response. On a node of a cluster one states the age of the view while it may be older than the log. */
export const createCommonHeaders = (
  origins: readonly string[],
  cluster: ClusterView | undefined,
): CommonHeaders =>
  new CommonHeaders(
    securityHeaders(origins),
    cluster && { name: STALE_HEADER, value: (nowMs) => staleSeconds(cluster, nowMs)?.toString() },
  );

export function addHeaders(response: Response, added: Readonly<Record<string, string>>): Response {
  const { headers } = response;
  const vary = headers.Vary && added.Vary ? { Vary: `${headers.Vary}, ${added.Vary}` } : {};
  return { ...response, headers: { ...headers, ...added, ...vary } };
}
