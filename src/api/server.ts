/** The HTTP server of a process: the request handler behind its listeners, their background work, and the drain. */

import { ConnectionCounters, type ConnectionLimits } from "../http1/handler.ts";
import { HttpListener } from "../http1/listener.ts";
import type { LiveTlsIdentity } from "../http1/tls-identity.ts";
import type { DescriptorState } from "../lib/descriptor-monitor.ts";
import { MAX_TARGET_BYTES } from "./limits/admission.ts";
import type { ProcessMetrics } from "./metrics/process-metrics.ts";
import { RequestHandler, type RequestHandlerOptions } from "./stages.ts";

export interface ServerOptions extends RequestHandlerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether other processes listen on the same port. */
  readonly sharedPort?: boolean;
  /** The path of the Unix socket on which the reader processes send requests to this process. */
  readonly unixSocketPath?: string | undefined;
  /** The certificate and key. Without them the port is served without TLS, as the Unix socket always is. */
  readonly tls?: LiveTlsIdentity | undefined;
}

export interface Server {
  readonly hostname: string;
  readonly port: number;
  metrics(): ProcessMetrics;
  /** Must be called after values of `limits` were changed. */
  onLimitsChanged(): void;
  /** Opens the access log again, after a rotation has renamed its file. */
  reopenAccessLog(): void;
  /** Closes event streams at once, and all connections when their requests are done or after `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

const HEAD_TIMEOUT_MS = 10_000;
const LINGER_TIMEOUT_MS = 5_000;
/** Number of connections that may be open in addition to those with a request in flight. */
const MAX_IDLE_CONNECTIONS = 1_000;

/** Throws Bun's error if the address is not available. The caller turns it into a message for the operator. */
export function openServer(options: ServerOptions): Server {
  const { host, port, sharedPort = false, unixSocketPath, limits, clock, logger } = options;
  const counters = new ConnectionCounters();
  const address = () => ({ host, port: bound.port });
  const handler = new RequestHandler({ ...options, address }, counters);
  const connectionLimits: ConnectionLimits = {
    maxUrlBytes: MAX_TARGET_BYTES,
    get maxHeadBytes() {
      return limits.headerBytes;
    },
    get maxConnections() {
      return limits.connections + MAX_IDLE_CONNECTIONS;
    },
    /** Half of the connections, so that the other half is reserved for authenticated clients. */
    get maxAnonymousConnections() {
      return Math.ceil((limits.connections + MAX_IDLE_CONNECTIONS) / 2);
    },
    get minReadBytesPerSecond() {
      return limits.minReadBytesPerSecond;
    },
    get idleTimeoutMs() {
      return limits.idleTimeoutSeconds * 1000;
    },
    headTimeoutMs: HEAD_TIMEOUT_MS,
    lingerTimeoutMs: LINGER_TIMEOUT_MS,
  };
  const onDescriptors = (state: DescriptorState, limit: number) => {
    if (state === "enough") logger.info("there are enough file descriptors again", { limit });
    else
      logger.warn("too few file descriptors: idle connections are closed, new ones may be refused", {
        limit,
      });
  };
  const listener = new HttpListener(handler, connectionLimits, clock, { counters, onDescriptors });
  const tls = options.tls && { identity: options.tls, counts: handler.tlsHandshakes };
  const bound = listener.listen({ hostname: host, port, reusePort: sharedPort }, tls);
  if (unixSocketPath !== undefined) listener.listen({ unix: unixSocketPath }, undefined, handler.ownRequests);
  const abort = new AbortController();
  const background = Promise.all([handler.run(abort.signal), listener.runTimeouts(abort.signal)]);
  return {
    hostname: bound.hostname,
    port: bound.port,
    metrics: () => handler.metrics(),
    onLimitsChanged: () => handler.onLimitsChanged(),
    reopenAccessLog: () => options.accessLog?.reopen(),
    async stop(drainMs) {
      handler.stop();
      await listener.stop(drainMs);
      abort.abort();
      await background;
      options.context.drawings[Symbol.dispose]();
    },
  };
}
