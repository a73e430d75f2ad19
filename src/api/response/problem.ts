/**
 * Problem responses (RFC 9457): the table of all codes, and the exception that carries one. The body also has ONOS's
 * `code` and `message`. docs/errors.md explains each code; a test checks that both lists are the same. Problems are
 * thrown inside src/api only: src/query returns faults, and the folders that it imports do not depend on HTTP.
 */
import { AmbiguousNameFault, QueryFault } from "../../query/fault.ts";

export const PROBLEMS = {
  "ambiguous-name": { status: 400, title: "Several devices have that name" },
  "bad-parameter": { status: 400, title: "A query parameter is wrong" },
  "bad-cursor": { status: 400, title: "The cursor is not valid" },
  "bad-path": { status: 400, title: "The path is not valid" },
  "bad-request": { status: 400, title: "The request is not valid HTTP" },
  "revision-unknown": { status: 400, title: "That revision does not exist yet" },
  "credentials-required": { status: 401, title: "Credentials are required" },
  forbidden: { status: 403, title: "This user may not read that" },
  "not-found": { status: 404, title: "There is no such resource" },
  "version-unknown": { status: 404, title: "There is no such version of the interface" },
  "method-not-allowed": { status: 405, title: "This interface only reads" },
  "not-acceptable": { status: 406, title: "None of the acceptable representations exists" },
  "request-timeout": { status: 408, title: "The request did not arrive in time" },
  "revision-expired": { status: 410, title: "That revision is no longer kept" },
  "cursor-expired": { status: 410, title: "The cursor's revision is no longer kept" },
  "uri-too-long": { status: 414, title: "The path and query are too long" },
  "misdirected-request": { status: 421, title: "This service is not that host" },
  "too-many-failures": { status: 429, title: "Too many failed logins from this address" },
  "too-many-forwards": { status: 429, title: "Too many requests are being forwarded" },
  "too-many-requests": { status: 429, title: "Too many requests" },
  "too-many-streams": { status: 429, title: "Too many open streams" },
  "headers-too-large": { status: 431, title: "The request's headers are too large" },
  internal: { status: 500, title: "The service failed" },
  "not-implemented": { status: 501, title: "ONOS has this, and this service has not" },
  "metrics-failed": { status: 502, title: "The metrics of the map cannot be read" },
  "upstream-failed": { status: 502, title: "The controller that has this resource failed" },
  overloaded: { status: 503, title: "The service is overloaded" },
  "over-budget": { status: 503, title: "Responses hold too much memory" },
  "revision-not-reached": { status: 503, title: "This node has not reached that revision yet" },
  stopping: { status: 503, title: "The service is stopping" },
  "http-version": { status: 505, title: "That version of HTTP is not supported" },
} as const;
export type ProblemCode = keyof typeof PROBLEMS;

export class ProblemDetails extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  /** The headers that are added to the response. */
  readonly headers: Readonly<Record<string, string>>;

  /** `detail` says what is wrong and what to do about it. */
  constructor(code: ProblemCode, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  get title(): string {
    return PROBLEMS[this.code].title;
  }

  /** The body of the response. `instance` identifies the request, also in the log. */
  body(instance: string): string {
    const { status, title } = PROBLEMS[this.code];
    return JSON.stringify({
      type: `/docs/errors#${this.code}`,
      title,
      status,
      detail: this.message,
      instance,
      code: status,
      message: this.message,
      ...this.members,
    });
  }

  /** The members of the body that only some problems have. */
  protected get members(): object {
    return {};
  }
}

/** The problem of a name that several devices have. The body has the ids of some of them. */
export class AmbiguousNameProblem extends ProblemDetails {
  readonly #candidates: readonly string[];

  constructor(detail: string, candidates: readonly string[]) {
    super("ambiguous-name", detail);
    this.#candidates = candidates;
  }

  protected override get members(): object {
    return { candidates: this.#candidates };
  }
}

/** The problem of a name that no resource of the interface has. Another service may have it. */
export class UnknownResourceProblem extends ProblemDetails {}

/** The problem of a missing path that people may open in a browser. A browser gets a page instead of the problem. */
export class UnknownPathProblem extends ProblemDetails {}

/** The problem of a fault that a query returns. */
export function problemOf(fault: QueryFault): ProblemDetails {
  const { code, detail } = fault;
  if (fault instanceof AmbiguousNameFault) return new AmbiguousNameProblem(detail, fault.candidates);
  return new ProblemDetails(code, detail, code === "revision-not-reached" ? { "Retry-After": "1" } : {});
}

/** Returns the result of a query function, or throws the problem of its fault. */
export function throwIfFault<T>(result: T | QueryFault): T {
  if (result instanceof QueryFault) throw problemOf(result);
  return result;
}

export const ALLOWED_METHODS = "GET, HEAD, OPTIONS";

export const isReadMethod = (method: string): method is "GET" | "HEAD" =>
  method === "GET" || method === "HEAD";

/** The problem of a method that is not supported. `advice` says what the client can do instead. */
export const methodNotAllowed = (method: string, advice = "Use GET."): ProblemDetails =>
  new ProblemDetails(
    "method-not-allowed",
    `${method} is not supported: this interface only reads. ${advice}`,
    {
      Allow: ALLOWED_METHODS,
    },
  );
