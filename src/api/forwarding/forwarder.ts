/**
 * The contract between the HTTP interface and the controllers that reads are forwarded to. The interface knows neither
 * their addresses nor their credentials.
 */

export interface Forwarder {
  /** Nothing is forwarded. */
  readonly isEmpty: boolean;
  /** The controller that has the resource, as `ForwardPath` names it; undefined when none is configured. */
  targetOf(resource: string): ForwardTarget | undefined;
}

export interface ForwardTarget {
  /** The name of its source. */
  readonly source: string;
  /** Of a response body. */
  readonly maxResponseBytes: number;
  /** Never rejects. The consumer must read `chunks` to their end, or call `close`. */
  request(request: ForwardRequest): Promise<ForwardResult>;
}

export interface ForwardRequest {
  readonly method: "GET" | "HEAD";
  /** After the version, without a slash at its beginning, with the query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export type ForwardResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: Headers;
      /** Decoded. Rejects with an error when the controller fails, is silent for too long, or the request is aborted. */
      readonly chunks: AsyncGenerator<Uint8Array, void, void>;
      /** Ends the connection to the controller. */
      close(): void;
    }
  | {
      readonly ok: false;
      readonly code: string;
      /** For the operator: it may name the controller's address. */
      readonly message: string;
    };
