/** The limits that are applied to a request with valid credentials before it is handled. Each process has its own counts. */
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import type { Clock } from "../../lib/clock.ts";
import { Histogram } from "../../lib/histogram.ts";
import { TokenBuckets } from "../../lib/token-bucket.ts";
import { targetTooLong } from "../exchange.ts";
import { ProblemDetails } from "../response/problem.ts";

/** The longest path and query of a request, in bytes. */
export const MAX_TARGET_BYTES = 8192;

/** The configured limits. They must be read at each use, because a reload of the configuration changes them. */
export interface ServerLimits {
  readonly headerBytes: number;
  readonly connections: number;
  readonly streamsPerUser: number;
  readonly pageLimit: number;
  readonly paths: number;
  readonly requestsPerSecond: number;
  readonly idleTimeoutSeconds: number;
  readonly minReadBytesPerSecond: number;
  readonly responseBytesPerUser: number;
  readonly responseBytes: number;
  readonly forwards: number;
  readonly forwardsPerUser: number;
}

/*
 * Load shedding: measures how late the event loop runs its timers. While the delay is too long, the request handler rejects
 * new requests, so that those in flight get their responses. `/metrics` shows the delays as a histogram.
 */

const MAX_LOOP_DELAY_MS = 2_000;
const CHECK_INTERVAL_MS = 50;

export class LoadShedder {
  /** The delays of the event loop in seconds. */
  readonly delays = new Histogram();
  #shedding = false;

  /** Whether new requests must be rejected. */
  get shedding(): boolean {
    return this.#shedding;
  }

  async run(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      await clock.sleep(CHECK_INTERVAL_MS, signal);
      const delayMs = clock.monotonic() - startedAt - CHECK_INTERVAL_MS;
      this.delays.observe(Math.max(0, delayMs) / 1000);
      this.#shedding = delayMs > MAX_LOOP_DELAY_MS;
    }
  }
}

const NO_HEADERS: Readonly<Record<string, string>> = {};
const MAX_TRACKED_USERS = 10_000;

type AdmissionLimits = Pick<ServerLimits, "connections" | "requestsPerSecond">;

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #rateLimiter: RateLimiter;

  constructor(limits: AdmissionLimits, clock: Pick<Clock, "monotonic">) {
    this.#limits = limits;
    this.#rateLimiter = new RateLimiter(limits, clock);
  }

  /**
   * Returns the headers that state how many requests are left. Throws a `ProblemDetails` if a limit is reached.
   */
  admit(
    request: Pick<Request, "target">,
    connection: Pick<ConnectionInfo, "inFlight">,
    user: string,
    overloaded: () => ProblemDetails,
  ): Readonly<Record<string, string>> {
    if (connection.inFlight >= this.#limits.connections) throw overloaded();
    if (request.target.length > MAX_TARGET_BYTES) throw targetTooLong(request.target, MAX_TARGET_BYTES);
    return this.#rateLimiter.take(user);
  }
}

/**
 * Limits requests per second and user with a token bucket that holds the requests of one second. Every response has the
 * `RateLimit` headers, so that a client can slow down before it is rejected.
 */
export class RateLimiter {
  readonly #limits: Pick<ServerLimits, "requestsPerSecond">;
  readonly #buckets: TokenBuckets;

  /** `requestsPerSecond` 0 means no limit. The value may change while the limiter is in use. */
  constructor(limits: Pick<ServerLimits, "requestsPerSecond">, clock: Pick<Clock, "monotonic">) {
    this.#limits = limits;
    this.#buckets = new TokenBuckets(clock, {
      get burst() {
        return limits.requestsPerSecond;
      },
      get refillMs() {
        return 1000 / limits.requestsPerSecond;
      },
      maxKeys: MAX_TRACKED_USERS,
    });
  }

  /** Returns the headers for the response. Throws a `ProblemDetails` if the user has no requests left. */
  take(user: string): Readonly<Record<string, string>> {
    const { requestsPerSecond } = this.#limits;
    if (requestsPerSecond === 0) return NO_HEADERS;
    const isAllowed = this.#buckets.take(user) === 0;
    const headers = {
      RateLimit: `"user";r=${this.#buckets.available(user)};t=1`,
      "RateLimit-Policy": `"user";q=${requestsPerSecond};w=1`,
    };
    if (isAllowed) return headers;
    throw new ProblemDetails(
      "too-many-requests",
      `This user may make ${requestsPerSecond} requests a second; wait a second.`,
      { ...headers, "Retry-After": "1" },
    );
  }
}
