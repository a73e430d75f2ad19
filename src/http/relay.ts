/**
 * Hands a request on to the process that can answer it, over a socket of the file system, and its answer back: status,
 * headers and bytes as they are, while they come.
 *
 * An answer that tells of a revision this process has not reached yet is held until it has: whoever saw it and asks
 * again on the same connection must not find an older network.
 */
import type { Clock } from "../lib/clock.ts";
import type { History } from "../view/history.ts";
import { Problem } from "./problem.ts";

/** `address` is the path and query as they came. Throws a `Problem` when nobody answers. */
export type Relay = (request: Request, address: string) => Promise<Response>;

/** RFC 9110, 7.6.1: of one connection, not of the message. The length is told by whoever frames the body. */
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
const NOT_ASKED_ON = [...HOP_BY_HOP, "host", "content-length", "expect"];
const CATCH_UP_MS = 5_000;

export function createRelay(socket: string, history: History, clock: Clock): Relay {
  return async (request, address) => {
    const headers = without(request.headers, NOT_ASKED_ON);
    // Otherwise `fetch` would ask for codings in the client's name.
    if (!headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
    const { method, signal } = request;
    let answer: Response;
    try {
      answer = await fetch(`http://localhost${address}`, {
        unix: socket,
        decompress: false,
        redirect: "manual",
        method,
        headers,
        signal,
      });
    } catch {
      throw unavailable("stopping");
    }
    const revision = Number(answer.headers.get("gazetteer-revision") ?? 0);
    if (!(await reached(history, revision, clock))) {
      await answer.body?.cancel();
      throw unavailable("overloaded");
    }
    return new Response(answer.body, {
      status: answer.status,
      headers: without(answer.headers, HOP_BY_HOP),
    });
  };
}

function without(headers: Headers, names: readonly string[]): Headers {
  const left = new Headers(headers);
  for (const name of names) left.delete(name);
  return left;
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
  const unfollow = history.follow(() => {
    if (history.view.revision >= revision) there.abort();
  });
  await clock.sleep(CATCH_UP_MS, there.signal);
  unfollow();
  return history.view.revision >= revision;
}
