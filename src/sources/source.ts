/**
 * The contract of a source: something that knows a network and says what it knows.
 *
 * - `run` first makes its whole set known with `sink.replace`, then changes with `sink.apply`; a source that only
 *   polls calls `replace` each time. It returns when `signal` aborts. When it throws, the supervisor restarts it
 *   after a pause; until then its last claims stand and are called stale. So on failure a source says nothing:
 *   stale beats partial.
 * - Awaiting the sink is the back-pressure. The sink checks each record, drops and counts bad ones, and finds out
 *   by itself what is new: saying the same again is free of consequences.
 * - A source owns its claims and cannot touch another's.
 */
import type { ClaimChange, Claims } from "../model/claim.ts";

export interface Sink {
  /** All that this source claims, from now on and until it says otherwise. */
  replace(all: Claims): Promise<void>;
  apply(changes: readonly ClaimChange[]): Promise<void>;
}

export interface Source {
  readonly name: string;
  run(sink: Sink, signal: AbortSignal): Promise<void>;
  /** Counters and gauges of this source for `/metrics`, by name, e.g. `{ probes_refused_total: 3 }`. */
  metrics?(): Readonly<Record<string, number>>;
}

/** A failure whose message is meant for the operator, as opposed to a bug. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}
