/**
 * The contract of a source: a component that reports what a network looks like.
 *
 * - `run` first reports its full set with `sink.replace`, then changes with `sink.apply`. A source that polls calls
 *   `replace` each time. `run` returns when `signal` aborts.
 * - When `run` throws, the supervisor starts the source again after a pause. Meanwhile its last claims stay in the view and
 *   the source is stale. So a source that fails reports nothing, because stale data is better than partial data.
 * - A source that continues, but whose last claims may be outdated (its file is broken, its peer does not respond),
 *   calls `sink.markStale`. The next `replace` or `apply` that succeeds clears that.
 * - Awaiting the sink provides backpressure. The sink validates each record, drops and counts invalid ones, and computes the
 *   difference, so reporting the same claim again has no effect.
 * - A source owns its claims and cannot change those of another source.
 */
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { ClaimChange, ClaimFault, Claims } from "../model/claim.ts";
import type { Kind } from "../model/ids.ts";

/** A record that is no valid claim, with the reason. */
export interface RejectedRecord {
  readonly kind: Kind;
  readonly fault: ClaimFault;
}

/** The store of one source's claims, as the supervisor uses it. */
export interface ClaimSink {
  /** Replaces all claims of this source. */
  replace(all: Claims): Promise<void>;
  apply(changes: readonly ClaimChange[]): Promise<void>;
  /** Counts and logs a record that the source could not convert to a claim, like one that fails validation. */
  reject(kind: Kind, fault: ClaimFault): void;
  /** Reads the last claims of this source, also from before a restart of the service. Absent where they are not stored. */
  lastClaims?(): Promise<Claims>;
}

/** The sink that a running source gets. */
export interface Sink extends ClaimSink {
  /** Marks the last claims of a running source as possibly outdated. `reason` is one line for the operator. */
  markStale(reason: string): void;
  /**
   * Sets the ids of the logs that the claims of this source come from: of the Gazetteer that it reads, and of those which
   * that one reads. Every service shows its own in `/readyz`, so that a loop of services is detected. Initially empty.
   */
  setUpstreamLogs?(ids: readonly string[]): void;
}

export interface Source {
  readonly name: string;
  run(sink: Sink, signal: AbortSignal): Promise<void>;
  /** Counters and gauges of this source for `/metrics`, by name, e.g. `{ probes_sent_total: 3 }`. */
  metrics?(): Readonly<Record<string, number>>;
  /** Checks, for `gazetteer check`, the input that the source would read now. Changes nothing. */
  check?(): Promise<SourceCheck>;
}

/** The result of checking a source without running it. */
interface SourceCheck {
  /** The faults, one line each. */
  readonly faults: readonly string[];
  /** The claims that the source would report; absent where only a running source can know them. */
  readonly claims?: Claims;
}

export const checkOf = (fault: string | undefined): SourceCheck => ({
  faults: fault === undefined ? [] : [fault],
});

/** Values that a source shares with the other nodes of its cluster. */
export interface SourceCluster {
  /** Derives a key that only the nodes of the cluster have. */
  deriveKey(purpose: string): Uint8Array;
  /** The generation of the takeover by which this node runs the source. Each takeover has a larger one. */
  generationOf(source: string): bigint;
}

/** The context that every source is created with, besides its own options. */
export interface SourceContext {
  readonly clock: Clock;
  readonly log: Logger;
  /** The id of the log of this service, once the source runs. Absent where no service runs, as in `gazetteer check`. */
  readonly logId?: (() => string | undefined) | undefined;
  /** The folder for state files of sources (`state-file.ts`). Absent where nothing is written to disk. */
  readonly stateDir?: string | undefined;
  /** The cluster of this node, once the source runs. Absent where there is none. */
  readonly cluster?: (() => SourceCluster | undefined) | undefined;
}

/** The error of an expected failure. Its message is for the operator. Any other error is a bug and is logged with its stack. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

/** Counters of a source, by their names in `/metrics`. Each exists from the start, with the value 0. */
export class NamedCounters<Name extends string> {
  readonly #counts: Map<Name, number>;

  constructor(names: readonly Name[]) {
    this.#counts = new Map(names.map((name) => [name, 0]));
  }

  count(name: Name): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  all(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
