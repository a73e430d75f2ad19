/** A request and what the stages determine about it until it has a response. */
import type { ConnectionInfo } from "../http1/handler.ts";
import type { Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import type { Credential } from "./auth/authenticate.ts";
import type { Dialect } from "./onos/dialect.ts";
import { dialectOf, type Prefixes } from "./onos/onos-dialect.ts";
import { type ProblemCode, ProblemDetails } from "./response/problem.ts";

/** The header that has the meaning of the parameter `min-revision`. */
export const MIN_REVISION_HEADER = "gazetteer-min-revision";

/** The parts of a request that a read depends on. */
export interface ReadRequest {
  readonly method: "GET" | "HEAD";
  /** Path and query as the client sent them. */
  readonly target: string;
  readonly queryText: string;
  readonly user: string;
  /** The name of the user on the scheduler. */
  readonly owner: string;
  readonly accept: string | null;
  readonly acceptEncoding: string | null;
  readonly ifNoneMatch: string | null;
  readonly lastEventId: string | null;
  readonly minRevision: string | null;
  readonly dialect: Dialect;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** A request with what the stages add to it. Before the stage of credentials, `credential` is set only if it was cached. */
export class Exchange implements ReadRequest {
  readonly request: Request;
  readonly connection: ConnectionInfo;
  readonly path: string;
  readonly dialect: Dialect;
  /** The time on the monotonic clock (milliseconds). */
  readonly startedAt: number;
  credential: Credential | undefined;
  owner = "";
  /** The label under which the response is counted. */
  readName = "other";
  /** Whether the response is counted and measured under `readName`. */
  isCounted = false;
  /** The code of the problem that the response is. */
  problem: ProblemCode | undefined;
  /** The rate limit headers, which are added to the response. */
  rateLimitHeaders = NO_HEADERS;
  /** Whether only the main process can respond. Evaluated in a reader process. */
  isForMainProcess = false;
  /** Whether the main process may wait for another node or a controller. Then a relayed request ends when its client is gone. */
  waitsForOthers = false;
  #id: string | undefined;

  constructor(
    request: Request,
    connection: ConnectionInfo,
    credential: Credential | undefined,
    prefixes: Prefixes,
    startedAt: number,
  ) {
    this.request = request;
    this.connection = connection;
    this.credential = credential;
    this.path = pathOf(request.target);
    this.dialect = dialectOf(this.path, prefixes);
    this.startedAt = startedAt;
  }

  /** Identifies the request in its problem, the audit lines and the access log. */
  get id(): string {
    this.#id ??= crypto.randomUUID();
    return this.#id;
  }

  get method(): "GET" | "HEAD" {
    return this.request.method === "HEAD" ? "HEAD" : "GET";
  }

  get target(): string {
    return this.request.target;
  }

  get queryText(): string {
    return this.target.slice(this.path.length + 1);
  }

  get user(): string {
    return this.credential?.user ?? "";
  }

  get accept(): string | null {
    return this.request.header("accept");
  }

  get acceptEncoding(): string | null {
    return this.request.header("accept-encoding");
  }

  get ifNoneMatch(): string | null {
    return this.request.header("if-none-match");
  }

  get lastEventId(): string | null {
    return this.request.header("last-event-id");
  }

  get minRevision(): string | null {
    return this.request.header(MIN_REVISION_HEADER);
  }
}

/** Builds the name of a user on the scheduler. Keeps the last one, because comparing a newly concatenated string is slow. */
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

/** Whether the view has reached the revision in the header `MIN_REVISION_HEADER`. False if the header is not valid. */
export const isReached = (minRevision: string, revision: number): boolean =>
  /^\d+$/.test(minRevision) && Number(minRevision) <= revision;

export function pathOf(target: string): string {
  const queryStart = target.indexOf("?");
  return queryStart < 0 ? target : target.slice(0, queryStart);
}

export const targetTooLong = (target: string, maxBytes: number): ProblemDetails =>
  new ProblemDetails(
    "uri-too-long",
    `The path and query are ${target.length} bytes long; at most ${maxBytes} are allowed.`,
  );

/** The response for a client that is gone. The connection drops it. */
export const NOT_SENT: Response = { status: 503, headers: {}, body: null };
