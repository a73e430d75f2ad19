/**
 * An HTTP/1.1 server on the runtime's sockets: accepts connections on one or more addresses, enforces their time-outs and
 * number, and drains them on stop. The runtime's own server spends three quarters of a small response on objects that no
 * handler here reads (docs/decisions/0006).
 */
import type { Clock } from "../lib/clock.ts";
import { Connection } from "./connection.ts";
import type { ConnectionLimits, Handler, ServerContext } from "./handler.ts";

export type BindAddress =
  | { readonly hostname: string; readonly port: number; readonly reusePort: boolean }
  | { readonly unix: string };

/** Also the precision of the `Date` header and of every time-out. */
const TIMEOUT_CHECK_INTERVAL_MS = 250;

export class HttpListener implements ServerContext {
  readonly handler: Handler;
  readonly limits: ConnectionLimits;
  stopping = false;
  inFlight = 0;
  readonly #clock: Clock;
  readonly #connections = new Set<Connection>();
  readonly #sockets: { stop(closeActiveConnections?: boolean): void }[] = [];
  #now: number;
  #onAllClosed = () => {};

  constructor(handler: Handler, limits: ConnectionLimits, clock: Clock) {
    this.handler = handler;
    this.limits = limits;
    this.#clock = clock;
    this.#now = clock.now();
  }

  /** May be called several times. Throws the runtime's error when the address is not available. */
  listen(address: BindAddress): { readonly hostname: string; readonly port: number } {
    const socket: Bun.SocketHandler<Connection | undefined> = {
      open: (tcp) => {
        if (this.stopping) return tcp.terminate();
        if (this.#connections.size >= this.limits.maxConnections) this.#closeOldestIdle();
        tcp.setNoDelay(true);
        const connection = new Connection(tcp, this);
        tcp.data = connection;
        this.#connections.add(connection);
      },
      data: (tcp, bytes) => tcp.data?.onData(bytes),
      drain: (tcp) => tcp.data?.onDrain(),
      end: (tcp) => tcp.data?.onEnd(),
      close: (tcp) => {
        if (tcp.data) this.#onClosed(tcp.data);
      },
      // Exceptions of the callbacks above arrive here too.
      error: (tcp, error) => {
        tcp.terminate();
        this.handler.onError(error);
      },
    };
    const common = { socket, allowHalfOpen: true, data: undefined };
    if ("unix" in address) {
      this.#sockets.push(Bun.listen<Connection | undefined>({ ...common, unix: address.unix }));
      return { hostname: address.unix, port: 0 };
    }
    const { hostname, port, reusePort } = address;
    const reuse = reusePort ? { reusePort: true } : { exclusive: true };
    const bound = Bun.listen<Connection | undefined>({ ...common, hostname, port, ...reuse });
    this.#sockets.push(bound);
    return bound;
  }

  /** The time of the last time-out check: on some machines a system call for the time costs half of a small response. */
  now(): number {
    return this.#now;
  }

  /** Updates the time and checks all time-outs until the signal aborts. */
  async runTimeouts(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(TIMEOUT_CHECK_INTERVAL_MS, signal);
      this.#now = this.#clock.now();
      for (const connection of this.#connections) connection.checkTimeout(this.#now);
    }
  }

  /** Accepts nothing new, waits for responses in flight, at most `drainMs`, then closes everything. */
  async stop(drainMs: number): Promise<void> {
    this.stopping = true;
    for (const socket of this.#sockets) socket.stop(false);
    const allClosed = new Promise<void>((resolve) => {
      this.#onAllClosed = resolve;
    });
    for (const connection of this.#connections) connection.closeAfterResponse();
    const done = new AbortController();
    if (this.#connections.size > 0) await Promise.race([allClosed, this.#clock.sleep(drainMs, done.signal)]);
    done.abort();
    for (const connection of this.#connections) connection.destroy();
  }

  /** When all are busy, the limit is exceeded: a connection that is being served is never closed for a new tcp. */
  #closeOldestIdle(): void {
    for (const connection of this.#connections) if (connection.closeIfIdle()) return;
  }

  #onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    connection.onClose();
    if (this.#connections.size === 0) this.#onAllClosed();
  }
}
