/**
 * Records each request when its response is known: its latency, a refusal of its user, its line in the access log. A
 * response from the cache is not measured and costs nothing here, unless the access log is on.
 */
import { type BodySource, isBodySource } from "../../http1/body-source.ts";
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import { byteLength, SerializedResponse } from "../../http1/serialized-response.ts";
import type { Clock } from "../../lib/clock.ts";
import { requestId, stateOf } from "../request-state.ts";
import type { ProblemCode } from "../response/problem.ts";
import type { AccessEntry, AccessLog } from "./access-log.ts";
import type { UsageRecorder } from "./usage-counters.ts";

/** A response with what is recorded of it. */
export interface RecordedResponse extends Response {
  /** What was read: the label under which it is counted. */
  readonly read?: string;
  readonly problem?: ProblemCode;
}

type AnyResponse = SerializedResponse | RecordedResponse;

/** Where a request comes from. It is looked up only when something is recorded of it. */
export interface RequestOrigins {
  /** The user, when the credentials are valid. Empty for the service's own processes. */
  userOf(request: Request, connection: ConnectionInfo): string | undefined;
  /** Undefined for the service's own processes. */
  addressOf(request: Request, connection: ConnectionInfo): string | undefined;
}

/** Refused because of what the user does, not because of what the request says. */
const REFUSALS: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  "forbidden",
  "too-many-requests",
  "too-many-streams",
  "too-many-forwards",
  "overloaded",
  "over-budget",
]);

export class RequestRecorder {
  readonly #usage: UsageRecorder;
  readonly #accessLog: AccessLog | undefined;
  readonly #origins: RequestOrigins;
  readonly #clock: Clock;

  constructor(usage: UsageRecorder, accessLog: AccessLog | undefined, origins: RequestOrigins, clock: Clock) {
    this.#usage = usage;
    this.#origins = origins;
    this.#accessLog = accessLog;
    this.#clock = clock;
  }

  /** Whether responses from the cache are recorded too. */
  get recordsAll(): boolean {
    return this.#accessLog !== undefined;
  }

  record<R extends AnyResponse>(request: Request, connection: ConnectionInfo, response: R): R | Response {
    const startedAt = stateOf(request)?.startedAt;
    const ms = startedAt === undefined ? 0 : this.#clock.monotonic() - startedAt;
    if (!(response instanceof SerializedResponse)) {
      const { read, status, problem } = response;
      if (read !== undefined) this.#usage.observe(read, status, ms / 1000);
      if (problem !== undefined) this.#countRefusal(request, connection, problem);
    }
    const address = this.#accessLog && this.#origins.addressOf(request, connection);
    if (!this.#accessLog || address === undefined) return response;
    const user = this.#origins.userOf(request, connection);
    return this.#log(this.#accessLog, request, response, { user, address, ms });
  }

  #countRefusal(request: Request, connection: ConnectionInfo, problem: ProblemCode): void {
    if (!REFUSALS.has(problem)) return;
    const user = this.#origins.userOf(request, connection);
    if (user) this.#usage.countRefusal(user, problem);
  }

  #log<R extends AnyResponse>(
    log: AccessLog,
    request: Request,
    response: R,
    { user, address, ms }: Pick<AccessEntry, "user" | "address" | "ms">,
  ): R | Response {
    const { method, target } = request;
    const { status } = response;
    const id = requestId(request);
    const entry = { user, method, target, status, id, address };
    if (response instanceof SerializedResponse) {
      log.add({ ...entry, bytes: response.bodyBytes, ms });
      return response;
    }
    const { body } = response;
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
