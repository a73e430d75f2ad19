/**
 * The contract of a source: something that knows a network and says what it knows.
 *
 * - `run` first makes its whole set known with `sink.replace`, then changes with `sink.apply`; a source that only
 *   polls calls `replace` each time. It returns when `signal` aborts. When it throws, the supervisor restarts it
 *   after a pause; until then its last claims stand and are called stale. So on failure a source says nothing:
 *   stale beats partial.
 * - A source that goes on but can no longer vouch for what it said (its file is broken, its peer is silent) calls
 *   `sink.trouble` with the reason. Its claims stand, it is called stale, and the next `replace` or `apply` clears it.
 * - Awaiting the sink is the back-pressure. The sink checks each record, drops and counts bad ones, and finds out
 *   by itself what is new: saying the same again is free of consequences.
 * - A source owns its claims and cannot touch another's.
 */
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { ClaimChange, Claims } from "../model/claim.ts";

/** Where the claims of one source go: what stands behind the supervisor. */
export interface ClaimSink {
  /** All that this source claims, from now on and until it says otherwise. */
  replace(all: Claims): Promise<void>;
  apply(changes: readonly ClaimChange[]): Promise<void>;
  /** What this source claimed last, also before a restart of the service; absent where that is not remembered. */
  recall?(): Promise<Claims>;
}

/** What a running source is handed. */
export interface Sink extends ClaimSink {
  /** I am still running, but what I last said may be old, for this reason (a line for the operator). */
  trouble(message: string): void;
}

export interface Source {
  readonly name: string;
  run(sink: Sink, signal: AbortSignal): Promise<void>;
  /** Counters and gauges of this source for `/metrics`, by name, e.g. `{ probes_refused_total: 3 }`. */
  metrics?(): Readonly<Record<string, number>>;
}

/** What every source is made with besides its own options. */
export interface SourceContext {
  readonly clock: Clock;
  readonly log: Logger;
}

/** A failure whose message is meant for the operator, as opposed to a bug. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}
