/** The limits that a request with valid credentials must pass before it is looked at. */
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import { targetTooLong } from "../read-request.ts";
import type { Problem } from "../response/problem.ts";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";
import type { ServerLimits } from "./server-limits.ts";
import type { Shares } from "./shares.ts";

const NO_HEADERS: Readonly<Record<string, string>> = {};

export class Admission {
  readonly #limits: ServerLimits;
  readonly #shares: Shares;
  readonly #rateLimiter: RateLimiter;

  constructor(limits: ServerLimits, shares: Shares) {
    this.#limits = limits;
    this.#shares = shares;
    this.#rateLimiter = createRateLimiter(limits, shares);
  }

  /**
   * Returns the headers that say how many requests are left. Throws a `Problem` when a limit is reached, or
   * `ShareExhausted`. A request that a reader process has forwarded was admitted there.
   */
  admit(
    request: Request,
    connection: ConnectionInfo,
    user: string,
    overloaded: () => Problem,
  ): Readonly<Record<string, string>> {
    const isForwarded = connection.isOwnProcess;
    if (!isForwarded && !this.#shares.admitsInFlight(connection.inFlight)) throw overloaded();
    const { urlBytes } = this.#limits;
    if (request.target.length > urlBytes) throw targetTooLong(request.target, urlBytes);
    return isForwarded ? NO_HEADERS : this.#rateLimiter.consume(user);
  }
}
