/**
 * An HTTP/1.1 server on the runtime's sockets: accepts connections on one or more addresses, enforces their time-outs and
 * their maximum number, stops accepting while there are no file descriptors, and drains connections on stop. The runtime's
 * own server is not used, because it spends three quarters of the time of a small response on objects that no handler here
 * reads (docs/decisions/0006).
 */
import type { Clock } from "../lib/clock.ts";
import { DescriptorMonitor, type DescriptorState } from "../lib/descriptor-monitor.ts";
import { SuspendableSocket } from "../lib/suspendable-socket.ts";
import { Connection } from "./connection.ts";
import {
  ConnectionCounters,
  type ConnectionLimits,
  type ConnectionOrigin,
  type Handler,
  type ServerContext,
  type Socket,
} from "./handler.ts";
import { ParseError } from "./request.ts";
import { joinHeadAndBody, serializeTimedHead } from "./serialized-response.ts";
import { type HandshakeCounts, TlsAcceptor } from "./tls.ts";
import type { LiveTlsIdentity } from "./tls-identity.ts";
import { TurnQueue } from "./turn-queue.ts";

/*
 * The open connections of a server, oldest first, and the choice of the one to close when there are too many. Anonymous
 * connections have a limit of their own, so that they cannot displace authenticated ones, and they are closed first.
 */

export class ConnectionPool implements Iterable<Connection> {
  readonly #anonymous = new Set<Connection>();
  readonly #authenticated = new Set<Connection>();

  get size(): number {
    return this.#anonymous.size + this.#authenticated.size;
  }

  *[Symbol.iterator](): Generator<Connection> {
    yield* this.#anonymous;
    yield* this.#authenticated;
  }

  add(connection: Connection): void {
    this.#anonymous.add(connection);
  }

  delete(connection: Connection): void {
    if (!this.#anonymous.delete(connection)) this.#authenticated.delete(connection);
  }

  onAuthenticated(connection: Connection): void {
    if (this.#anonymous.delete(connection)) this.#authenticated.add(connection);
  }

  /** Whether one more connection would be too many. */
  isFull({ maxConnections, maxAnonymousConnections }: ConnectionLimits): boolean {
    return this.size >= maxConnections || this.#anonymous.size >= maxAnonymousConnections;
  }

  /** Closes anonymous connections that hold received bytes, oldest first, while `isExceeded`. Returns how many it closed. */
  evictHolders(isExceeded: () => boolean): number {
    let evicted = 0;
    for (const connection of this.#anonymous) {
      if (!isExceeded()) break;
      if (connection.holdsBytes && connection.evict()) evicted++;
    }
    return evicted;
  }

  /**
   * Closes the oldest anonymous connection that is not being served, or else the oldest idle authenticated one. Returns
   * false if it closed none. While there are too many anonymous connections, it closes no authenticated one for another
   * anonymous one.
   */
  evictOldest({ maxAnonymousConnections }: ConnectionLimits): boolean {
    for (const connection of this.#anonymous) if (connection.evict()) return true;
    if (this.#anonymous.size >= maxAnonymousConnections) return false;
    for (const connection of this.#authenticated) if (connection.evict()) return true;
    return false;
  }
}

export type BindAddress =
  | { readonly hostname: string; readonly port: number; readonly reusePort: boolean }
  | { readonly unix: string };

export interface ListenerTls {
  readonly identity: LiveTlsIdentity;
  readonly counts: HandshakeCounts;
}

/** Interval of the time-out checks. It is also the precision of the `Date` header and of every time-out. */
const TIMEOUT_CHECK_INTERVAL_MS = 250;
/**
 * Units of work in one turn of the event loop: about 1 ms of refused requests, and 1 ms of small cached responses. The
 * handler limits the time that a large response takes.
 */
const ANONYMOUS_UNITS = 32;
const AUTHENTICATED_UNITS = 256;
/**
 * Maximum number of received bytes that all anonymous connections together hold. Each holds little, but anybody can open
 * thousands. Above it, some are closed.
 */
const MAX_ANONYMOUS_BYTES = 64 * 1024 * 1024;

export interface ListenerOptions {
  readonly counters?: ConnectionCounters;
  /** Called once for each change of state: file descriptors run low, are exhausted, or are enough again. */
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
  readonly #tlsAcceptors: TlsAcceptor[] = [];
  #anonymousBytes = 0;
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

  /**
   * Listens on an address. It may be called several times, each time with its own handler. A Unix socket has no TLS. Throws
   * the runtime's error if the address is not available.
   */
  listen(
    address: BindAddress,
    tls?: ListenerTls,
    handler = this.handler,
  ): { readonly hostname: string; readonly port: number } {
    if ("unix" in address)
      return this.#bind(
        address,
        this.#plainHandler(() => OWN_PROCESS, handler),
      );
    return tls
      ? this.#bind(address, this.#tlsHandler(tls))
      : this.#bind(address, this.#plainHandler(originOf, handler));
  }

  #bind<Data>(
    address: BindAddress,
    socket: Bun.SocketHandler<Data | undefined>,
  ): { readonly hostname: string; readonly port: number } {
    const common = { socket, allowHalfOpen: true, data: undefined };
    if ("unix" in address) {
      this.#sockets.push(Bun.listen<Data | undefined>({ ...common, unix: address.unix }));
      return { hostname: address.unix, port: 0 };
    }
    const { hostname, port, reusePort } = address;
    const reuse = reusePort ? { reusePort: true } : { exclusive: true };
    const bound = new SuspendableSocket(
      (sameOrAny) => Bun.listen<Data | undefined>({ ...common, hostname, port: sameOrAny, ...reuse }),
      port,
    );
    this.#sockets.push(bound);
    this.#suspendable.push(bound);
    return bound;
  }

  /** Handles sockets without TLS. A connection without an origin is closed. */
  #plainHandler(
    findOrigin: (tcp: { readonly remoteAddress: string }) => ConnectionOrigin | undefined,
    handler: Handler,
  ): Bun.SocketHandler<Connection | undefined> {
    return {
      open: (tcp) => {
        const origin = findOrigin(tcp);
        if (!origin) {
          tcp.terminate();
          return;
        }
        tcp.setNoDelay(true);
        tcp.data = this.#accept(tcp, origin, handler);
      },
      data: (tcp, bytes) => tcp.data?.onData(bytes),
      drain: (tcp) => tcp.data?.onDrain(),
      end: (tcp) => tcp.data?.onEnd(),
      close: (tcp) => {
        if (tcp.data) this.#onClosed(tcp.data);
      },
      // The runtime reports exceptions of the callbacks above here too.
      error: (tcp, error) => {
        tcp.terminate();
        this.handler.onError(error);
      },
    };
  }

  #tlsHandler({ identity, counts }: ListenerTls): TlsAcceptor["rawHandler"] {
    const acceptor = new TlsAcceptor({
      identity,
      counts,
      clock: this.#clock,
      isReserved: (tcp) => this.#descriptors.isSocketReserved(tcp),
      onSecure: (socket, origin) => this.#accept(socket, origin),
      onClosed: (connection) => this.#onClosed(connection),
      onError: (error) => this.handler.onError(error),
      onPlainHttp: (tcp) => this.#rejectPlainHttp(tcp),
    });
    this.#tlsAcceptors.push(acceptor);
    identity.onChange(({ clientCa }) => {
      if (clientCa !== identity.current.clientCa) this.#closeCertificateConnections();
    });
    return acceptor.rawHandler;
  }

  /** Closes the socket and returns undefined if the server is stopping or there are too many connections. */
  #accept(socket: Socket, origin: ConnectionOrigin, handler = this.handler): Connection | undefined {
    if (this.stopping || !this.#makeRoom(socket)) {
      socket.terminate();
      return undefined;
    }
    const connection = new Connection(socket, this, origin, handler);
    this.#connections.add(connection);
    return connection;
  }

  #rejectPlainHttp(socket: Pick<Socket, "write" | "end">): void {
    const detail = "This port expects TLS; use https:// in the address.";
    const { status, headers, body } = this.handler.onParseError(new ParseError("bad-request", detail));
    const text = typeof body === "string" ? body : "";
    const head = `${serializeTimedHead(status, headers, this.now(), this.handler.commonHeaders)}Connection: close\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
    socket.write(Buffer.concat(joinHeadAndBody(head, text)));
    socket.end();
  }

  /** Closes connections with client certificates, because the authorities that verified them may not be trusted any more. */
  #closeCertificateConnections(): void {
    for (const connection of this.#connections) if (connection.clientCertificate) connection.destroy();
  }

  /** The time of the last time-out check. On some machines a system call for the time costs half of a small response. */
  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  onAuthenticated(connection: Connection): void {
    this.#connections.onAuthenticated(connection);
  }

  onAnonymousBytes(change: number): void {
    this.#anonymousBytes += change;
    if (change < 0 || this.#anonymousBytes <= MAX_ANONYMOUS_BYTES) return;
    this.counters.evicted += this.#connections.evictHolders(() => this.#anonymousBytes > MAX_ANONYMOUS_BYTES);
  }

  /** Updates the time, checks all time-outs and the file descriptors, until the signal aborts. */
  async runTimeouts(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(TIMEOUT_CHECK_INTERVAL_MS, signal);
      this.#now = this.#clock.now();
      this.#monotonic = this.#clock.monotonic();
      for (const connection of this.#connections) connection.checkTimeout(this.#monotonic);
      this.#checkDescriptors();
      for (const acceptor of this.#tlsAcceptors) acceptor.checkTimeouts();
    }
  }

  /** Accepts no new connections, waits at most `drainMs` for responses in flight, then closes all connections. */
  async stop(drainMs: number): Promise<void> {
    this.stopping = true;
    for (const socket of this.#sockets) socket.stop();
    for (const acceptor of this.#tlsAcceptors) acceptor.closeUnfinished();
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
   * Returns whether a new connection is accepted. A connection that is being served is never closed for it, so the new one
   * is refused while all others are being served.
   */
  #makeRoom(tcp: object): boolean {
    if (!this.#descriptors.isSocketReserved(tcp) && !this.#connections.isFull(this.limits)) return true;
    this.counters.evicted++;
    return this.#connections.evictOldest(this.limits);
  }

  /** Closes idle connections when file descriptors are exhausted. If there are none, stops accepting until enough are free. */
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

const OWN_PROCESS: ConnectionOrigin = { remoteAddress: "", isOwnProcess: true };

/** Undefined if the client reset the connection before it was accepted, because the runtime then has no address. */
function originOf({ remoteAddress }: { readonly remoteAddress: string }): ConnectionOrigin | undefined {
  return remoteAddress ? { remoteAddress, isOwnProcess: false } : undefined;
}
