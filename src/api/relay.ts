/**
 * Hands a request on to the process that can answer it, over a socket of the file system, and its answer back: status,
 * headers and bytes as they are, while they come.
 *
 * An answer that tells of a revision this process has not reached yet is held until it has: whoever saw it and asks
 * again on the same connection must not find an older network.
 */

import { StreamFeed } from "../http1/body-source.ts";
import type { Incoming } from "../http1/request.ts";
import type { Answer } from "../http1/response.ts";
import type { Clock } from "../lib/clock.ts";
import type { History } from "../view/history.ts";
import { Problem } from "./problem.ts";

/** Throws a `Problem` when nobody answers. */
export type Relay = (request: Incoming) => Promise<Answer>;

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
const NOT_ASKED_ON = [...HOP_BY_HOP, "host", "content-length", "expect"];
/** Told anew by whoever sends the answer on. */
const NOT_ANSWERED = [...HOP_BY_HOP, "date", "content-length", "x-content-type-options"];
const CATCH_UP_MS = 5_000;
/** What `fetch` would ask in other words: a path with `.` or `..` in it. Nothing is there. */
const REWRITTEN = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

export function createRelay(socket: string, history: History, clock: Clock): Relay {
  return async ({ method, target, fields }) => {
    if (REWRITTEN.test(target)) throw new Problem("not-found", "There is nothing at such a path.");
    const headers = new Headers();
    const { list } = fields;
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i] ?? "";
      if (!NOT_ASKED_ON.includes(name)) headers.append(name, list[i + 1] ?? "");
    }
    // Otherwise `fetch` would ask for codings in the client's name.
    if (!headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
    let answer: Response;
    try {
      const options = { unix: socket, decompress: false, redirect: "manual", method, headers } as const;
      answer = await fetch(`http://localhost${target}`, options);
    } catch {
      throw unavailable("stopping");
    }
    const revision = Number(answer.headers.get("gazetteer-revision") ?? 0);
    if (!(await reached(history, revision, clock))) {
      await answer.body?.cancel();
      throw unavailable("overloaded");
    }
    return relayed(answer);
  };
}

function relayed({ status, headers, body }: Response): Answer {
  const kept: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (!NOT_ANSWERED.includes(name)) kept[name] = value;
  });
  const length = headers.get("content-length");
  if (length !== null) kept["Content-Length"] = length;
  const live = headers.get("content-type") === "text/event-stream";
  // Through its reader, which can let go of the stream also while it waits for more.
  const reader = body?.getReader();
  const feed =
    reader &&
    new StreamFeed(
      () => reader.read(),
      () => reader.cancel(),
      live,
    );
  return { status, headers: kept, body: feed ?? null };
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
