/**
 * One request and its response on a connection of its own. `node:http` and not `fetch`: it reads no faster than the
 * consumer, has bounds for headers, reports what was wrong, decompresses nothing by itself, follows no redirect, and uses
 * no proxy from the environment. A source reads devices of its own network, so a proxy for the web would be a mistake.
 *
 * An exchange ends in exactly one way: at the end of its body, or with the first failure (time-out, abort, connection),
 * which destroys the connection.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Clock } from "../../lib/clock.ts";
import { ActivityTimer } from "./activity-timer.ts";
import { FailureFactory, UpstreamError, type UpstreamFailure } from "./failure.ts";

export interface ExchangeRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** PEM. */
  readonly ca: string | undefined;
  readonly timeoutMs: number;
  /** Of the body, after decompression. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

export type ExchangeResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: Headers;
      /**
       * The body, once. The time-out is for the whole exchange, or for silence: then it starts again with each chunk.
       * Throws `UpstreamError`. Leaving the loop closes the connection; so does `close`, for a body that is not read.
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
  // Errors after the response are errors of its body as well. Without this listener they would end the process.
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
    // No connection is kept: a kept one may be closed by the peer at the moment it is used again.
    agent: false,
    headers: {
      "accept-encoding": "gzip",
      ...headers,
      ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
    },
    ...(ca !== undefined && { ca }),
  };
}

/** Undefined when the encoding is not one that was offered. A body of a few bytes may decode to any size, in pieces. */
function decodedBody(response: IncomingMessage, method: string): Readable | undefined {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const hasNoBody = method === "HEAD" || response.statusCode === 204 || response.statusCode === 304;
  if (encoding === "identity" || hasNoBody) return response;
  if (encoding !== "gzip" && encoding !== "x-gzip") return undefined;
  // The callback is required; the errors are those of the stream that is read.
  return pipeline(response, createGunzip(), () => {});
}

/** A header that `Headers` does not accept is left out. */
function toHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    try {
      headers.append(raw[i] ?? "", raw[i + 1] ?? "");
    } catch {}
  }
  return headers;
}
