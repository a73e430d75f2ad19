/** The server: where it listens, what runs beside it, and how it comes to its end. */

import { HttpListener } from "../http1/listener.ts";
import { RequestHandler, type RequestHandlerOptions } from "./handler.ts";
import type { ProcessCounters } from "./metrics.ts";

export interface ServerOptions extends RequestHandlerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether other processes listen on the same port. */
  readonly sharedPort?: boolean;
  /** A socket in the file system on which the same is served: where those processes ask. */
  readonly socket?: string | undefined;
}

export interface Server {
  readonly hostname: string;
  readonly port: number;
  tally(): ProcessCounters;
  /** Ends streams, lets requests under way finish, but no longer than `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

const HEAD_MS = 10_000;
/** Connections that may be open besides those on which something is under way. */
const MAX_IDLE_BESIDES = 1_000;
const LINGER_MS = 2_000;

/** Throws what Bun throws when the address cannot be had; the caller knows what to tell the operator. */
export function openServer(options: ServerOptions): Server {
  const { host, port, sharedPort: shared = false, socket: unix, limits, clock } = options;
  const responder = new RequestHandler(options);
  const wireLimits = {
    maxUrlBytes: limits.urlBytes,
    maxHeadBytes: limits.headerBytes,
    maxConnections: limits.connections + MAX_IDLE_BESIDES,
    idleTimeoutMs: limits.idleTimeoutSeconds * 1000,
    headTimeoutMs: HEAD_MS,
    lingerTimeoutMs: LINGER_MS,
  };
  const listener = new HttpListener(responder, wireLimits, clock);
  const listening = listener.listen({ hostname: host, port, reusePort: shared });
  if (unix !== undefined) listener.listen({ unix });
  const ended = new AbortController();
  const background = Promise.all([responder.run(ended.signal), listener.runTimeouts(ended.signal)]);
  return {
    hostname: listening.hostname,
    port: listening.port,
    tally: () => responder.tally(),
    async stop(drainMs) {
      responder.stop();
      await listener.stop(drainMs);
      ended.abort();
      await background;
    },
  };
}
