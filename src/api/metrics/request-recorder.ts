/**
 * Records each request when its response is known: its latency, a refusal of its user, its line in the access log. A
 * response from the cache is not measured and costs nothing here, unless the access log is on.
 */
import { type BodySource, isBodySource } from "../../http1/body-source.ts";
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import { byteLength, type SerializedResponse } from "../../http1/serialized-response.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Exchange } from "../exchange.ts";
import type { ProblemCode } from "../response/problem.ts";
import type { AccessEntry, AccessLog, Correlation } from "./access-log.ts";
import type { RequestCounters } from "./process-metrics.ts";

/** Finds the address that a request comes from. It is called only when a line is written. */
export interface AddressFinder {
  /** The address of the client; undefined for the service's own processes. */
  externalAddress(request: Request, connection: ConnectionInfo): string | undefined;
}

/** The problems that count as refusals of a user: their cause is the user's role or load, not the content of the request. */
const REFUSALS: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  "forbidden",
  "too-many-requests",
  "too-many-streams",
  "too-many-forwards",
  "overloaded",
  "over-budget",
]);

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
/** Version, trace-id, parent-id and flags. Later versions may add fields; version 00 has none, and ff is not valid. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

export function correlationOf(request: Pick<Request, "header">): Correlation {
  const requestId = request.header("x-request-id") ?? "";
  const trace = TRACEPARENT.exec(request.header("traceparent") ?? "");
  const [, version, traceId, parentId, more] = trace ?? [];
  const isTrace =
    traceId !== undefined && parentId !== undefined && !(version === "00" && more !== undefined);
  return {
    ...(REQUEST_ID.test(requestId) && { requestId }),
    ...(isTrace && { traceId, parentId }),
  };
}

export class RequestRecorder {
  readonly #counters: RequestCounters;
  readonly #accessLog: AccessLog | undefined;
  readonly #addresses: AddressFinder;
  readonly #clock: Clock;

  constructor(
    counters: RequestCounters,
    accessLog: AccessLog | undefined,
    addresses: AddressFinder,
    clock: Clock,
  ) {
    this.#counters = counters;
    this.#addresses = addresses;
    this.#accessLog = accessLog;
    this.#clock = clock;
  }

  /** Whether responses from the cache are recorded too. */
  get recordsAll(): boolean {
    return this.#accessLog !== undefined;
  }

  record(exchange: Exchange, response: Response): Response {
    const { request, connection, startedAt, problem } = exchange;
    const ms = this.#clock.monotonic() - startedAt;
    if (exchange.isCounted)
      this.#counters.responses(exchange.readName, response.status).latency.observe(ms / 1000);
    if (problem !== undefined && exchange.user !== "" && REFUSALS.has(problem))
      this.#counters.countRefusal(exchange.user, problem);
    const address = this.#accessLog && this.#addresses.externalAddress(request, connection);
    if (!this.#accessLog || address === undefined) return response;
    const user = exchange.credential?.user;
    return this.#log(this.#accessLog, request, response, { user, address, ms, id: exchange.id });
  }

  /** Writes a line for a response from the cache, which has no exchange and whose time is not measured. */
  recordCached(
    request: Request,
    address: string | undefined,
    user: string | undefined,
    { status, bodyBytes: bytes }: SerializedResponse,
  ): void {
    if (address === undefined) return;
    const { method, target } = request;
    const id = crypto.randomUUID();
    const correlation = correlationOf(request);
    this.#accessLog?.add({ user, method, target, status, id, address, bytes, ms: 0, correlation });
  }

  #log(
    log: AccessLog,
    request: Request,
    response: Response,
    { user, address, ms, id }: Pick<AccessEntry, "user" | "address" | "ms" | "id">,
  ): Response {
    const { status, body } = response;
    const { method, target } = request;
    const entry = { user, method, target, status, id, address, correlation: correlationOf(request) };
    if (body === null || typeof body === "string" || body instanceof Uint8Array) {
      log.add({ ...entry, bytes: body === null || method === "HEAD" ? 0 : byteLength(body), ms });
      return response;
    }
    if (!isBodySource(body)) return response;
    const startedAt = this.#clock.monotonic() - ms;
    const onEnd = (bytes: number) => log.add({ ...entry, bytes, ms: this.#clock.monotonic() - startedAt });
    return { ...response, body: new CountedBodySource(body, onEnd) };
  }
}

/** Counts the bytes that another source produces. */
class CountedBodySource implements BodySource {
  readonly noTimeout: boolean;
  readonly #source: BodySource;
  readonly #onEnd: (bytes: number) => void;
  #bytes = 0;

  constructor(source: BodySource, onEnd: (bytes: number) => void) {
    this.#source = source;
    this.noTimeout = source.noTimeout;
    this.#onEnd = onEnd;
  }

  open(onReadable: () => void): void {
    this.#source.open(onReadable);
  }

  next(): Uint8Array | "wait" | "end" {
    const chunk = this.#source.next();
    if (typeof chunk !== "string") this.#bytes += chunk.length;
    return chunk;
  }

  close(): void {
    this.#onEnd(this.#bytes);
    this.#source.close();
  }
}
