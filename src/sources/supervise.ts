/**
 * Runs the sources and says how each is doing.
 *
 * - Every source runs on its own: one that fails never holds up or stops another.
 * - A source that throws, or returns before it was told to, is started again after a pause that doubles (with
 *   jitter) up to a minute. It starts from short pauses again once a run has lasted longer than the longest pause:
 *   a source that syncs and then dies at once must not be restarted in a tight loop.
 * - Each run gets a signal and a sink of its own. Both end with the run, so whatever a failed run left behind is
 *   told to stop and can no longer speak for its successor.
 * - `run` returns when the signal aborts and every source has returned. Nothing is left running.
 *
 * What the claims mean, and what becomes of them while a source is stale, is the view's matter.
 */
import { type Backoff, createBackoff } from "../lib/backoff.ts";
import type { Claims } from "../model/claim.ts";
import type { ClaimSink, Sink, Source, SourceContext } from "./source.ts";
import { SourceError } from "./source.ts";

/**
 * - `starting`: nothing was claimed yet; with an `error` when the first tries failed.
 * - `synced`: what it claims is what it knows.
 * - `stale`: its last claims stand, but it failed or reported trouble since; `error` says why.
 * - `stopped`: told to stop.
 */
export type SourceState = "starting" | "synced" | "stale" | "stopped";

export interface SourceStatus {
  readonly name: string;
  readonly kind: string;
  readonly status: SourceState;
  /** Epoch milliseconds at which it came into this status. */
  readonly since: number;
  readonly error?: string;
  /** Epoch milliseconds of the last claims that were taken. */
  readonly lastSyncedAt?: number;
  readonly restarts: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

/** A source and the kind (the `type` of its configuration) it was made as. */
export interface ConfiguredSource {
  readonly kind: string;
  readonly source: Source;
}

export interface SupervisorOptions extends SourceContext {
  readonly sources: readonly ConfiguredSource[];
  readonly sinkFor: (sourceName: string) => ClaimSink;
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
  readonly random?: () => number;
}

export interface Supervisor {
  run(signal: AbortSignal): Promise<void>;
  status(): SourceStatus[];
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const watched = options.sources.map((configured) => new Watched(configured, options));
  return {
    async run(signal) {
      await Promise.all(watched.map((source) => source.run(signal)));
    },
    status: () => watched.map((source) => source.status()),
  };
}

class Watched {
  readonly #source: Source;
  readonly #kind: string;
  readonly #options: SupervisorOptions;
  #state: SourceState = "starting";
  #since: number;
  #error: string | undefined;
  #lastSyncedAt: number | undefined;
  #restarts = 0;

  constructor({ source, kind }: ConfiguredSource, options: SupervisorOptions) {
    this.#source = source;
    this.#kind = kind;
    this.#options = options;
    this.#since = options.clock.now();
  }

  status(): SourceStatus {
    const metrics = this.#source.metrics?.();
    return {
      name: this.#source.name,
      kind: this.#kind,
      status: this.#state,
      since: this.#since,
      ...(this.#error !== undefined && { error: this.#error }),
      ...(this.#lastSyncedAt !== undefined && { lastSyncedAt: this.#lastSyncedAt }),
      restarts: this.#restarts,
      ...(metrics && { metrics }),
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, firstPauseMs = 1000, longestPauseMs = 60_000, random } = this.#options;
    const backoff = createBackoff(firstPauseMs, longestPauseMs, random);
    while (!signal.aborted) {
      const startedAt = clock.now();
      const failure = await this.#runOnce(signal);
      if (signal.aborted) break;
      this.#failed(failure);
      if (clock.now() - startedAt > longestPauseMs) backoff.reset();
      await this.#pause(backoff, signal);
    }
    this.#enter("stopped", undefined);
  }

  /** One life of the source; resolves to what ended it. */
  async #runOnce(signal: AbortSignal): Promise<unknown> {
    const life = new AbortController();
    const end = () => life.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    try {
      await this.#source.run(this.#sink(life.signal), life.signal);
      return new SourceError("ended by itself");
    } catch (error) {
      return error;
    } finally {
      signal.removeEventListener("abort", end);
      life.abort();
    }
  }

  async #pause(backoff: Backoff, signal: AbortSignal): Promise<void> {
    const pauseMs = backoff.nextMs();
    this.#options.log.debug("source waits", { source: this.#source.name, ms: pauseMs });
    await this.#options.clock.sleep(pauseMs, signal);
    if (!signal.aborted) this.#restarts++;
  }

  #sink(life: AbortSignal): Sink {
    const behind = this.#options.sinkFor(this.#source.name);
    const say = async (speak: () => Promise<void>) => {
      if (life.aborted) throw new SourceError("the source was told to stop");
      await speak();
      if (life.aborted) return;
      this.#lastSyncedAt = this.#options.clock.now();
      this.#enter("synced", undefined);
    };
    return {
      replace: (all) => say(() => behind.replace(endingWith(life, all))),
      apply: (changes) => say(() => behind.apply(changes)),
      ...(behind.recall && { recall: behind.recall.bind(behind) }),
      trouble: (message) => {
        if (!life.aborted) this.#doubt(message);
      },
    };
  }

  #failed(failure: unknown): void {
    // A SourceError speaks to the operator; anything else is a bug, whose stack belongs in the diary.
    if (!(failure instanceof SourceError) && failure instanceof Error) {
      this.#options.log.error("source crashed", { source: this.#source.name, stack: failure.stack });
    }
    this.#doubt(failure instanceof Error ? failure.message : String(failure));
  }

  #doubt(reason: string): void {
    this.#enter(this.#lastSyncedAt === undefined ? "starting" : "stale", reason);
  }

  #enter(state: SourceState, error: string | undefined): void {
    if (state === this.#state && error === this.#error) return;
    if (state !== this.#state) this.#since = this.#options.clock.now();
    this.#state = state;
    this.#error = error;
    const level = error === undefined ? "info" : "warn";
    this.#options.log[level](`source ${state}`, { source: this.#source.name, error });
  }
}

/** The same claims, but to go on reading them fails once the life is over: a million of them must not delay a stop. */
function endingWith(life: AbortSignal, all: Claims): Claims {
  const guard = <T>(claims: Iterable<T> = []): Iterable<T> => ({
    *[Symbol.iterator]() {
      for (const claim of claims) {
        if (life.aborted) throw new SourceError("the source was told to stop");
        yield claim;
      }
    },
  });
  return {
    devices: guard(all.devices),
    ports: guard(all.ports),
    links: guard(all.links),
    hosts: guard(all.hosts),
  };
}
