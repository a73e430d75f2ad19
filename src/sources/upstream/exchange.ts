/**
 * One request and its response on a connection of its own. It uses `node:http` and not `fetch`, because `node:http` reads no
 * faster than the consumer, limits headers, reports the cause of errors, does not decompress by itself, follows no redirects,
 * and ignores proxies of the environment. A source reads devices of its own network, for which a web proxy would be wrong.
 *
 * An exchange ends in exactly one way: at the end of its body, or with the first failure (timeout, abort, connection),
 * which destroys the connection.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Clock } from "../../lib/clock.ts";

interface ExchangeRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** The trusted authorities, as PEM text. */
  readonly ca: string | undefined;
  readonly timeoutMs: number;
  /** Maximum size of the body, after decompression. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

export type ExchangeResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: Headers;
      /**
       * Reads the body. Call at most once. The timeout is for the whole exchange, or for silence: then it restarts with each
       * chunk. Throws `UpstreamError`. Leaving the loop closes the connection. Call `close` for a body that is not read.
       */
      read(timeoutFor: "exchange" | "silence"): AsyncGenerator<Uint8Array, void, void>;
      close(): void;
    }
  | UpstreamFailure;

export async function exchange(request: ExchangeRequest, clock: Clock): Promise<ExchangeResult> {
  const { url, signal, timeoutMs, maxBytes } = request;
  const failures = new FailureFactory(url);
  if (signal?.aborted) return failures.create("aborted", "the request was aborted");
  const client = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, requestOptions(request));
  let failure: UpstreamFailure | undefined;
  const fail = (reason: UpstreamFailure) => {
    failure ??= reason;
    client.destroy();
  };
  let missing = "complete response";
  const onTimeout = () => fail(failures.create("timeout", `no ${missing} within ${timeoutMs / 1000} s`));
  const timer = new ActivityTimer(clock, timeoutMs, onTimeout);
  const onAbort = () => fail(failures.create("aborted", "the request was aborted"));
  signal?.addEventListener("abort", onAbort, { once: true });
  const close = () => {
    timer[Symbol.dispose]();
    signal?.removeEventListener("abort", onAbort);
    client.destroy();
  };
  // Errors after the response also fail the reading of its body. Without this listener they would end the process.
  client.on("error", (error) => fail(failures.ofError(error)));
  const response = await new Promise<IncomingMessage | undefined>((resolve) => {
    client.once("response", resolve);
    client.once("close", () => resolve(undefined));
    client.end(request.body);
  });
  if (!response || failure) {
    close();
    return failure ?? failures.create("unreachable", "the connection was closed without a response");
  }

  async function* read(
    message: IncomingMessage,
    timeoutFor: "exchange" | "silence",
  ): AsyncGenerator<Uint8Array, void, void> {
    const ofSilence = timeoutFor === "silence";
    if (ofSilence) missing = "data";
    try {
      const body = decodedBody(message, request.method);
      if (!body) throw new UpstreamError(failures.create("protocol", "has an unknown content encoding"));
      let bytes = 0;
      if (ofSilence) timer.restart();
      for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > maxBytes) {
          throw new UpstreamError(
            failures.create("too-large", `the response is larger than ${maxBytes} bytes`),
          );
        }
        if (ofSilence) timer.pause();
        yield chunk;
        if (ofSilence) timer.restart();
      }
    } catch (error) {
      if (error instanceof UpstreamError) throw error;
      throw new UpstreamError(failure ?? failures.ofError(error), { cause: error });
    } finally {
      close();
    }
    if (failure) throw new UpstreamError(failure);
  }
  return {
    ok: true,
    status: response.statusCode ?? 0,
    headers: toHeaders(response.rawHeaders),
    read: (timeoutFor) => read(response, timeoutFor),
    close,
  };
}

function requestOptions({ method, headers, body, ca }: ExchangeRequest): RequestOptions & { ca?: string } {
  return {
    method,
    // Connections are not reused, because the peer may close a kept one at the moment it is used again.
    agent: false,
    headers: {
      "accept-encoding": "gzip",
      ...headers,
      ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
    },
    ...(ca !== undefined && { ca }),
  };
}

/** Decodes the body; undefined when the encoding was not offered. A small body may decode to any size, so it is streamed. */
function decodedBody(response: IncomingMessage, method: string): Readable | undefined {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const hasNoBody = method === "HEAD" || response.statusCode === 204 || response.statusCode === 304;
  if (encoding === "identity" || hasNoBody) return response;
  if (encoding !== "gzip" && encoding !== "x-gzip") return undefined;
  // The callback is required by `pipeline`. Errors are reported by the stream that is read.
  return pipeline(response, createGunzip(), () => {});
}

/** Converts raw headers. A header that `Headers` does not accept is left out. */
function toHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    try {
      headers.append(raw[i] ?? "", raw[i + 1] ?? "");
    } catch {}
  }
  return headers;
}

// `ActivityTimer` is a timeout that can be restarted: for a whole request, or for silence on a stream. It uses one sleep for
// any number of restarts, because a stream restarts it at each chunk.

class ActivityTimer implements Disposable {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #stop = new AbortController();
  #dueMs: number;
  #paused = false;

  constructor(clock: Clock, timeoutMs: number, onTimeout: () => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#dueMs = clock.monotonic() + timeoutMs;
    void this.#run(onTimeout);
  }

  restart(): void {
    this.#paused = false;
    this.#dueMs = this.#clock.monotonic() + this.#timeoutMs;
  }

  /** Pauses the timeout while the consumer is busy, because no data is read then. */
  pause(): void {
    this.#paused = true;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #run(onTimeout: () => void): Promise<void> {
    for (;;) {
      const leftMs = this.#paused ? this.#timeoutMs : this.#dueMs - this.#clock.monotonic();
      if (leftMs <= 0) return onTimeout();
      await this.#clock.sleep(leftMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
    }
  }
}

// A failure of a request has a code for the source, and one line for the operator. The line contains the host and the path,
// and never the query, a header or text of the peer, because users of the service see it.

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
  /** The first 64 KiB of the body of an unsuccessful response. Its content is not trusted. */
  readonly errorBody?: Uint8Array;
}

/** The error that the body of a stream throws, because it cannot return a failure. */
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

  /** Creates the failure of a connection or of its response. */
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

/** The `code` of a system error. Several attempts to connect are one error, which contains the errors of the attempts. */
function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  if (error instanceof AggregateError) return errorCode(error.errors[0]);
  return errorCode(error.cause);
}
