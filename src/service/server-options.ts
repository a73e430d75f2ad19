/** What every process that answers requests has alike, made from the configuration. */
import { createAuthenticator } from "../api/auth/authenticate.ts";
import type { Users } from "../api/auth/users.ts";
import type { ServerOptions } from "../api/server.ts";
import { VERSION } from "../cli/version.ts";
import type { Config } from "../config/schema.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";

/** Addresses whose failed log-ins are remembered. */
const MAX_ADDRESSES = 10_000;
/** Requests under way get this long to be answered when the service stops. */
export const DRAIN_MS = 3000;

export interface Answering {
  readonly config: Pick<Config, "host" | "aliases" | "cors" | "limits">;
  readonly users: Users;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The header with which the service's own processes ask this one. */
  readonly ourselves?: string | undefined;
}

type Common = "host" | "aliases" | "origins" | "limits" | "version" | "authenticator";

export function answeringOptions({ config, users, clock, logger, ourselves }: Answering) {
  const { host, aliases, cors, limits } = config;
  const refillMs = 60_000 / limits.failuresPerMinute;
  const throttle = { burst: limits.failureBurst, refillMs, mostAddresses: MAX_ADDRESSES };
  return {
    host,
    aliases,
    origins: cors.origins,
    limits,
    version: VERSION,
    authenticator: createAuthenticator({ users, clock, throttle, ourselves }),
    users,
    clock,
    logger,
  } satisfies Pick<ServerOptions, Common | "users" | "clock" | "logger">;
}
