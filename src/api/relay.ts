/**
 * Hands a request on to the process that can answer it, over a socket of the file system, and its answer back: status,
 * headers and bytes as they are, while they come.
 *
 * An answer that tells of a revision this process has not reached yet is held until it has: whoever saw it and asks
 * again on the same connection must not find an older network.
 */

import { AsyncBodySource } from "../http1/body-source.ts";
import type { Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import type { Clock } from "../lib/clock.ts";
import type { History } from "../view/history.ts";
import { Problem } from "./problem.ts";

type FetchResponse = globalThis.Response;

/** Throws a `Problem` when the other process does not respond. */
export type Relay = (request: Request) => Promise<Response>;

/** RFC 9110, 7.6.1: of one connection, not of the message. */
const HOP_BY_HOP = [
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
/** What belongs to the connection it came on, or to a body that a read has none of. */
const NOT_FORWARDED = [...HOP_BY_HOP, "host", "content-length", "expect"];
/** Told anew by whoever sends the answer on. */
const NOT_RETURNED = [...HOP_BY_HOP, "date", "content-length", "x-content-type-options"];
const CATCH_UP_MS = 5_000;
/** What `fetch` would ask in other words: a path with `.` or `..` in it. Nothing is there. */
const REWRITTEN = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

export function createRelay(socket: string, history: History, clock: Clock): Relay {
  return async (request) => {
    const { method, target } = request;
    if (REWRITTEN.test(target)) throw new Problem("not-found", "There is nothing at such a path.");
    const options = {
      unix: socket,
      decompress: false,
      redirect: "manual",
      method,
      headers: forwardedHeaders(request),
    } as const;
    let upstream: FetchResponse;
    try {
      upstream = await fetch(`http://localhost${target}`, options);
    } catch {
      throw unavailable("stopping");
    }
    const revision = Number(upstream.headers.get("gazetteer-revision") ?? 0);
    if (!(await reached(history, revision, clock))) {
      await upstream.body?.cancel();
      throw unavailable("overloaded");
    }
    return relayed(upstream);
  };
}

/** The request's headers without those of its connection. */
function forwardedHeaders(request: Request): globalThis.Headers {
  const headers = new globalThis.Headers();
  const { list } = request.headers;
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? "";
    if (!NOT_FORWARDED.includes(name)) headers.append(name, list[i + 1] ?? "");
  }
  // Without it `fetch` would add an Accept-Encoding of its own.
  if (!headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
  return headers;
}

function relayed({ status, headers, body }: FetchResponse): Response {
  const kept: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (!NOT_RETURNED.includes(name)) kept[name] = value;
  });
  const length = headers.get("content-length");
  if (length !== null) kept["Content-Length"] = length;
  const isEventStream = headers.get("content-type") === "text/event-stream";
  // Through a reader, because it can cancel the stream while a read is pending.
  const reader = body?.getReader();
  const bodySource =
    reader &&
    new AsyncBodySource(
      () => reader.read(),
      () => reader.cancel(),
      isEventStream,
    );
  return { status, headers: kept, body: bodySource ?? null };
}

const unavailable = (code: "stopping" | "overloaded"): Problem =>
  new Problem(
    code,
    "The part of the service that knows this does not answer in time; try again in a moment.",
    {
      "Retry-After": "2",
    },
  );

/** Whether the view comes to a revision before long. */
async function reached(history: History, revision: number, clock: Clock): Promise<boolean> {
  if (history.view.revision >= revision) return true;
  const there = new AbortController();
  const unfollow = history.subscribe(() => {
    if (history.view.revision >= revision) there.abort();
  });
  await clock.sleep(CATCH_UP_MS, there.signal);
  unfollow();
  return history.view.revision >= revision;
}
