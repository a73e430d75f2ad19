/** What the request handler of a process is built from. */
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Authenticator } from "./auth/authenticate.ts";
import type { Users } from "./auth/users.ts";
import type { ClusterView } from "./cluster-status.ts";
import type { ServiceEndpointOptions } from "./endpoints/service-endpoint.ts";
import type { Forwarder } from "./forwarding/forwarder.ts";
import type { Relay } from "./forwarding/relay.ts";
import type { ServerLimits } from "./limits/server-limits.ts";
import type { AccessLog } from "./metrics/access-log.ts";
import type { OnosOptions } from "./onos/onos-dialect.ts";

export interface RequestHandlerOptions extends ServiceEndpointOptions {
  /** Of the alias `onos`. */
  readonly onos?: OnosOptions | undefined;
  /** Origins that may read across origins (CORS). */
  readonly origins: readonly string[];
  /** Addresses and CIDR blocks of the proxies that name the client's address. */
  readonly trustedProxies: readonly string[];
  /** The host names of the service; empty for any. */
  readonly hosts: readonly string[];
  readonly limits: ServerLimits;
  readonly authenticator: Authenticator;
  readonly users: Users;
  /** In a reader process: forwards requests that it cannot serve to the main process. */
  readonly relay?: Relay;
  /** In the main process: the controllers that requests are forwarded to. */
  readonly forwarder?: Forwarder | undefined;
  /** On a node of a cluster. */
  readonly cluster?: ClusterView | undefined;
  readonly accessLog?: AccessLog | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}
