/**
 * The contract between the HTTP interface and the controllers that reads are forwarded to. The interface has neither their
 * addresses nor their credentials.
 */

export interface Forwarder {
  /** Whether nothing is forwarded. */
  readonly isEmpty: boolean;
  /** The controller that has the resource of a `ForwardPath`; undefined if none is configured. */
  targetOf(resource: string): ForwardTarget | undefined;
}

export interface ForwardTarget {
  /** The name of the controller's source. */
  readonly source: string;
  /** Maximum size of a response body. */
  readonly maxResponseBytes: number;
  /** Sends a request. Never rejects. The consumer must read `chunks` to their end, or call `close`. */
  request(request: ForwardRequest): Promise<ForwardResult>;
}

export interface ForwardRequest {
  readonly method: "GET" | "HEAD";
  /** The path after the version, without a slash at its beginning, and the query. */
  readonly path: string;
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export type ForwardResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: Headers;
      /** The decoded body. It rejects if the controller fails, sends nothing for too long, or the request is aborted. */
      readonly chunks: AsyncGenerator<Uint8Array, void, void>;
      /** Closes the connection to the controller. */
      close(): void;
    }
  | {
      readonly ok: false;
      readonly code: string;
      /** A message for the operator, which may contain the controller's address. */
      readonly message: string;
    };
