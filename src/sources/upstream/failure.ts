/**
 * Why a request to an upstream failed: a code for the source, and one line for the operator. The line has the host and
 * the path, never the query, a header or text of the peer: it is shown to the users of the service.
 */

export type UpstreamFailureCode =
  | "unreachable"
  | "timeout"
  | "too-large"
  | "tls"
  | "credentials"
  | "status"
  | "protocol"
  | "aborted";

export interface UpstreamFailure {
  readonly ok: false;
  readonly code: UpstreamFailureCode;
  /** The HTTP status, where there was a response. */
  readonly status?: number;
  readonly message: string;
  /** The beginning of the body of a response that is not a success, at most 64 KiB. Untrusted. */
  readonly errorBody?: Uint8Array;
}

/** Thrown by the body of a stream, which cannot return a failure. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.failure = failure;
  }
}

/** Creates the failures of one request. */
export class FailureFactory {
  readonly #target: string;

  constructor(url: URL) {
    this.#target = `${url.host}${url.pathname}`;
  }

  create(code: UpstreamFailureCode, reason: string): UpstreamFailure {
    return { ok: false, code, message: `${this.#target}: ${reason}` };
  }

  ofStatus(status: number): UpstreamFailure {
    const [code, reason] = describeStatus(status);
    return { ...this.create(code, reason), status };
  }

  /** The failure of a connection or of its response. */
  ofError(error: unknown): UpstreamFailure {
    const code = errorCode(error);
    if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
      return this.create("tls", "the certificate is of another host name");
    }
    if (/CERT|SIGNATURE|ISSUER|CRL|_CA_/.test(code)) {
      const remedy = /SELF_SIGNED|ISSUER|UNABLE_TO_VERIFY/.test(code) ? "; name its authority with ca" : "";
      return this.create("tls", `the certificate is not trusted (${code})${remedy}`);
    }
    if (/SSL|TLS|EPROTO/.test(code)) return this.create("tls", `TLS fails (${code})`);
    if (/^(HPE_|Z_|ERR_ZLIB)/.test(code)) {
      return this.create("protocol", `the response is not valid HTTP (${code})`);
    }
    const reason = CONNECTION_ERRORS[code] ?? "the connection fails";
    return this.create("unreachable", code === "" ? reason : `${reason} (${code})`);
  }
}

const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was closed before the end of the response",
  EPIPE: "the connection was closed before the end of the response",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be resolved now",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to the host",
};

function describeStatus(status: number): [UpstreamFailureCode, string] {
  if (status === 401) return ["credentials", "the credentials are missing or wrong (401)"];
  if (status === 403) return ["credentials", "the credentials do not suffice (403)"];
  if (status >= 300 && status < 400)
    return ["status", `responds with a redirect (${status}), which is not followed`];
  return ["status", `responds with status ${status}`];
}

/** System errors name their reason in `code`; several attempts to connect are one error with the attempts in it. */
function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  if (error instanceof AggregateError) return errorCode(error.errors[0]);
  return errorCode(error.cause);
}
