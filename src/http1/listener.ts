/**
 * An HTTP/1.1 server on the runtime's sockets: accepts connections on one or more addresses, enforces their time-outs and
 * number, stops accepting while there are no file descriptors, and drains connections on stop. The runtime's own server spends three quarters of a small response on objects that no
 * handler here reads (docs/decisions/0006).
 */
import type { Clock } from "../lib/clock.ts";
import { Connection } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { DescriptorMonitor, type DescriptorState } from "./descriptor-monitor.ts";
import { ConnectionCounters, type ConnectionLimits, type Handler, type ServerContext } from "./handler.ts";
import { SuspendableSocket } from "./suspendable-socket.ts";
import { TurnQueue } from "./turn-queue.ts";

export type BindAddress =
  | { readonly hostname: string; readonly port: number; readonly reusePort: boolean }
  | { readonly unix: string };

/** Also the precision of the `Date` header and of every time-out. */
const TIMEOUT_CHECK_INTERVAL_MS = 250;
/**
 * Units of work in one turn of the event loop: about 1 ms of refused requests, and 1 ms of small cached responses. What a
 * large response costs is not the concern of this folder.
 */
const ANONYMOUS_UNITS = 32;
const AUTHENTICATED_UNITS = 256;

export interface ListenerOptions {
  readonly counters?: ConnectionCounters;
  /** File descriptors run low, are exhausted, or are enough again. Called once for each such change. */
  readonly onDescriptors?: (state: DescriptorState, limit: number) => void;
}

export class HttpListener implements ServerContext {
  readonly handler: Handler;
  readonly limits: ConnectionLimits;
  readonly counters: ConnectionCounters;
  readonly anonymousTurns = new TurnQueue(ANONYMOUS_UNITS);
  readonly authenticatedTurns = new TurnQueue(AUTHENTICATED_UNITS);
  stopping = false;
  inFlight = 0;
  readonly #clock: Clock;
  readonly #connections = new ConnectionPool();
  readonly #descriptors: DescriptorMonitor;
  readonly #sockets: { stop(): void }[] = [];
  readonly #suspendable: SuspendableSocket[] = [];
  #now: number;
  #monotonic: number;
  #onAllClosed = () => {};

  constructor(handler: Handler, limits: ConnectionLimits, clock: Clock, options: ListenerOptions = {}) {
    const { counters = new ConnectionCounters(), onDescriptors: onChange = () => {} } = options;
    this.handler = handler;
    this.limits = limits;
    this.counters = counters;
    this.#descriptors = new DescriptorMonitor({ onChange });
    this.#clock = clock;
    this.#now = clock.now();
    this.#monotonic = clock.monotonic();
  }

  /** May be called several times. Throws the runtime's error when the address is not available. */
  listen(address: BindAddress): { readonly hostname: string; readonly port: number } {
    const socket: Bun.SocketHandler<Connection | undefined> = {
      open: (tcp) => {
        if (this.stopping) return tcp.terminate();
        if (!this.#makeRoom(tcp)) return tcp.terminate();
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
    const bound = new SuspendableSocket(
      (sameOrAny) => Bun.listen<Connection | undefined>({ ...common, hostname, port: sameOrAny, ...reuse }),
      port,
    );
    this.#sockets.push(bound);
    this.#suspendable.push(bound);
    return bound;
  }

  /** The time of the last time-out check: on some machines a system call for the time costs half of a small response. */
  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  onAuthenticated(connection: Connection): void {
    this.#connections.onAuthenticated(connection);
  }

  /** Updates the time, checks all time-outs and the file descriptors, until the signal aborts. */
  async runTimeouts(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(TIMEOUT_CHECK_INTERVAL_MS, signal);
      this.#now = this.#clock.now();
      this.#monotonic = this.#clock.monotonic();
      for (const connection of this.#connections) connection.checkTimeout(this.#monotonic);
      this.#checkDescriptors();
    }
  }

  /** Accepts nothing new, waits for responses in flight, at most `drainMs`, then closes everything. */
  async stop(drainMs: number): Promise<void> {
    this.stopping = true;
    for (const socket of this.#sockets) socket.stop();
    const allClosed = new Promise<void>((resolve) => {
      this.#onAllClosed = resolve;
    });
    for (const connection of this.#connections) connection.closeAfterResponse();
    const done = new AbortController();
    if (this.#connections.size > 0) await Promise.race([allClosed, this.#clock.sleep(drainMs, done.signal)]);
    done.abort();
    for (const connection of this.#connections) connection.destroy();
  }

  /**
   * Returns whether a new connection is accepted. One that is being served is never closed for it, so when all are, the
   * new one is refused.
   */
  #makeRoom(tcp: object): boolean {
    const isReserved = "fd" in tcp && typeof tcp.fd === "number" && this.#descriptors.isReserved(tcp.fd);
    if (!isReserved && !this.#connections.isFull(this.limits)) return true;
    this.counters.evicted++;
    return this.#connections.evictOldest(this.limits);
  }

  /** Where nothing else frees descriptors, no connection is accepted until there are enough again. */
  #checkDescriptors(): void {
    const state = this.#descriptors.check();
    if (state === "exhausted") {
      let evicted = 0;
      while (evicted < this.#descriptors.reserve && this.#connections.evictOldest(this.limits)) evicted++;
      this.counters.evicted += evicted;
      if (evicted === 0) for (const socket of this.#suspendable) socket.suspend();
    } else if (state === "enough" && !this.stopping) this.#resume();
  }

  #resume(): void {
    try {
      for (const socket of this.#suspendable) socket.resume();
    } catch (error) {
      this.handler.onError(error);
    }
  }

  #onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    connection.onClose();
    if (this.#connections.size === 0) this.#onAllClosed();
  }
}
