/**
 * Sends one request: builds its URL, adds credentials, applies the timeout, and turns a failure into a `ClientError`. It
 * uses only `fetch` and its related types, which Bun, Node 20 and browsers have.
 *
 * The timeout limits idle time, not duration: a large list may take minutes while bytes arrive, and a stream sends a
 * heartbeat every 15 s. A connection without any data for `IDLE_TIMEOUT_MS` is treated as lost.
 */
import type { Clock } from "../lib/clock.ts";
import { ClientError, createLocalError, errorFromResponse } from "./client-error.ts";
import type { Query, QueryValue } from "./types.ts";

/** Three times the interval between heartbeats. */
export const IDLE_TIMEOUT_MS = 45_000;
/** The maximum number of characters of an error response that are read to find its problem. */
const MAX_PROBLEM_CHARS = 64 * 1024;

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Statuses besides 2xx that are a result of this request and not an error. */
  readonly acceptedStatuses?: readonly number[];
}

/** A request aborted by `signal` rejects with the signal's reason; any other failure rejects with a `ClientError`. */
export interface Transport {
  /** `path` is relative to the base URL; its segments are already encoded. */
  send(path: string, query: Query, options?: RequestOptions): Promise<Response>;
  readText(response: Response, signal?: AbortSignal): Promise<string>;
  /** Reads one chunk for each step of the consumer and nothing ahead. Leaving the loop closes the connection. */
  readChunks(response: Response, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void>;
}

export function createTransport(options: {
  readonly base: URL;
  readonly authorization: string | undefined;
  readonly fetch: Fetch;
  readonly clock: Clock;
}): Transport {
  const { base, authorization, clock } = options;
  const baseUrl = base.href.replace(/\/+$/, "");

  async function send(path: string, query: Query, request: RequestOptions = {}): Promise<Response> {
    const headers = { ...(authorization === undefined ? {} : { authorization }), ...request.headers };
    const abort = new AbortController();
    const signal = request.signal ? AbortSignal.any([request.signal, abort.signal]) : abort.signal;
    // `no-store`: a browser's cache would otherwise handle conditional requests itself. `redirect: error`: a redirect
    // could send the query and the credentials to another host.
    const init: RequestInit = { headers, signal, cache: "no-store", redirect: "error" };
    let response: Response;
    try {
      response = await withIdleTimeout(options.fetch(`${baseUrl}${path}${encodeQuery(query)}`, init), clock);
    } catch (error) {
      request.signal?.throwIfAborted();
      abort.abort();
      throw toClientError(error, base);
    }
    if (response.ok || request.acceptedStatuses?.includes(response.status)) return response;
    // A body that cannot be read does not hide the status.
    const problem = await readText(response, undefined, MAX_PROBLEM_CHARS).catch(() => "");
    throw errorFromResponse(response, problem, clock.now());
  }

  async function* readChunks(
    response: Response,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, void> {
    const reader = response.body?.getReader();
    if (!reader) return;
    try {
      for (;;) {
        const { done, value } = await withIdleTimeout(reader.read(), clock);
        if (done) return;
        yield value;
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw toClientError(error, base);
    } finally {
      // The promise is not awaited, because it may stay pending for long on a lost connection.
      reader.cancel().catch(() => {});
    }
  }

  async function readText(response: Response, signal?: AbortSignal, maxChars = Infinity): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of readChunks(response, signal)) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length >= maxChars) return text;
    }
    return text + decoder.decode();
  }

  return { send, readText, readChunks };
}

/** Ends a response whose body is not read. */
export function discardBody({ body }: Response): void {
  // The promise is not awaited, because it may stay pending for long on a lost connection.
  body?.cancel().catch(() => {});
}

async function withIdleTimeout<T>(work: Promise<T>, clock: Clock): Promise<T> {
  const done = new AbortController();
  // The sleep also ends when the work is done. Errors are costly, because they have a stack, and a list has many chunks.
  const timeout = clock.sleep(IDLE_TIMEOUT_MS, done.signal).then(() => {
    if (done.signal.aborted) return work;
    throw createLocalError("silent", `no data for ${IDLE_TIMEOUT_MS / 1000} s`);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    done.abort("done");
  }
}

/** Runtimes throw different errors for a lost connection; all of them become `unreachable`. */
function toClientError(error: unknown, base: URL): ClientError {
  if (error instanceof ClientError) return error;
  return createLocalError("unreachable", `no response from ${base.host}${causeText(error)}`, error);
}

/** The code of the error or of its cause (ECONNREFUSED). The messages of browsers and of Node say only that `fetch` failed. */
function causeText(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return ` (${error.code})`;
  if (error.cause instanceof Error) return causeText(error.cause);
  return "";
}

function encodeQuery(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.append(name, parameterText(value));
  }
  return parameters.size === 0 ? "" : `?${parameters}`;
}

export function parameterText(value: QueryValue): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
