/**
 * The contracts between a connection and its surroundings: the handler that produces responses, the server it belongs to,
 * and the socket it reads and writes. They stand here so that a connection can be tested without a network.
 */
import type { CommonHeaders } from "./common-headers.ts";
import type { ParseError, Request } from "./request.ts";
import type { HeadLimits } from "./request-parser.ts";
import type { Response } from "./response.ts";
import type { ByteSink } from "./response-writer.ts";
import type { SerializedResponse } from "./serialized-response.ts";

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
}

/** What a handler can know of the connection that a request came on. */
export interface ConnectionInfo {
  readonly remoteAddress: string;
  /** Responses in flight on all connections of the server. */
  readonly inFlight: number;
  /** Whether the client has closed its sending side or the connection. It may still read a response. */
  readonly isEnded: boolean;
}

export interface ServerContext {
  readonly handler: Handler;
  readonly limits: ConnectionLimits;
  readonly stopping: boolean;
  /** Responses that are being produced or sent, on all connections. Connections count themselves in and out. */
  inFlight: number;
  now(): number;
}

export interface ConnectionLimits extends HeadLimits {
  /** Open connections. One more closes the oldest idle connection. */
  readonly maxConnections: number;
  /** Without a request, without a byte of a request body, or without progress of a response. */
  readonly idleTimeoutMs: number;
  /** From the first byte of a request head to its last. */
  readonly headTimeoutMs: number;
  /** How long the client may take to close after the server has sent its last byte. */
  readonly lingerTimeoutMs: number;
}

export interface Socket extends ByteSink {
  readonly remoteAddress: string;
  /** Closes both directions. Bytes that the kernel has accepted are still sent. */
  end(): void;
  /** Closes the sending direction. Bytes from the client can still be read. */
  shutdown(): void;
  /** Closes at once. Unsent bytes are lost. */
  terminate(): void;
  pause(): void;
  resume(): void;
}
