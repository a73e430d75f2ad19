/**
 * The HTTP client of all sources: one upstream with its credentials, TLS and limits. It has no state: credentials and
 * authorities are read at each request, because their files may be replaced while the service runs, and connections are not
 * reused. The peer may be any program that listens there, so the size and time of each response are limited, redirects are not
 * followed and cookies are ignored. See exchange.ts for the connection and its failures.
 */
import { basename } from "node:path";
import type { Fetch } from "../../client/client.ts";
import { IDLE_TIMEOUT_MS } from "../../client/transport.ts";
import type { Clock } from "../../lib/clock.ts";
import { readBytes } from "../file/network-file.ts";
import { parseCredentials, readSecret, type SecretValues } from "../secret.ts";
import {
  type ExchangeResult,
  exchange,
  FailureFactory,
  UpstreamError,
  type UpstreamFailure,
} from "./exchange.ts";
import type { UpstreamOptions } from "./options.ts";

const DEFAULT_TIMEOUT_SECONDS = 30;
export const DEFAULT_MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
const MAX_ERROR_BODY_BYTES = 64 * 1024;

export interface UpstreamRequest {
  /** The value of the header `Accept`; `application/json` by default. */
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The method; GET by default. */
  readonly method?: string;
  readonly body?: string;
  /** The entity tag of an earlier response, for `If-None-Match`. */
  readonly etag?: string | undefined;
  /** Maximum size of the response instead of `maxResponseBytes`. A stream has no maximum by default. */
  readonly maxBytes?: number;
  /** Timeout instead of `timeoutSeconds`. */
  readonly timeoutMs?: number;
  /** Whether a response with any status is a result. */
  readonly anyStatus?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A whole response. `status` is 2xx or 304, unless `anyStatus` was given. */
export type UpstreamResult =
  | { readonly ok: true; readonly status: number; readonly headers: Headers; readonly body: Uint8Array }
  | UpstreamFailure;

/** A streamed response. The consumer must read `chunks` to the end, leave its loop, or call `close`. */
export type UpstreamStream =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: Headers;
      /** The body. Iterating it throws `UpstreamError`. */
      readonly chunks: AsyncGenerator<Uint8Array, void, void>;
      close(): void;
    }
  | UpstreamFailure;

/** The options of an upstream. With a token, requests use Bearer instead of Basic authentication. */
export type UpstreamAccess = UpstreamOptions & SecretValues<"token">;

export class Upstream {
  /** The configured URL. */
  readonly url: URL;
  readonly #options: UpstreamAccess;
  readonly #clock: Clock;

  constructor(options: UpstreamAccess, { clock }: { readonly clock: Clock }) {
    this.url = new URL(options.url);
    this.#options = options;
    this.#clock = clock;
  }

  /**
   * Reads one whole response. A `path` is appended to the path of the configured URL and may have a query; an empty one means
   * that URL itself. A `URL` must have the same origin.
   */
  async get(path: string | URL, request: UpstreamRequest = {}): Promise<UpstreamResult> {
    const { maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES } = this.#options;
    const response = await this.#open(path, request, request.maxBytes ?? maxResponseBytes);
    if (!response.ok) return response;
    const { status, headers } = response;
    try {
      return { ok: true, status, headers, body: await concat(response.read("exchange")) };
    } catch (error) {
      if (error instanceof UpstreamError) return error.failure;
      throw error;
    }
  }

  /**
   * Opens a response whose body is read while it arrives, no faster than the consumer reads. The timeout is for the headers
   * and then for silence.
   */
  async stream(path: string | URL, request: UpstreamRequest = {}): Promise<UpstreamStream> {
    const response = await this.#open(path, request, request.maxBytes ?? Number.POSITIVE_INFINITY);
    if (!response.ok) return response;
    const { status, headers, close } = response;
    return { ok: true, status, headers, chunks: response.read("silence"), close };
  }

  /** The `fetch` for a client of another Gazetteer (`createClient`). It uses the credentials and TLS of this upstream. */
  readonly fetch: Fetch = async (url, { headers, signal }) => {
    const given: Record<string, string> = Object.fromEntries(new Headers(headers));
    const response = await this.stream(new URL(url), {
      ...(given.accept !== undefined && { accept: given.accept }),
      headers: given,
      anyStatus: true,
      // The client has its own timeout, which is longer than the interval of heartbeats, so this one must not be shorter.
      timeoutMs: Math.max(this.#timeoutMs, IDLE_TIMEOUT_MS),
      signal: signal ?? undefined,
    });
    if (!response.ok) throw new UpstreamError(response);
    const { status, headers: received } = response;
    // The body is decoded already. `Response` accepts only the statuses from 200 to 599.
    received.delete("content-encoding");
    if (status < 200 || status > 599) {
      response.close();
      throw new UpstreamError(new FailureFactory(new URL(url)).ofStatus(status));
    }
    if (status !== 204 && status !== 205 && status !== 304) {
      return new Response(toReadableStream(response), { status, headers: received });
    }
    response.close();
    return new Response(null, { status, headers: received });
  };

  /** Finds, for `gazetteer check`, the fault of the files that the options name, in one line. Sends nothing. */
  async checkFiles(): Promise<string | undefined> {
    const read = [await this.#readAuthorization(), await this.#readAuthorities()];
    const fault = read.find(({ ok }) => !ok);
    return fault?.ok === false ? fault.message : undefined;
  }

  async #open(path: string | URL, request: UpstreamRequest, maxBytes: number): Promise<ExchangeResult> {
    const url = this.#resolve(path);
    const failures = new FailureFactory(url);
    const { accept = "application/json", method = "GET", body, etag, anyStatus, signal } = request;
    const authorization = await this.#readAuthorization();
    if (!authorization.ok) return failures.create("credentials", authorization.message);
    const ca = await this.#readAuthorities();
    if (!ca.ok) return failures.create("tls", ca.message);
    const response = await exchange(
      {
        url,
        method,
        headers: {
          accept,
          ...request.headers,
          ...(authorization.value !== undefined && { authorization: authorization.value }),
          ...(etag !== undefined && { "if-none-match": etag }),
        },
        body,
        ca: ca.value,
        timeoutMs: request.timeoutMs ?? this.#timeoutMs,
        maxBytes,
        signal,
      },
      this.#clock,
    );
    if (!response.ok || anyStatus || isSuccess(response.status)) return response;
    const failure = failures.ofStatus(response.status);
    const errorBody = await readBeginning(response.read("exchange"), MAX_ERROR_BODY_BYTES);
    return { ...failure, errorBody };
  }

  get #timeoutMs(): number {
    return (this.#options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  }

  #resolve(path: string | URL): URL {
    if (path instanceof URL) {
      if (path.origin !== this.url.origin) throw new TypeError(`${path.origin} is not ${this.url.origin}`);
      return path;
    }
    if (path === "") return this.url;
    const base = `${this.url.origin}${this.url.pathname.replace(/\/+$/, "")}`;
    return new URL(`${base}/${path.replace(/^\/+/, "")}`);
  }

  async #readAuthorization(): Promise<TextResult> {
    const token = await readSecret<"token">(this.#options, "token");
    if (!token.ok) return token;
    if (token.value !== undefined) return bearerAuthorization(token.value);
    const secret = await readSecret(this.#options, "credentials");
    if (!secret.ok || secret.value === undefined) return secret;
    const credentials = parseCredentials(secret.value);
    if (!credentials.ok) return { ok: false, message: `credentials ${credentials.message}` };
    return { ok: true, value: credentials.authorization };
  }

  async #readAuthorities(): Promise<TextResult> {
    const { ca } = this.#options;
    if (ca === undefined || this.url.protocol !== "https:") return { ok: true, value: undefined };
    const content = await readBytes(ca);
    if (!content.ok) return { ok: false, message: `ca: ${basename(ca)} ${content.message}` };
    const value = Buffer.from(content.bytes).toString("utf8");
    return value.includes("-----BEGIN CERTIFICATE-----")
      ? { ok: true, value }
      : { ok: false, message: `ca: ${basename(ca)} has no certificate in PEM` };
  }
}

type TextResult =
  | { readonly ok: true; readonly value: string | undefined }
  | { readonly ok: false; readonly message: string };

/** The header of a token of RFC 6750. Other characters are refused, because they could end the header. */
const bearerAuthorization = (token: string): TextResult =>
  /^[A-Za-z0-9._~+/-]+=*$/.test(token)
    ? { ok: true, value: `Bearer ${token}` }
    : { ok: false, message: "token must be one word of letters, digits and . _ ~ + / - =" };

const isSuccess = (status: number): boolean => (status >= 200 && status < 300) || status === 304;

async function concat(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

/** Reads the beginning of a body. Ignores failures, because a body that fails must not hide the status of its response. */
async function readBeginning(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      parts.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxBytes) break;
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
  }
  return Buffer.concat(parts).subarray(0, maxBytes);
}

function toReadableStream({
  chunks,
  close,
}: Extract<UpstreamStream, { ok: true }>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}
