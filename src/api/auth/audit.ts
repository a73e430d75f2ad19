/**
 * Audit lines: first logins and refused ones, with the client's address and the id of the request, and never a secret.
 * They are logged at every log level. Anybody can cause refusals, so the rate of their lines is limited, and a line states
 * how many were left out before it.
 */
import type { Clock } from "../../lib/clock.ts";
import type { LogFields, Logger } from "../../lib/logger.ts";
import { TokenBuckets } from "../../lib/token-bucket.ts";

const MAX_REFUSALS_AT_ONCE = 1000;
const REFUSAL_INTERVAL_MS = 10;
const KEY = "refusals";

export class AuditLog {
  readonly #logger: Logger;
  readonly #bucket: TokenBuckets;
  #leftOut = 0;

  constructor(logger: Logger, clock: Pick<Clock, "monotonic">) {
    this.#logger = logger;
    this.#bucket = new TokenBuckets(clock, {
      burst: MAX_REFUSALS_AT_ONCE,
      refillMs: REFUSAL_INTERVAL_MS,
      maxKeys: 1,
    });
  }

  login(user: string, fields: LogFields): void {
    this.#logger.audit("login", { user, ...fields });
  }

  /** Logs a refusal. `reason` is why the request was refused: `wrong`, `malformed`, `throttled`, `forbidden`. */
  refused(reason: string, fields: LogFields): void {
    if (this.#bucket.take(KEY) > 0) {
      this.#leftOut++;
      return;
    }
    const leftOut = this.#leftOut === 0 ? undefined : this.#leftOut;
    this.#leftOut = 0;
    this.#logger.audit("login-refused", { reason, ...fields, leftOut });
  }
}
