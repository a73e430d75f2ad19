/**
 * What can go wrong for a caller, in one shape: the service refused (`status` and the `code` of its problem), or there
 * was no usable answer at all (`status` 0). Callers tell cases apart by `code`, which is stable; `detail` is for people.
 */

/** Codes of faults that the service never sees; all others come from its problems, see docs/errors. */
export type LocalCode = "unreachable" | "silent" | "gap" | "protocol";

export class ClientError extends Error {
  override readonly name = "ClientError";
  /** The HTTP status; 0 when no answer came, or one that is not HTTP as this interface speaks it. */
  readonly status: number;
  readonly code: LocalCode | (string & {});
  /** Comes from outside: escape it where it is shown. */
  readonly detail: string;
  /** How long the service asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(
    facts: { status: number; code: ClientError["code"]; detail: string; retryAfterMs?: number | undefined },
    options?: ErrorOptions,
  ) {
    super(facts.status === 0 ? facts.detail : `${facts.status} ${facts.code}: ${facts.detail}`, options);
    this.status = facts.status;
    this.code = facts.code;
    this.detail = facts.detail;
    this.retryAfterMs = facts.retryAfterMs;
  }

  /** Whether the same request may well succeed later: the service is away, overloaded or slow, not opposed. */
  get transient(): boolean {
    if (this.status === 0) return this.code !== "protocol";
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

export const localError = (code: LocalCode, detail: string, cause?: unknown): ClientError =>
  new ClientError({ status: 0, code, detail }, cause === undefined ? {} : { cause });

/** The error that an answer other than success stands for; `body` is as much of its text as was worth reading. */
export function errorOf(response: Response, body: string, nowMs: number): ClientError {
  const problem = problemIn(body);
  return new ClientError({
    status: response.status,
    code: problem.code ?? `http-${response.status}`,
    detail: problem.detail ?? (response.statusText || "no further detail was given"),
    retryAfterMs: retryAfterMs(response.headers.get("retry-after"), nowMs),
  });
}

/** A problem's `type` ends in `#` and its code. Something between here and the service may have answered otherwise. */
function problemIn(body: string): { code?: string; detail?: string } {
  let problem: unknown;
  try {
    problem = JSON.parse(body);
  } catch {
    return {};
  }
  if (typeof problem !== "object" || problem === null) return {};
  const code =
    "type" in problem && typeof problem.type === "string" ? /#([\w-]+)$/.exec(problem.type)?.[1] : undefined;
  const text = "detail" in problem ? problem.detail : "title" in problem ? problem.title : undefined;
  return { ...(code === undefined ? {} : { code }), ...(typeof text === "string" ? { detail: text } : {}) };
}

/** Seconds or an HTTP date. */
function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
