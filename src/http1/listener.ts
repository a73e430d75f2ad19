/**
 * The service's own HTTP/1.1 on sockets. The runtime's server spends three quarters of a small answer on objects that
 * nobody looks at; here a request that was answered before costs one comparison and one write (docs/decisions/0006).
 */
import type { Clock } from "../lib/clock.ts";
import { Connection, type ConnectionLimits, type Handler, type ServerContext } from "./connection.ts";

export type BindAddress =
  | { readonly hostname: string; readonly port: number; readonly shared: boolean }
  | { readonly unix: string };

/** So old may the time be that answers are dated with, and so late a deadline. */
const LOOK_EVERY_MS = 250;

/** Listens in one place after another with the same handler, until stopped. */
export class HttpListener implements ServerContext {
  readonly handler: Handler;
  readonly limits: ConnectionLimits;
  stopping = false;
  inFlight = 0;
  readonly #clock: Clock;
  readonly #connections = new Set<Connection>();
  readonly #listening: { stop(closeActiveConnections?: boolean): void }[] = [];
  #now: number;
  #allGone = () => {};

  constructor(handler: Handler, limits: ConnectionLimits, clock: Clock) {
    this.handler = handler;
    this.limits = limits;
    this.#clock = clock;
    this.#now = clock.now();
  }

  /** Throws what the runtime throws when the place cannot be had. Gives the address that it got. */
  listen(place: BindAddress): { readonly hostname: string; readonly port: number } {
    const socket: Bun.SocketHandler<Connection | undefined> = {
      open: (one) => {
        if (this.stopping) return one.terminate();
        if (this.#connections.size >= this.limits.connections) this.#makeRoom();
        one.setNoDelay(true);
        const connection = new Connection(one, this);
        one.data = connection;
        this.#connections.add(connection);
      },
      data: (one, bytes) => one.data?.received(bytes),
      drain: (one) => one.data?.drained(),
      end: (one) => one.data?.ended(),
      close: (one) => {
        if (one.data) this.#closed(one.data);
      },
      // Also what any of these functions throws comes here.
      error: (one, error) => {
        one.terminate();
        this.handler.onError(error);
      },
    };
    const common = { socket, allowHalfOpen: true, data: undefined };
    if ("unix" in place) {
      this.#listening.push(Bun.listen<Connection | undefined>({ ...common, unix: place.unix }));
      return { hostname: place.unix, port: 0 };
    }
    const { hostname, port, shared } = place;
    const reuse = shared ? { reusePort: true } : { exclusive: true };
    const listening = Bun.listen<Connection | undefined>({ ...common, hostname, port, ...reuse });
    this.#listening.push(listening);
    return listening;
  }

  /** As it was when it was last looked at: on some machines to ask for the time costs as much as half an answer. */
  now(): number {
    return this.#now;
  }

  /** Looks at the clock, and after the connections' deadlines, until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(LOOK_EVERY_MS, signal);
      this.#now = this.#clock.now();
      for (const connection of this.#connections) connection.check(this.#now);
    }
  }

  /** Takes nothing new, lets what is under way come to its end, but no longer than `drainMs`. */
  async stop(drainMs: number): Promise<void> {
    this.stopping = true;
    for (const listening of this.#listening) listening.stop(false);
    const gone = new Promise<void>((resolve) => {
      this.#allGone = resolve;
    });
    for (const connection of this.#connections) connection.closeAfterResponse();
    const done = new AbortController();
    if (this.#connections.size > 0) await Promise.race([gone, this.#clock.sleep(drainMs, done.signal)]);
    done.abort();
    for (const connection of this.#connections) connection.destroy();
  }

  /** The oldest that waits for nothing goes, so that whoever comes is heard. */
  #makeRoom(): void {
    for (const connection of this.#connections) if (connection.closeIfIdle()) return;
  }

  #closed(connection: Connection): void {
    this.#connections.delete(connection);
    connection.closed();
    if (this.#connections.size === 0) this.#allGone();
  }
}
