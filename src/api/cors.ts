/** Cross-origin reads: off until origins are configured, and then for exactly those. */
export interface Cors {
  /** Headers for a response to a request from `origin`. */
  headers(origin: string | null): Readonly<Record<string, string>>;
  preflight(origin: string | null): Readonly<Record<string, string>>;
}

const ALLOWED_HEADERS = "authorization, content-type, cache-control, if-none-match, last-event-id";
const EXPOSED_HEADERS =
  "ETag, Link, Gazetteer-Revision, Gazetteer-Log, Retry-After, RateLimit, RateLimit-Policy";

export function createCors(origins: readonly string[]): Cors {
  const off = origins.length === 0;
  const allows = (origin: string) => origins.includes("*") || origins.includes(origin);
  const headers = (origin: string | null): Record<string, string> => {
    if (off) return {};
    if (origin === null || !allows(origin)) return { Vary: "Origin" };
    return {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers": EXPOSED_HEADERS,
      Vary: "Origin",
    };
  };
  return {
    headers,
    preflight(origin) {
      const given = headers(origin);
      if (!("Access-Control-Allow-Origin" in given)) return given;
      return {
        ...given,
        "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
        "Access-Control-Allow-Headers": ALLOWED_HEADERS,
      };
    },
  };
}
