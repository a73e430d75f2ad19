/**
 * Headers of every response that protect people in browsers: no page may show a response in a frame, a browser does not
 * guess media types, and pages of other origins cannot embed a response unless origins are configured.
 */
import { CommonHeaders } from "../http1/common-headers.ts";

export const FRAME_ANCESTORS = "frame-ancestors 'none'";

export const createSecurityHeaders = (origins: readonly string[]): CommonHeaders =>
  new CommonHeaders({
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": FRAME_ANCESTORS,
    "Cross-Origin-Resource-Policy": origins.length > 0 ? "cross-origin" : "same-origin",
  });
