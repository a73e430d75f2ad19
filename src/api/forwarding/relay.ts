/**
 * Relays a request of a reader process to the main process over a Unix socket, and streams the response back with its
 * status, headers and bytes.
 *
 * A response of a revision that this process has not reached yet is delayed until it has. Otherwise a client could see a
 * new revision, and an older one with its next request on the same connection.
 */
import { AsyncBodySource } from "../../http1/body-source.ts";
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import type { Clock } from "../../lib/clock.ts";
import type { History } from "../../view/history.ts";
import { forwardedHeader } from "../auth/forwarded.ts";
import { reachesRevision } from "../endpoints/revision-wait.ts";
import { LOG_HEADER, STALE_HEADER } from "../response/common-headers.ts";
import { ProblemDetails } from "../response/problem.ts";

type FetchResponse = globalThis.Response;

/** Relays a request of `user`, whom this process has authenticated. Throws a `ProblemDetails` without a response in time. */
export type Relay = (
  request: Request,
  clientAddress: string,
  user?: string,
  signal?: AbortSignal,
) => Promise<Response>;

/** The header with the percent-encoded name of the user. It is valid only with the credentials of the service's own processes. */
export const RELAYED_USER_HEADER = "gazetteer-relayed-user";

/** Headers that belong to one connection and not to the message (RFC 9110, 7.6.1). */
const HOP_BY_HOP_HEADERS = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** Headers of the connection or of the body, which is not relayed, and those that a client could use to impersonate another. */
const NOT_FORWARDED = [
  ...HOP_BY_HOP_HEADERS,
  "host",
  "authorization",
  "content-length",
  "expect",
  "forwarded",
  "x-forwarded-for",
  RELAYED_USER_HEADER,
];
/** Headers that are not returned to the client, because the server of this process adds its own. */
const NOT_RETURNED = [
  ...HOP_BY_HOP_HEADERS,
  "date",
  "content-length",
  "x-content-type-options",
  "cross-origin-resource-policy",
  STALE_HEADER.toLowerCase(),
];
/** The name as the server of this process writes it, which adds its own policy to a response without this header. */
const POLICY = "Content-Security-Policy";
/** The names that `fetch` returns in lower case and the handler looks up in this spelling; otherwise it would add them again. */
const SPELLINGS = new Map([POLICY, LOG_HEADER].map((name) => [name.toLowerCase(), name]));
const CATCH_UP_TIMEOUT_MS = 5_000;
/** Matches a path with `.` or `..`, which `fetch` would normalise to another path. No resource has such a path. */
const DOT_SEGMENT = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

/** Creates the relay. `internalAuthorization` is the Authorization header of the service's own processes. */
export function createRelay(
  socketPath: string,
  history: History,
  clock: Clock,
  internalAuthorization: string,
): Relay {
  return async (request, clientAddress, user, signal) => {
    const { method, target } = request;
    if (DOT_SEGMENT.test(target)) throw new ProblemDetails("not-found", "There is nothing at such a path.");
    const headers = forwardedHeaders(request, clientAddress);
    if (user !== undefined) {
      headers.set("authorization", internalAuthorization);
      headers.set(RELAYED_USER_HEADER, encodeURIComponent(user));
    }
    const options = {
      unix: socketPath,
      decompress: false,
      redirect: "manual",
      method,
      headers,
      ...(signal && { signal }),
    } as const;
    let upstream: FetchResponse;
    try {
      upstream = await fetch(`http://localhost${target}`, options);
    } catch {
      throw unavailable("stopping");
    }
    const revision = Number(upstream.headers.get("gazetteer-revision") ?? 0);
    if (!(await reachesRevision(history, revision, clock, CATCH_UP_TIMEOUT_MS))) {
      await upstream.body?.cancel();
      throw unavailable("overloaded");
    }
    return toResponse(upstream);
  };
}

function forwardedHeaders(request: Request, clientAddress: string): globalThis.Headers {
  const headers = new globalThis.Headers({ forwarded: forwardedHeader(clientAddress) });
  const { list } = request.headers;
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? "";
    if (!NOT_FORWARDED.includes(name)) headers.append(name, list[i + 1] ?? "");
  }
  // Without this header, `fetch` adds an Accept-Encoding of its own.
  if (!headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
  return headers;
}

function toResponse({ status, headers, body }: FetchResponse): Response {
  const returned: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (!NOT_RETURNED.includes(name)) returned[SPELLINGS.get(name) ?? name] = value;
  });
  const length = headers.get("content-length");
  if (length !== null) returned["Content-Length"] = length;
  const isEventStream = headers.get("content-type") === "text/event-stream";
  // The code uses a reader, because it can cancel the stream while a read is pending and an async iterator cannot.
  const reader = body?.getReader();
  const bodySource =
    reader &&
    new AsyncBodySource(
      () => reader.read(),
      () => reader.cancel(),
      isEventStream,
    );
  return { status, headers: returned, body: bodySource ?? null };
}

const unavailable = (code: "stopping" | "overloaded"): ProblemDetails =>
  new ProblemDetails(
    code,
    "The main process of the service does not respond in time; try again in a moment.",
    {
      "Retry-After": "2",
    },
  );
