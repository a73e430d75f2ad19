/**
 * The contracts between a connection and its surroundings: the handler that produces responses, the server it belongs to,
 * and the socket it reads and writes. They stand here so that a connection can be tested without a network.
 */
import type { SharedMemory } from "../lib/memory-budget.ts";
import type { BufferAccount } from "./buffer-account.ts";
import type { ClientGone } from "./client-gone.ts";
import type { CommonHeaders } from "./common-headers.ts";
import type { ParseError, Request } from "./request.ts";
import type { HeadLimits } from "./request-parser.ts";
import type { Response } from "./response.ts";
import type { ByteSink } from "./response-writer.ts";
import type { SerializedResponse } from "./serialized-response.ts";
import type { TurnQueue } from "./turn-queue.ts";

export interface Handler {
  /** Of every response. */
  readonly commonHeaders?: CommonHeaders;
  /** A `SerializedResponse` is only valid for a GET that keeps its connection open. */
  handle(request: Request, connection: ConnectionInfo): SerializedResponse | Response | Promise<Response>;
  /** The response to bytes that are no valid request. The connection closes after it. */
  onParseError(error: ParseError): Response;
  /**
   * The response to an exception. Also called when no response can be sent any more, so that every exception is logged.
   * Must not throw.
   */
  onError(error: unknown): Response;
  /**
   * The socket did not accept all bytes of a response that is whole in memory. The function that is returned is called
   * when they are sent or the client is gone. `shared` is their memory where other responses share it.
   */
  onUnsent?(
    request: Request,
    connection: ConnectionInfo,
    bytes: number,
    shared: SharedMemory | undefined,
  ): (() => void) | undefined;
}

/**
 * Where a connection comes from. Its listener knows it when it accepts the connection, and it never changes: a client that
 * resets the connection behind its request has no address any more when the request is handled.
 */
export interface ConnectionOrigin {
  /** The IP address of the peer. Empty only where `isOwnProcess`. */
  readonly remoteAddress: string;
  /** Whether the connection came over the Unix socket, which only the service's own processes can reach. */
  readonly isOwnProcess: boolean;
  /** Undefined when none was sent: without TLS, without trusted authorities, or because the client has none. */
  readonly clientCertificate?: ClientCertificate | undefined;
}

/** What a handler can know of the connection that a request came on. */
export interface ConnectionInfo extends ConnectionOrigin {
  /** Responses in flight on all other authenticated connections of the server, except those of its Unix socket. */
  readonly inFlight: number;
  /**
   * The handler calls it when the credentials of the request that it handles are valid, before it returns or resolves.
   * Until a first such request a connection is anonymous: it shares a smaller quota of each turn, it is the first to be
   * closed when there are too many, and its responses do not count as in flight. A request without this call is refused:
   * less of its body is skipped, and it gets no 100 response. Not necessary where it was called for the same bytes before.
   */
  markAuthenticated(): void;
  /** Whether the client is gone, so that nobody needs a response any more. */
  readonly aborted: boolean;
  readonly gone: ClientGone;
}

/** The certificate that a client has sent. */
export interface ClientCertificate {
  /** Undefined when the certificate is not valid, or does not have exactly one CN. */
  readonly commonName: string | undefined;
}

/** What the server did to connections to protect the others. */
export class ConnectionCounters {
  /** Connections closed, or not accepted, because there were too many or too few file descriptors. */
  evicted = 0;
  /** Connections closed because the client read its response too slowly. */
  slowReaders = 0;
  /** Connections closed because a request body was longer than is skipped. */
  longBodies = 0;
}

/** What a connection needs of the server that it belongs to. */
export interface ServerContext {
  readonly handler: Handler;
  readonly limits: ConnectionLimits;
  readonly counters: ConnectionCounters;
  readonly stopping: boolean;
  /** The work of connections in each turn of the event loop. */
  readonly anonymousTurns: TurnQueue;
  readonly authenticatedTurns: TurnQueue;
  /** Received bytes that anonymous connections hold. */
  readonly anonymousBytes: BufferAccount;
  /** Responses being produced or sent, on all authenticated connections but those of a Unix socket. Connections count themselves in and out. */
  inFlight: number;
  /** Epoch milliseconds, for the `Date` header. */
  now(): number;
  /** Milliseconds of the monotonic clock, for time-outs. */
  monotonic(): number;
  onAuthenticated(connection: ConnectionInfo): void;
}

export interface ConnectionLimits extends HeadLimits {
  /** Open connections. One more closes the oldest anonymous one, or the oldest idle one. */
  readonly maxConnections: number;
  /** Open connections without an authenticated request. One more closes the oldest of them that is not being served. */
  readonly maxAnonymousConnections: number;
  /** Without a request, without a byte of a request body, or without progress of a response. */
  readonly idleTimeoutMs: number;
  /** From the first byte of a request head to its last. */
  readonly headTimeoutMs: number;
  /** How long the client may take to close after the server has sent its last byte. */
  readonly lingerTimeoutMs: number;
  /** A client that reads a response more slowly, over 30 s, is disconnected; 0 is no limit. Not for event streams. */
  readonly minReadBytesPerSecond: number;
}

/** Its address is not part of it: see `ConnectionOrigin`. */
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
