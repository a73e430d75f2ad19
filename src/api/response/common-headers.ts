/**
 * Headers of every response. Some protect people in browsers: no page may show a response in a frame, what is no page runs
 * and loads nothing when it is opened, because its text comes from the network, a browser does not guess media types, and pages of other origins cannot embed a response unless origins are configured.
 */
import { CommonHeaders } from "../../http1/common-headers.ts";
import { type ClusterView, staleSeconds } from "../cluster-status.ts";

export const STALE_HEADER = "Gazetteer-Stale";
export const LOG_HEADER = "Gazetteer-Log";

export const FRAME_ANCESTORS = "frame-ancestors 'none'";
/** Of a response that has no policy of its own, as pages have (`static-site.ts`). */
const NO_PAGE_POLICY = `default-src 'none'; sandbox; ${FRAME_ANCESTORS}`;

const securityHeaders = (origins: readonly string[]) => ({
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": NO_PAGE_POLICY,
  "Cross-Origin-Resource-Policy": origins.length > 0 ? "cross-origin" : "same-origin",
});

/** Of every response. On a node of a cluster also how old the view is, while it may be older than the log. */
export const createCommonHeaders = (
  origins: readonly string[],
  cluster: ClusterView | undefined,
): CommonHeaders =>
  new CommonHeaders(
    securityHeaders(origins),
    cluster && { name: STALE_HEADER, value: (nowMs) => staleSeconds(cluster, nowMs)?.toString() },
  );
