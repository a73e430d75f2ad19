/**
 * One request: its address, credentials and patience, and its failure as a `ClientError`. Uses `fetch` and what comes
 * with it in Bun, Node 20 and browsers, nothing else.
 *
 * Patience is about silence, not about duration: a large list may take its time as long as bytes keep coming, and a
 * stream beats every 15 s. A peer that vanished without a word is given up after `SILENCE_MS`.
 */
import type { Clock } from "../lib/clock.ts";
import { ClientError, errorOf, localError } from "./client-error.ts";
import type { Query, QueryValue } from "./types.ts";

/** Three heartbeats. */
export const IDLE_TIMEOUT_MS = 45_000;
/** As much of a refusal as is read for its explanation. */
const MAX_PROBLEM_BYTES = 64 * 1024;

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Sending {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Statuses besides success that are an answer to this request and not a failure. */
  readonly accept?: readonly number[];
}

/** What `signal` aborts is rejected with the signal's reason; everything else that fails, with a `ClientError`. */
export interface Transport {
  /** `path` is below the service's address; its pieces are already encoded. */
  send(path: string, query: Query, sending?: Sending): Promise<Response>;
  text(response: Response, signal?: AbortSignal): Promise<string>;
  /** The body as it comes, one read a step: what is not asked for is not read. Ends the connection when left. */
  chunks(response: Response, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void>;
}

export function createTransport(options: {
  readonly base: URL;
  readonly authorization: string | undefined;
  readonly fetch: Fetch;
  readonly clock: Clock;
}): Transport {
  const { base, authorization, clock } = options;
  const root = base.href.replace(/\/+$/, "");

  async function send(path: string, query: Query, sending: Sending = {}): Promise<Response> {
    const headers = { ...(authorization === undefined ? {} : { authorization }), ...sending.headers };
    const life = new AbortController();
    const signal = sending.signal ? AbortSignal.any([sending.signal, life.signal]) : life.signal;
    // A browser's own cache would answer conditional requests in our place. A redirect would carry the question, and
    // perhaps the password, to somewhere nobody named.
    const init: RequestInit = { headers, signal, cache: "no-store", redirect: "error" };
    let response: Response;
    try {
      response = await patiently(options.fetch(`${root}${path}${search(query)}`, init), clock);
    } catch (error) {
      sending.signal?.throwIfAborted();
      life.abort();
      throw failure(error, base);
    }
    if (response.ok || sending.accept?.includes(response.status)) return response;
    throw errorOf(response, await explanation(response), clock.now());
  }

  async function* chunks(response: Response, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    const reader = response.body?.getReader();
    if (!reader) return;
    try {
      for (;;) {
        const { done, value } = await patiently(reader.read(), clock);
        if (done) return;
        yield value;
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw failure(error, base);
    } finally {
      // Not awaited: a dead connection may take its time to be told so.
      reader.cancel().catch(() => {});
    }
  }

  async function text(response: Response, signal?: AbortSignal): Promise<string> {
    const decoder = new TextDecoder();
    let whole = "";
    for await (const chunk of chunks(response, signal)) whole += decoder.decode(chunk, { stream: true });
    return whole + decoder.decode();
  }

  /** The beginning of an error's body; that it could not be read must not hide the status. */
  async function explanation(response: Response): Promise<string> {
    const decoder = new TextDecoder();
    let start = "";
    try {
      for await (const chunk of chunks(response)) {
        start += decoder.decode(chunk, { stream: true });
        if (start.length >= MAX_PROBLEM_BYTES) break;
      }
    } catch {
      return "";
    }
    return start;
  }

  return { send, text, chunks };
}

/** `work`, unless nothing comes of it for too long. */
async function patiently<T>(work: Promise<T>, clock: Clock): Promise<T> {
  const done = new AbortController();
  const silence = clock.sleep(IDLE_TIMEOUT_MS, done.signal).then((): never => {
    throw localError("silent", `no word for ${IDLE_TIMEOUT_MS / 1000} s`);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    done.abort();
  }
}

/** Runtimes disagree on the errors of a lost connection. */
function failure(error: unknown, base: URL): ClientError {
  if (error instanceof ClientError) return error;
  return localError("unreachable", `no answer from ${base.host}${because(error)}`, error);
}

/** In a word where there is one (ECONNREFUSED). Node says "fetch failed" and hides what failed in the cause. */
function because(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return ` (${error.code})`;
  if (error.cause instanceof Error) return because(error.cause);
  return error.message ? ` (${error.message})` : "";
}

function search(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.append(name, parameter(value));
  }
  return parameters.size === 0 ? "" : `?${parameters}`;
}

export function parameter(value: QueryValue): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
