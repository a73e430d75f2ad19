/** Builds the server options that the writer and the reader processes share, from the configuration. */

import { createAuthenticator, type RemoteCheck, type ThrottleOptions } from "../api/auth/authenticate.ts";
import type { Users } from "../api/auth/users.ts";
import { AccessLog } from "../api/metrics/access-log.ts";
import type { ServerOptions } from "../api/server.ts";
import type { Config, Limits } from "../config/schema.ts";
import type { LiveTlsIdentity } from "../http1/tls-identity.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { VERSION } from "../lib/version.ts";

/** Maximum time for requests in flight when the service stops. */
export const DRAIN_TIMEOUT_MS = 3000;

export interface SharedServerInput {
  readonly config: Pick<
    Config,
    "host" | "aliases" | "onos" | "cors" | "trustedProxies" | "auth" | "hosts" | "accessLog"
  >;
  /** The limits for clients. They are read at each use, and a reload changes them in place. */
  readonly limits: Limits;
  readonly users: Users;
  readonly tls: LiveTlsIdentity | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The Authorization header of the service's own processes. */
  readonly internalAuthorization?: string | undefined;
  /** The check of credentials by the writer. Set in a reader process. */
  readonly checkRemotely?: RemoteCheck | undefined;
}

export function sharedServerOptions(input: SharedServerInput) {
  const { config, limits, users, tls, clock, logger, internalAuthorization, checkRemotely } = input;
  const { host, aliases, onos, cors, trustedProxies, auth, hosts, accessLog } = config;
  const rateOf = (burst: keyof Limits, perMinute: keyof Limits) => ({
    get burst() {
      return limits[burst];
    },
    get refillMs() {
      return 60_000 / limits[perMinute];
    },
  });
  const throttle: ThrottleOptions = {
    pair: rateOf("failureBurst", "failuresPerMinute"),
    address: rateOf("addressFailureBurst", "addressFailuresPerMinute"),
  };
  return {
    host,
    aliases,
    onos,
    origins: cors.origins,
    trustedProxies,
    userHeader: auth.userHeader,
    hosts,
    accessLog: accessLog === undefined ? undefined : new AccessLog(accessLog, clock, logger),
    limits,
    version: VERSION,
    authenticator: createAuthenticator({ users, clock, throttle, internalAuthorization, checkRemotely }),
    users,
    tls,
    clock,
    logger,
  } satisfies Partial<ServerOptions>;
}
