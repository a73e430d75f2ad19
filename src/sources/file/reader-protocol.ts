/**
 * What the worker that reads a network file sends: batches of claims as bytes, which are transferred and not copied, and
 * then the result.
 */
import type { Kind } from "../../model/ids.ts";

export interface ClaimBatchMessage {
  readonly kind: Kind;
  /** A JSON array of canonical claims. */
  readonly json: Uint8Array<ArrayBuffer>;
}

export type ReadResultMessage =
  | { readonly ok: true; readonly count: number }
  | { readonly ok: false; readonly message: string };

export type ReaderMessage = ClaimBatchMessage | ReadResultMessage;
