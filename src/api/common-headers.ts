/**
 * Headers of every response. Some protect people in browsers: no page may show a response in a frame, a browser does not
 * guess media types, and pages of other origins cannot embed a response unless origins are configured.
 */
import { CommonHeaders } from "../http1/common-headers.ts";
import { type ClusterView, staleSeconds } from "./cluster-status.ts";

export const STALE_HEADER = "Gazetteer-Stale";

export const FRAME_ANCESTORS = "frame-ancestors 'none'";

const securityHeaders = (origins: readonly string[]) => ({
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": FRAME_ANCESTORS,
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
