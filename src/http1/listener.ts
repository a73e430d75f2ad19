/**
 * An HTTP/1.1 server on the runtime's sockets: accepts connections on one or more addresses, enforces their time-outs and
 * number, and drains them on stop. The runtime's own server spends three quarters of a small response on objects that no
 * handler here reads (docs/decisions/0006).
 */
import type { Clock } from "../lib/clock.ts";
import { Connection } from "./connection.ts";
import type { ClientCertificate, ConnectionLimits, Handler, ServerContext, Socket } from "./handler.ts";
import { ParseError } from "./request.ts";
import { joinHeadAndBody, serializeHead } from "./serialized-response.ts";
import { type HandshakeCounts, TlsAcceptor } from "./tls.ts";
import type { LiveTlsIdentity } from "./tls-identity.ts";

export type BindAddress =
  | { readonly hostname: string; readonly port: number; readonly reusePort: boolean }
  | { readonly unix: string };

export interface ListenerTls {
  readonly identity: LiveTlsIdentity;
  readonly counts: HandshakeCounts;
}

/** Also the precision of the `Date` header and of every time-out. */
const TIMEOUT_CHECK_INTERVAL_MS = 250;

export class HttpListener implements ServerContext {
  readonly handler: Handler;
  readonly limits: ConnectionLimits;
  stopping = false;
  inFlight = 0;
  readonly #clock: Clock;
  readonly #connections = new Set<Connection>();
  readonly #tlsAcceptors: TlsAcceptor[] = [];
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
  listen(address: BindAddress, tls?: ListenerTls): { readonly hostname: string; readonly port: number } {
    return tls ? this.#bind(address, this.#tlsHandler(tls)) : this.#bind(address, this.#plainHandler());
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
    const bound = Bun.listen<Data | undefined>({ ...common, hostname, port, ...reuse });
    this.#sockets.push(bound);
    return bound;
  }

  #plainHandler(): Bun.SocketHandler<Connection | undefined> {
    return {
      open: (tcp) => {
        tcp.setNoDelay(true);
        tcp.data = this.#accept(tcp);
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
  }

  #tlsHandler({ identity, counts }: ListenerTls): TlsAcceptor["rawHandler"] {
    const acceptor = new TlsAcceptor({
      identity,
      counts,
      clock: this.#clock,
      onSecure: (socket, certificate) => this.#accept(socket, certificate),
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

  /** Undefined, and the socket is closed, when the server stops. */
  #accept(socket: Socket, certificate?: ClientCertificate): Connection | undefined {
    if (this.stopping) {
      socket.terminate();
      return undefined;
    }
    if (this.#connections.size >= this.limits.maxConnections) this.#closeOldestIdle();
    const connection = new Connection(socket, this, certificate);
    this.#connections.add(connection);
    return connection;
  }

  #rejectPlainHttp(socket: Pick<Socket, "write" | "end">): void {
    const detail = "This port expects TLS; use https:// in the address.";
    const { status, headers, body } = this.handler.onParseError(new ParseError("bad-request", detail));
    const text = typeof body === "string" ? body : "";
    const head = `${serializeHead(status, headers)}Connection: close\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
    socket.write(Buffer.concat(joinHeadAndBody(head, text)));
    socket.end();
  }

  /** Their certificates were verified against authorities that are not trusted any more. */
  #closeCertificateConnections(): void {
    for (const connection of this.#connections) if (connection.clientCertificate) connection.destroy();
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
      for (const acceptor of this.#tlsAcceptors) acceptor.checkTimeouts();
    }
  }

  /** Accepts nothing new, waits for responses in flight, at most `drainMs`, then closes everything. */
  async stop(drainMs: number): Promise<void> {
    this.stopping = true;
    for (const socket of this.#sockets) socket.stop(false);
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
