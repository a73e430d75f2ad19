/**
 * Forwards GET and HEAD of resources that this service does not have to the controller that has them, and streams the
 * response back. The number and the memory of forwarded requests are limited per user and in total, and a request is
 * aborted when its client is gone. The client gets no address, credential or error text of the controller. The error text
 * is logged when a controller begins to fail.
 */

import { AsyncBodySource } from "../../http1/body-source.ts";
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import { statusAllowsBody } from "../../http1/serialized-response.ts";
import type { Clock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Logger } from "../../lib/logger.ts";
import type { MemoryAccount, MemoryBudget } from "../../lib/memory-budget.ts";
import { Quota, type QuotaLimits } from "../../lib/quota.ts";
import { Cancelled } from "../../lib/scheduler.ts";
import { isOwnResource } from "../../model/resources.ts";
import { overBudget } from "../endpoints/read-handler.ts";
import type { ServerLimits } from "../limits/admission.ts";
import { WRITE_ADVICE } from "../onos/missing-resources.ts";
import { AccountedBody } from "../response/body-producer.ts";
import { isReadMethod, methodNotAllowed, ProblemDetails } from "../response/problem.ts";
import { FORWARDED_PREFIX, parseForwardPath } from "./forward-path.ts";

export interface ForwardMetrics {
  /** Number of requests that are being forwarded. */
  readonly open: number;
  /** Number of responses by source and status. 502 means a controller that did not respond or refused the credentials. */
  responses(): readonly { readonly source: string; readonly status: number; readonly count: number }[];
  bytes(): ReadonlyMap<string, number>;
}

export class ForwardCounters implements ForwardMetrics {
  /** The requests that are being forwarded, by user. */
  readonly requests: Quota;
  readonly #responses = new Map<string, Map<number, number>>();
  readonly #bytes = new Map<string, number>();
  readonly #failing = new Set<string>();

  constructor(limits: QuotaLimits) {
    this.requests = new Quota(limits);
  }

  get open(): number {
    return this.requests.total;
  }

  count(source: string, status: number): void {
    let statuses = this.#responses.get(source);
    if (!statuses) {
      statuses = new Map();
      this.#responses.set(source, statuses);
    }
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  countBytes(source: string, bytes: number): void {
    this.#bytes.set(source, (this.#bytes.get(source) ?? 0) + bytes);
  }

  /** Marks a source as failing. Returns whether the failure is the first since the last success. */
  beginFailure(source: string): boolean {
    const isNew = !this.#failing.has(source);
    this.#failing.add(source);
    return isNew;
  }

  /** Marks a source as working. Returns whether it was failing before. */
  endFailure(source: string): boolean {
    return this.#failing.delete(source);
  }

  responses() {
    return [...this.#responses].flatMap(([source, statuses]) =>
      Array.from(statuses, ([status, count]) => ({ source, status, count })),
    );
  }

  bytes(): ReadonlyMap<string, number> {
    return this.#bytes;
  }
}

export interface Forwarder {
  /** Whether nothing is forwarded. */
  readonly isEmpty: boolean;
  /** The controller that has the resource of a `ForwardPath`; undefined if none is configured. */
  targetOf(resource: string): ForwardTarget | undefined;
}

export interface ForwardTarget {
  /** The name of the controller's source. */
  readonly source: string;
  /** Maximum size of a response body. */
  readonly maxResponseBytes: number;
  /** Sends a request. Never rejects. The consumer must read `chunks` to their end, or call `close`. */
  request(request: ForwardRequest): Promise<ForwardResult>;
}

export interface ForwardRequest {
  readonly method: "GET" | "HEAD";
  /** The path after the version, without a slash at its beginning, and the query. */
  readonly path: string;
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export type ForwardResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: Headers;
      /** The decoded body. It rejects if the controller fails, sends nothing for too long, or the request is aborted. */
      readonly chunks: AsyncGenerator<Uint8Array, void, void>;
      /** Closes the connection to the controller. */
      close(): void;
    }
  | {
      readonly ok: false;
      readonly code: string;
      /** A message for the operator, which may contain the controller's address. */
      readonly message: string;
    };

/*
 * The body of a forwarded response: chunks of the controller, read no faster than the client reads. If the controller
 * fails, sends more than allowed, or sends another number of bytes than its head declares, the body ends with an error,
 * which closes the client's connection. The client must not treat a part as the whole, nor the rest as another response.
 */

interface ForwardedBodyOptions {
  readonly chunks: AsyncGenerator<Uint8Array, void, void>;
  readonly maxBytes: number;
  /** The length that the head declares; undefined if it declares none. */
  readonly length: number | undefined;
  readonly onBytes: (bytes: number) => void;
  readonly onComplete: () => void;
  /** Called with the reason of a failure, which is shown to the operator. */
  readonly onFailure: (reason: string) => void;
  /** Called once when the body ends for any reason. */
  readonly onClose: () => void;
}

function createForwardedBody(options: ForwardedBodyOptions): AsyncBodySource {
  const { chunks, maxBytes, length, onBytes, onComplete, onFailure, onClose } = options;
  const limit = Math.min(maxBytes, length ?? maxBytes);
  let received = 0;
  const fail = (reason: string): never => {
    onFailure(reason);
    throw new ProblemDetails("upstream-failed", "The controller's response did not come to its end.");
  };
  const readChunk = async () => {
    const { value, done } = await chunks.next().catch((error: unknown) => fail(errorMessage(error)));
    if (done) {
      if (length !== undefined && received < length) fail("the body is shorter than Content-Length");
      onComplete();
      return { done };
    }
    received += value.length;
    if (received > limit) fail(received > maxBytes ? `more than ${maxBytes} bytes` : "the body is too long");
    onBytes(value.length);
    return { value };
  };
  return new AsyncBodySource(readChunk, onClose);
}

/*
 * The headers that are passed between a client and a controller. In both directions only listed headers are passed, so that
 * no unexpected one is. Credentials and cookies of the client and of the controller are never passed.
 *
 * `Via` (RFC 9110, 7.6.3) has one entry for each Gazetteer that has forwarded the request, so that a loop is detected.
 */

const REQUEST_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "range",
]);

/** The response headers that are passed, as they are written in the response. */
const RESPONSE_HEADERS = [
  "Accept-Ranges",
  "Allow",
  "Content-Disposition",
  "Content-Language",
  "Content-Range",
  "Content-Type",
  "ETag",
  "Last-Modified",
  "Retry-After",
  "Vary",
];
const MAX_VALUE_LENGTH = 4096;
const SENDABLE = /^[\t\x20-\x7e]*$/;

/** Headers that replace those of the controller, because no shared cache may store a response for one user. */
const OWN_HEADERS = { "Cache-Control": "private, no-cache" };

const VIA_ENTRY = /^1\.1 (gazetteer-[\w-]{1,64})$/;
const MAX_HOPS = 8;

/** The headers for the controller. `logId` identifies this service. Throws a `ProblemDetails` if the request is in a loop. */
function forwardedRequestHeaders(request: Request, logId: string): Record<string, string> {
  const { list } = request.headers;
  const connectionOptions = listItems(request.header("connection")).map((name) => name.toLowerCase());
  const headers: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) {
    const [name = "", value = ""] = [list[i], list[i + 1]];
    if (!REQUEST_HEADERS.has(name) || connectionOptions.includes(name)) continue;
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  // The body must not be compressed, because its bytes are counted and limited as they arrive.
  return { accept: "*/*", ...headers, "accept-encoding": "identity", via: viaOf(request, logId) };
}

function viaOf(request: Request, logId: string): string {
  const own = `gazetteer-${logId}`;
  const hops = listItems(request.header("via")).flatMap((entry) => VIA_ENTRY.exec(entry)?.[1] ?? []);
  if (hops.includes(own) || hops.length >= MAX_HOPS) {
    throw new ProblemDetails(
      "upstream-failed",
      "The request was forwarded in a loop: a controller forwards it here.",
    );
  }
  return [...hops, own].map((name) => `1.1 ${name}`).join(", ");
}

const listItems = (value: string | null): string[] =>
  value === null ? [] : value.split(",").map((item) => item.trim());

/** The headers for the client, without the length, which may differ if the body is decoded. */
function forwardedResponseHeaders(headers: globalThis.Headers): Record<string, string> {
  const returned: Record<string, string> = {};
  for (const name of RESPONSE_HEADERS) {
    const value = headers.get(name);
    if (value !== null && value.length <= MAX_VALUE_LENGTH && SENDABLE.test(value)) returned[name] = value;
  }
  return { ...returned, ...OWN_HEADERS };
}

/** The length of the body that the client gets; undefined if it is not known. */
function forwardedLength(headers: globalThis.Headers): number | undefined {
  const length = headers.get("content-length");
  const isDecoded = headers.has("content-encoding") || headers.has("transfer-encoding");
  return length !== null && !isDecoded && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** Maximum duration of a forwarded request, for a controller that keeps sending a little. */
const MAX_DURATION_MS = 600_000;
/** An estimate of the buffers of a connection to a controller. */
const CONNECTION_BYTES = 128 * 1024;

export interface ForwardingOptions {
  /** The controllers; undefined in a reader process, which relays to the main process. */
  readonly forwarder?: Forwarder | undefined;
  readonly aliases: readonly string[];
  readonly limits: Pick<ServerLimits, "forwards" | "forwardsPerUser">;
  readonly context: { readonly log: { readonly id: string } };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Returns undefined if nothing is forwarded. */
export function createForwarding(options: ForwardingOptions, memory: MemoryBudget): Forwarding | undefined {
  const { forwarder, aliases } = options;
  return forwarder && aliases.includes(FORWARDED_PREFIX)
    ? new Forwarding(options, forwarder, memory)
    : undefined;
}

/**
 * Forwards a request. Rejects with a `ProblemDetails` if the request is refused or the controller fails before it responds,
 * and with `Cancelled` if the client is gone.
 */
export type Forward = (request: Request, connection: ConnectionInfo, user: string) => Promise<Response>;

type Received = Extract<ForwardResult, { ok: true }>;

export class Forwarding {
  readonly counters: ForwardCounters;
  readonly #options: ForwardingOptions;
  readonly #forwarder: Forwarder;
  readonly #memory: MemoryBudget;

  constructor(options: ForwardingOptions, forwarder: Forwarder, memory: MemoryBudget) {
    this.#options = options;
    const { limits } = options;
    this.counters = new ForwardCounters({
      get perKey() {
        return limits.forwardsPerUser;
      },
      get total() {
        return limits.forwards;
      },
    });
    this.#forwarder = forwarder;
    this.#memory = memory;
  }

  /** Returns undefined if the path is not forwarded. Resources of this service are never forwarded. */
  find(path: string): Forward | undefined {
    if (this.#forwarder.isEmpty) return undefined;
    const parsed = parseForwardPath(path);
    if (!parsed || parsed.writes || isOwnResource(parsed.resource)) return undefined;
    const target = this.#forwarder.targetOf(parsed.resource);
    return target && ((...request) => this.#forward(target, parsed.path, ...request));
  }

  async #forward(
    target: ForwardTarget,
    path: string,
    ...[request, connection, user]: Parameters<Forward>
  ): Promise<Response> {
    const memory = this.#memory;
    const { method, target: requestTarget } = request;
    if (!isReadMethod(method)) throw methodNotAllowed(method, WRITE_ADVICE);
    this.#requireRoom(user);
    if (!memory.admits(user)) throw overBudget();
    const headers = forwardedRequestHeaders(request, this.#options.context.log.id);
    const queryStart = requestTarget.indexOf("?");
    const query = queryStart < 0 ? "" : requestTarget.slice(queryStart);
    const account = memory.account(user);
    account.add(CONNECTION_BYTES);
    account.open();
    const { signal, end } = this.#begin(target.source, user, connection);
    let received: ForwardResult;
    try {
      received = await target.request({ method, path: path + query, headers, signal });
    } catch (error) {
      received = { ok: false, code: "failed", message: String(error) };
    }
    const close = () => {
      if (received.ok) received.close();
      end();
      account.release();
    };
    if (signal.aborted) {
      close();
      throw new Cancelled();
    }
    const refusal = refusalOf(received, target.maxResponseBytes);
    if (refusal !== undefined || !received.ok) {
      close();
      throw this.#refusal(target, refusal ?? "failed", received);
    }
    return this.#stream(target, method, received, { account, signal, close });
  }

  #requireRoom(user: string): void {
    const { limits } = this.#options;
    const exceeded = this.counters.requests.exceededBy(user);
    if (exceeded === "key") {
      const detail = `At most ${limits.forwardsPerUser} requests of a user are forwarded at the same time; wait for one to end.`;
      throw new ProblemDetails("too-many-forwards", detail, { "Retry-After": "1" });
    }
    if (!exceeded) return;
    throw new ProblemDetails("overloaded", "Too many requests are being forwarded; try again in a moment.", {
      "Retry-After": "2",
    });
  }

  /** The signal aborts when the client is gone, or after the maximum duration. `end` must be called once. */
  #begin(source: string, user: string, connection: ConnectionInfo): { signal: AbortSignal; end: () => void } {
    const { clock } = this.#options;
    const abort = new AbortController();
    const { signal } = abort;
    connection.gone.listener = () => abort.abort();
    void clock.sleep(MAX_DURATION_MS, signal).then(() => {
      if (signal.aborted) return;
      this.#reportFailure(source, `a response took longer than ${MAX_DURATION_MS / 1000} s`);
      abort.abort();
    });
    this.counters.requests.add(user);
    const end = () => {
      connection.gone.listener = undefined;
      abort.abort();
      this.counters.requests.remove(user);
    };
    return { signal, end };
  }

  #refusal({ source }: ForwardTarget, reason: string, received: ForwardResult): ProblemDetails {
    this.counters.count(source, 502);
    this.#reportFailure(source, received.ok ? `${reason} (status ${received.status})` : received.message);
    return new ProblemDetails("upstream-failed", `The controller of the source ${source} ${reason}.`);
  }

  #reportFailure(source: string, reason: string): void {
    if (this.counters.beginFailure(source)) this.#options.logger.warn("forwarding fails", { source, reason });
  }

  #reportSuccess(source: string): void {
    if (this.counters.endFailure(source)) this.#options.logger.info("forwarding works again", { source });
  }

  #stream(
    target: ForwardTarget,
    method: "GET" | "HEAD",
    { status, headers, chunks }: Received,
    { account, signal, close }: { account: MemoryAccount; signal: AbortSignal; close: () => void },
  ): Response {
    const { source, maxResponseBytes: maxBytes } = target;
    this.counters.count(source, status);
    const returned = forwardedResponseHeaders(headers);
    const length = statusAllowsBody(status) ? forwardedLength(headers) : undefined;
    if (length !== undefined) returned["Content-Length"] = String(length);
    if (method === "HEAD" || !statusAllowsBody(status)) {
      close();
      this.#reportSuccess(source);
      return { status, headers: returned, body: null };
    }
    const body = createForwardedBody({
      chunks,
      maxBytes,
      length,
      onBytes: (bytes) => this.counters.countBytes(source, bytes),
      onComplete: () => this.#reportSuccess(source),
      onFailure: (reason) => {
        if (!signal.aborted) this.#reportFailure(source, reason);
      },
      onClose: close,
    });
    return { status, headers: returned, body: new AccountedBody(body, account) };
  }
}

/** Statuses about the credentials that the service sent to the controller. They would mislead a client about its own ones. */
const CREDENTIAL_STATUSES = [401, 403, 407];

/** The reason, as shown to the client, why it gets a problem; undefined if it gets the response. */
function refusalOf(received: ForwardResult, maxBytes: number): string | undefined {
  if (!received.ok) return FAILURES[received.code] ?? "did not respond as it should";
  const { status } = received;
  if (CREDENTIAL_STATUSES.includes(status)) return FAILURES.credentials;
  if ((forwardedLength(received.headers) ?? 0) > maxBytes) return "sent a response that is too large";
  return status < 200 || status > 599 ? "sent a response that is not valid" : undefined;
}

const FAILURES: Readonly<Record<string, string>> = {
  unreachable: "cannot be reached",
  timeout: "did not respond in time",
  tls: "cannot be trusted",
  credentials: "did not accept the credentials that are configured for it",
  protocol: "sent a response that is not valid",
};
