/**
 * The headers that pass between a client and a controller: lists of those that do, in both directions, because a header
 * that nobody thought of must not pass. The client's credentials and cookies stay here, and so do the controller's.
 *
 * `Via` (RFC 9110, 7.6.3) has one entry for each Gazetteer that has forwarded the request, so that a loop of them ends.
 */
import type { Request } from "../../http1/request.ts";
import { Problem } from "../response/problem.ts";

const REQUEST_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "range",
]);

/** As they are spelled in the response. */
const RESPONSE_HEADERS = [
  "Accept-Ranges",
  "Allow",
  "Content-Disposition",
  "Content-Language",
  "Content-Range",
  "Content-Type",
  "ETag",
  "Last-Modified",
  "Retry-After",
  "Vary",
];
const MAX_VALUE_LENGTH = 4096;
const SENDABLE = /^[\t\x20-\x7e]*$/;

/** The response is for this user: whatever the controller says, no shared cache may store it. */
const OWN_HEADERS = { "Cache-Control": "private, no-cache" };

const VIA_ENTRY = /^1\.1 (gazetteer-[\w-]{1,64})$/;
const MAX_HOPS = 8;

/** `logId` identifies this service. Throws a `Problem` when the request was forwarded from here before. */
export function forwardedRequestHeaders(request: Request, logId: string): Record<string, string> {
  const { list } = request.headers;
  const connectionOptions = listItems(request.header("connection")).map((name) => name.toLowerCase());
  const headers: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) {
    const [name = "", value = ""] = [list[i], list[i + 1]];
    if (!REQUEST_HEADERS.has(name) || connectionOptions.includes(name)) continue;
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  // Bytes are counted and bounded as they arrive, so they must not grow afterwards.
  return { accept: "*/*", ...headers, "accept-encoding": "identity", via: viaOf(request, logId) };
}

function viaOf(request: Request, logId: string): string {
  const own = `gazetteer-${logId}`;
  const hops = listItems(request.header("via")).flatMap((entry) => VIA_ENTRY.exec(entry)?.[1] ?? []);
  if (hops.includes(own) || hops.length >= MAX_HOPS) {
    throw new Problem(
      "upstream-failed",
      "The request was forwarded in a loop: a controller forwards it here.",
    );
  }
  return [...hops, own].map((name) => `1.1 ${name}`).join(", ");
}

const listItems = (value: string | null): string[] =>
  value === null ? [] : value.split(",").map((item) => item.trim());

/** Without the length, which is that of the body as the controller sent it. */
export function forwardedResponseHeaders(headers: globalThis.Headers): Record<string, string> {
  const returned: Record<string, string> = {};
  for (const name of RESPONSE_HEADERS) {
    const value = headers.get(name);
    if (value !== null && value.length <= MAX_VALUE_LENGTH && SENDABLE.test(value)) returned[name] = value;
  }
  return { ...returned, ...OWN_HEADERS };
}

/** The length of the body as it is sent on; undefined when it is not known. */
export function forwardedLength(headers: globalThis.Headers): number | undefined {
  const length = headers.get("content-length");
  const isDecoded = headers.has("content-encoding") || headers.has("transfer-encoding");
  return length !== null && !isDecoded && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}
