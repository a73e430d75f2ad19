/**
 * The one error type of the client. Either the service returned a problem (`status` and the problem's `code`), or there
 * was no usable response (`status` 0). Callers distinguish errors by `code`, which is stable; `detail` is for people.
 */

/** Codes of errors that the client detects. All other codes come from the service's problems, see docs/errors.md. */
export type LocalErrorCode = "unreachable" | "silent" | "gap" | "protocol";

export class ClientError extends Error {
  override readonly name = "ClientError";
  /** The HTTP status; 0 when there was no response, or one that does not follow the interface. */
  readonly status: number;
  readonly code: LocalErrorCode | (string & {});
  /** Untrusted text: escape it where it is shown. */
  readonly detail: string;
  /** The delay that the service requests in `Retry-After`. */
  readonly retryAfterMs: number | undefined;
  /** The id of the log that the service has, from the header `Gazetteer-Log`. */
  readonly logId: string | undefined;
  /** The id of the request in the logs of the service, from the problem. */
  readonly requestId: string | undefined;
  /** The ids of the devices that share the given name, when the name is ambiguous. These are untrusted text too. */
  readonly candidates: readonly string[];

  constructor(
    fields: {
      status: number;
      code: ClientError["code"];
      detail: string;
      retryAfterMs?: number | undefined;
      logId?: string | undefined;
      requestId?: string | undefined;
      candidates?: readonly string[];
    },
    options?: ErrorOptions,
  ) {
    const { status, code, detail, retryAfterMs, logId, requestId, candidates = [] } = fields;
    super(status === 0 ? detail : `${status} ${code}: ${detail}`, options);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
    this.logId = logId;
    this.requestId = requestId;
    this.candidates = candidates;
  }

  /** Whether the same request may succeed later: the service is unreachable, overloaded or slow. */
  get transient(): boolean {
    if (this.status === 0) return this.code !== "protocol";
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

export const createLocalError = (code: LocalErrorCode, detail: string, cause?: unknown): ClientError =>
  new ClientError({ status: 0, code, detail }, cause === undefined ? {} : { cause });

/** The id of the log that the revisions of a response belong to. A response that a proxy produced has none. */
export const logIdOf = ({ headers }: Response): string | undefined =>
  headers.get("gazetteer-log") ?? undefined;

/** The error for a response that is not a success. `body` may be only the beginning of the response body. */
export function errorFromResponse(response: Response, body: string, nowMs: number): ClientError {
  const problem = parseProblem(body);
  return new ClientError({
    status: response.status,
    code: problem.code ?? `http-${response.status}`,
    detail: problem.detail ?? (response.statusText || "the response has no detail"),
    retryAfterMs: parseRetryAfterMs(response.headers.get("retry-after"), nowMs),
    logId: logIdOf(response),
    requestId: problem.requestId,
    candidates: problem.candidates ?? [],
  });
}

/** Returns no fields when the body is not a problem of the service: a proxy may have produced the response. */
function parseProblem(body: string): {
  code?: string;
  detail?: string;
  requestId?: string;
  candidates?: string[];
} {
  let problem: unknown;
  try {
    problem = JSON.parse(body);
  } catch {
    return {};
  }
  if (typeof problem !== "object" || problem === null) return {};
  // The `type` of a problem ends in `#` and its code.
  const code =
    "type" in problem && typeof problem.type === "string" ? /#([\w-]+)$/.exec(problem.type)?.[1] : undefined;
  const text = "detail" in problem ? problem.detail : "title" in problem ? problem.title : undefined;
  const instance = "instance" in problem ? problem.instance : undefined;
  const requestId =
    typeof instance === "string" ? /^urn:uuid:([0-9a-f-]{36})$/.exec(instance)?.[1] : undefined;
  const ids: unknown = "candidates" in problem ? problem.candidates : undefined;
  return {
    ...(code === undefined ? {} : { code }),
    ...(typeof text === "string" ? { detail: text } : {}),
    ...(requestId === undefined ? {} : { requestId }),
    ...(Array.isArray(ids) && { candidates: ids.filter((id) => typeof id === "string") }),
  };
}

/** The value of the header is a number of seconds or an HTTP date. */
function parseRetryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
