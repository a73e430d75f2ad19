/**
 * The contracts between a connection and its surroundings: the handler that produces responses, the server it belongs to,
 * and the socket it reads and writes. They are interfaces so that a connection can be tested without a network.
 */
import type { SharedMemory } from "../lib/memory-budget.ts";
import type { CommonHeaders } from "./common-headers.ts";
import type { ParseError, Request } from "./request.ts";
import type { HeadLimits } from "./request-parser.ts";
import type { Response } from "./response.ts";
import type { ByteSink } from "./response-writer.ts";
import type { SerializedResponse } from "./serialized-response.ts";
import type { TurnQueue } from "./turn-queue.ts";

export interface Handler {
  /** The headers that every response has. */
  readonly commonHeaders?: CommonHeaders;
  /** May return a `SerializedResponse` only for a GET that keeps its connection open. */
  handle(request: Request, connection: ConnectionInfo): SerializedResponse | Response | Promise<Response>;
  /** Returns the response to bytes that are not a valid request. The connection closes after it. */
  onParseError(error: ParseError): Response;
  /**
   * Returns the response to an exception. It is also called when no response can be sent any more, so that every exception
   * is logged. It must not throw.
   */
  onError(error: unknown): Response;
  /**
   * Called when the socket did not accept all bytes of a response that is completely in memory. The function that it
   * returns is called when the bytes are sent or the client is gone. `shared` is the memory of the bytes if other responses
   * share it.
   */
  onUnsent?(
    request: Request,
    connection: ConnectionInfo,
    bytes: number,
    shared: SharedMemory | undefined,
  ): (() => void) | undefined;
}

/**
 * Where a connection comes from. The listener determines it when it accepts the connection, because the address of a client
 * that resets the connection right after its request is no longer available when the request is handled.
 */
export interface ConnectionOrigin {
  /** The IP address of the peer. It is empty only if `isOwnProcess`. */
  readonly remoteAddress: string;
  /** Whether the connection came over the Unix socket, which only the service's own processes can reach. */
  readonly isOwnProcess: boolean;
  /** The certificate of the client; undefined without TLS, without trusted authorities, or if the client sent none. */
  readonly clientCertificate?: ClientCertificate | undefined;
}

/** The part of a connection that a handler of its requests can use. */
export interface ConnectionInfo extends ConnectionOrigin {
  /** Number of responses in flight on all other authenticated connections of the server, except those of its Unix socket. */
  readonly inFlight: number;
  /**
   * The handler calls it when the credentials of the request that it handles are valid, before it returns or resolves.
   * Until the first such call a connection is anonymous: it shares a smaller quota of each turn, it is the first to be
   * closed when there are too many, and its responses do not count as in flight. A request with a body and without this
   * call counts as refused: less of its body is skipped, and it gets no 100 response. The call may be omitted if it was
   * made for the same bytes before on this connection.
   */
  markAuthenticated(): void;
  /** Whether the client is gone, so that nobody needs a response any more. */
  readonly aborted: boolean;
  readonly gone: ClientGone;
}

/**
 * Tells the code that produces a response that its client is gone, so that the work can stop.
 * A client that closes only its sending side counts as gone too, because most clients that give up do only that.
 */
export class ClientGone {
  #listener: (() => void) | undefined;
  #isGone = false;

  get reported(): boolean {
    return this.#isGone;
  }

  /** The listener is called once: when the client goes, or immediately if it is gone already. Undefined removes it. */
  set listener(listener: (() => void) | undefined) {
    this.#listener = listener;
    if (this.#isGone) this.report();
  }

  report(): void {
    const listener = this.#listener;
    this.#isGone = true;
    this.#listener = undefined;
    listener?.();
  }
}

/** The certificate that a client has sent. */
export interface ClientCertificate {
  /** The CN of the certificate; undefined if it is not valid or does not have exactly one CN. */
  readonly commonName: string | undefined;
}

/** Counts of the connections that the server closed to protect the others. */
export class ConnectionCounters {
  /** Number of connections closed or not accepted because there were too many connections or too few file descriptors. */
  evicted = 0;
  /** Number of connections closed because the client read its response too slowly. */
  slowReaders = 0;
  /** Number of connections closed because a request body exceeded the number of bytes that are skipped. */
  longBodies = 0;
}

/** The parts of the server that its connections use. */
export interface ServerContext {
  readonly handler: Handler;
  readonly limits: ConnectionLimits;
  readonly counters: ConnectionCounters;
  readonly stopping: boolean;
  /** The quotas of work in each turn of the event loop, for anonymous and for authenticated connections. */
  readonly anonymousTurns: TurnQueue;
  readonly authenticatedTurns: TurnQueue;
  /** Called when an anonymous connection holds more or fewer received bytes. May close connections, also this one. */
  onAnonymousBytes(change: number): void;
  /**
   * Number of responses being produced or sent on all authenticated connections except those of a Unix socket. Each
   * connection adds its response and subtracts it again.
   */
  inFlight: number;
  /** The time in epoch milliseconds, for the `Date` header. */
  now(): number;
  /** The time of the monotonic clock in milliseconds, for time-outs. */
  monotonic(): number;
  onAuthenticated(connection: ConnectionInfo): void;
}

export interface ConnectionLimits extends HeadLimits {
  /** Maximum number of open connections. One more closes the oldest anonymous one, or the oldest idle one. */
  readonly maxConnections: number;
  /** Maximum number of anonymous connections. One more closes the oldest of them that is not being served. */
  readonly maxAnonymousConnections: number;
  /** Time after which a connection without a request, a byte of a request body, or progress of a response is closed. */
  readonly idleTimeoutMs: number;
  /** Time from the first byte of a request head to its last. */
  readonly headTimeoutMs: number;
  /** Time that the client has to close the connection after the server has sent its last byte. */
  readonly lingerTimeoutMs: number;
  /** A client that reads a response more slowly than this over 30 s is disconnected, except on event streams; 0 is no limit. */
  readonly minReadBytesPerSecond: number;
}

/** The socket of a connection. The address of the peer is in `ConnectionOrigin`. */
export interface Socket extends ByteSink {
  /** Closes both directions. Bytes that the kernel has accepted are still sent. */
  end(): void;
  /** Closes the sending direction. Bytes from the client can still be read. */
  shutdown(): void;
  /** Closes at once. Unsent bytes are lost. */
  terminate(): void;
  pause(): void;
  resume(): void;
}
