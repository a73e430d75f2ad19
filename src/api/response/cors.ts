/** CORS headers. Cross-origin reads are off until origins are configured, and then allowed for exactly those. */
export interface Cors {
  /** The headers of a response to a request with this Origin header. */
  headers(origin: string | null): Readonly<Record<string, string>>;
  preflightHeaders(origin: string | null): Readonly<Record<string, string>>;
}

const ALLOWED_HEADERS =
  "authorization, content-type, cache-control, if-none-match, last-event-id, gazetteer-min-revision";
const EXPOSED_HEADERS =
  "ETag, Link, Gazetteer-Revision, Gazetteer-Log, Gazetteer-Paths, Gazetteer-Stale, Retry-After, RateLimit, RateLimit-Policy";

export function createCors(origins: readonly string[]): Cors {
  const isOff = origins.length === 0;
  const isAllowed = (origin: string) => origins.includes("*") || origins.includes(origin);
  const headers = (origin: string | null): Record<string, string> => {
    if (isOff) return {};
    if (origin === null || !isAllowed(origin)) return { Vary: "Origin" };
    return {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers": EXPOSED_HEADERS,
      Vary: "Origin",
    };
  };
  return {
    headers,
    preflightHeaders(origin) {
      const responseHeaders = headers(origin);
      if (!("Access-Control-Allow-Origin" in responseHeaders)) return responseHeaders;
      return {
        ...responseHeaders,
        "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
        "Access-Control-Allow-Headers": ALLOWED_HEADERS,
      };
    },
  };
}
