/**
 * The messages between the service and the thread of a source (`threaded-source.ts`, `source-worker.ts`). Claims are sent as
 * bytes, which are transferred and not copied, in batches that the service parses one at a time.
 */
import { errorMessage } from "../../lib/error-message.ts";
import type { Level, LogFields } from "../../lib/logger.ts";
import type { Kind } from "../../model/ids.ts";
import { type RejectedRecord, SourceError } from "../source.ts";

/** The first message, sent once: the entry of the configuration, values of the context, and whether last claims are stored. */
export interface RunRequest {
  readonly op: "run";
  readonly entry: Readonly<Record<string, unknown>>;
  readonly logId: string | undefined;
  readonly stateDir: string | undefined;
  readonly hasLastClaims: boolean;
}

/** A message from the service to the thread. */
export type ThreadRequest =
  | RunRequest
  /** A batch of the last claims. */
  | BatchReport
  /** The end of the last claims: all batches have been sent. */
  | { readonly op: "lastClaims"; readonly error?: ThreadError }
  | { readonly op: "abort" }
  /** The outcome of the last `commit`. */
  | { readonly op: "committed"; readonly error?: ThreadError };

/** A part of a set of claims, or of changes: a JSON array of canonical claims, or of ids. */
export interface BatchReport {
  readonly op: "set" | "remove";
  readonly kind: Kind;
  readonly json: Uint8Array<ArrayBuffer>;
}

/** A message from the thread to the service. */
export type ThreadReport =
  | BatchReport
  | { readonly op: "lastClaims" }
  /** Discards the batches since the last `commit`. */
  | { readonly op: "discard" }
  /** Commits the batches since the last `commit`. The thread sends no others until `committed`. */
  | { readonly op: "commit"; readonly mode: CommitMode }
  | { readonly op: "reject"; readonly records: readonly RejectedRecord[] }
  | { readonly op: "stale"; readonly reason: string }
  | { readonly op: "upstream-logs"; readonly ids: readonly string[] }
  | {
      readonly op: "log";
      readonly level: Level | "audit";
      readonly event: string;
      readonly fields?: LogFields;
    }
  | { readonly op: "metrics"; readonly values: Metrics }
  /** The last message: `run` of the source has returned or thrown. */
  | { readonly op: "ended"; readonly error?: ThreadError };

/** The mode of a commit: `replace` for a full set, `apply` for changes. */
export type CommitMode = "replace" | "apply";
export type Metrics = Readonly<Record<string, number>>;

/** An error as it is sent between threads. An error object would lose its class. */
export interface ThreadError {
  readonly message: string;
  /** The stack of an error that is not a `SourceError`, which is a bug. */
  readonly stack?: string;
}

export function encodeError(error: unknown): ThreadError {
  const message = errorMessage(error);
  if (error instanceof SourceError) return { message };
  return { message, stack: (error instanceof Error ? error.stack : undefined) ?? message };
}

export function decodeError({ message, stack }: ThreadError): Error {
  if (stack === undefined) return new SourceError(message);
  return Object.assign(new Error(message), { stack });
}
