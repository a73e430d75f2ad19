/** What a read takes from a request. Throws a `Problem` for a method that does not read. */
import type { Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import { isReadMethod, methodNotAllowed } from "./methods.ts";
import type { Dialect } from "./onos/dialect.ts";
import { Problem } from "./response/problem.ts";

/** Means the same as the parameter `min-revision`. */
export const MIN_REVISION_HEADER = "gazetteer-min-revision";

/** The parts of a request that a read depends on. */
export interface ReadRequest {
  readonly method: "GET" | "HEAD";
  /** Path and query as the client sent them. */
  readonly target: string;
  readonly queryText: string;
  readonly user: string;
  /** The user on the scheduler. */
  readonly owner: string;
  readonly accept: string | null;
  readonly acceptEncoding: string | null;
  readonly ifNoneMatch: string | null;
  readonly lastEventId: string | null;
  readonly minRevision: string | null;
  readonly dialect: Dialect;
}

/** The name of a user on the scheduler. The last one is kept, because comparing a text that was just put together takes time. */
export class UserOwner {
  #user = "";
  #owner = "user:";

  of(user: string): string {
    if (user !== this.#user) {
      this.#user = user;
      this.#owner = `user:${user}`;
    }
    return this.#owner;
  }
}

export function readRequestOf(
  request: Request,
  path: string,
  user: string,
  owner: string,
  dialect: Dialect,
): ReadRequest {
  const { method, target } = request;
  if (!isReadMethod(method)) throw methodNotAllowed(method, dialect.writeAdvice);
  return {
    method,
    target,
    queryText: target.slice(path.length + 1),
    user,
    owner,
    accept: request.header("accept"),
    acceptEncoding: request.header("accept-encoding"),
    ifNoneMatch: request.header("if-none-match"),
    lastEventId: request.header("last-event-id"),
    minRevision: request.header(MIN_REVISION_HEADER),
    dialect,
  };
}

/** Only such a request may get a serialized response, whose bytes are the same for every client. */
export const isPlainGet = ({ method, keepAlive, isHttp10, bodyLength }: Request): boolean =>
  method === "GET" && keepAlive && !isHttp10 && bodyLength === 0;

/** Whether the view has the revision in that header. Not where the header is not valid. */
export const isReached = (minRevision: string, revision: number): boolean =>
  /^\d+$/.test(minRevision) && Number(minRevision) <= revision;

export function pathOf(target: string): string {
  const queryStart = target.indexOf("?");
  return queryStart < 0 ? target : target.slice(0, queryStart);
}

export const targetTooLong = (target: string, maxBytes: number): Problem =>
  new Problem(
    "uri-too-long",
    `The path and query are ${target.length} bytes long; at most ${maxBytes} are allowed.`,
  );

/** The client is gone: the connection drops the response. */
export const NOT_SENT: Response = { status: 503, headers: {}, body: null };
