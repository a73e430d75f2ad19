/**
 * Runs the sources and reports the status of each.
 *
 * - Sources are independent: a source that fails neither delays nor stops another.
 * - A source that throws, or returns before the signal aborts, is restarted after a pause that doubles (with jitter) up
 *   to a minute. The pause returns to its minimum only after a run that lasted longer than the maximum pause, so that a
 *   source that syncs and then fails at once is not restarted in a tight loop.
 * - Each run has its own signal and its own sink. Both end with the run, so that work which a failed run left behind is
 *   aborted and can no longer report claims.
 * - `onStatus` is called for every committed report and for every failure, in the order in which they occur, and never after
 *   the run of the source was aborted.
 * - If several nodes could run a source, it runs only with a permit. Without one it is on standby, which is not a failure.
 * - `run` returns when the signal aborts and every source has returned. Nothing is left running.
 */
import { aborted } from "../lib/aborted.ts";
import { type Backoff, createBackoff } from "../lib/backoff.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Claims } from "../model/claim.ts";
import type { SourceReport, SourceState } from "../model/source-status.ts";
import type { ClaimSink, Sink, Source, SourceContext } from "./source.ts";
import { SourceError } from "./source.ts";

/** A source and its kind (the `type` of its configuration). */
export interface ConfiguredSource {
  readonly kind: string;
  readonly source: Source;
}

export interface SupervisorOptions extends SourceContext {
  readonly sources: readonly ConfiguredSource[];
  readonly sinkFor: (sourceName: string) => ClaimSink;
  /** Callback for changes of status. It must return at once and not throw. `error` is the reason of a failure. */
  readonly onStatus?: (sourceName: string, status: "synced" | "failed" | "standby", error?: string) => void;
  /**
   * Waits for the permit to run a source. `onWait` is called when it is not available at once. Resolves to undefined when
   * `signal` aborts. Absent where a source may always run.
   */
  readonly permitFor?:
    | ((sourceName: string, signal: AbortSignal, onWait: () => void) => Promise<RunPermit | undefined>)
    | undefined;
  readonly minBackoffMs?: number;
  readonly maxBackoffMs?: number;
  readonly random?: () => number;
}

export interface RunPermit {
  /** Aborts when the source may no longer run. */
  readonly lost: AbortSignal;
  /** Releases the permit. Call it when the source no longer runs. */
  release(): Promise<void>;
}

export interface Supervisor {
  run(signal: AbortSignal): Promise<void>;
  /**
   * Replaces the set of sources: those that are no longer in it are stopped, then the new ones are started. A source that
   * is in both sets is not touched. While `run` is not running, nothing is started.
   */
  replace(sources: readonly ConfiguredSource[]): Promise<void>;
  /**
   * Ends the current run of a source, if there is one. Its later reports are refused. The next run, which follows
   * at once, begins with the full set, as every run does.
   */
  restart(sourceName: string): void;
  /** The status of each source, in the order of the sources. */
  status(): SourceReport[];
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  return new SourceSupervisor(options);
}

/** Maximum wait for a removed source to return. After that it can do no harm, because its sink no longer accepts claims. */
const STOP_TIMEOUT_MS = 2000;

class SourceSupervisor implements Supervisor {
  readonly #options: SupervisorOptions;
  #sources: ReadonlyMap<Source, SupervisedSource>;
  /** Set while `run` is running. */
  #run: { readonly signal: AbortSignal; readonly onError: (error: unknown) => void } | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#sources = new Map(
      options.sources.map((configured) => [configured.source, new SupervisedSource(configured, options)]),
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    const { promise: failed, reject } = Promise.withResolvers<never>();
    this.#run = { signal, onError: reject };
    for (const supervised of this.#sources.values()) this.#start(supervised);
    await Promise.race([aborted(signal), failed]);
    await Promise.all([...this.#sources.values()].map(({ ended }) => ended));
  }

  async replace(sources: readonly ConfiguredSource[]): Promise<void> {
    const before = this.#sources;
    const next = new Map(
      sources.map((configured) => {
        const { source } = configured;
        return [source, before.get(source) ?? new SupervisedSource(configured, this.#options)];
      }),
    );
    this.#sources = next;
    const removed = [...before.values()].filter(({ source }) => !next.has(source));
    for (const { stop } of removed) stop.abort();
    const allEnded = Promise.all(removed.map(({ ended }) => ended));
    await Promise.race([allEnded, this.#options.clock.sleep(STOP_TIMEOUT_MS)]);
    for (const [source, supervised] of next) if (!before.has(source)) this.#start(supervised);
  }

  restart(sourceName: string): void {
    for (const supervised of this.#sources.values())
      if (supervised.source.name === sourceName) supervised.restart();
  }

  status(): SourceReport[] {
    return [...this.#sources.values()].map((supervised) => supervised.status());
  }

  #start(supervised: SupervisedSource): void {
    if (!this.#run || this.#run.signal.aborted) return;
    const { signal, onError } = this.#run;
    supervised.ended = supervised.run(AbortSignal.any([signal, supervised.stop.signal]));
    supervised.ended.catch(onError);
  }
}

class SupervisedSource {
  readonly source: Source;
  /** Aborts when the source is removed. */
  readonly stop = new AbortController();
  /** Resolves when the source, once started, has returned. */
  ended: Promise<void> = Promise.resolve();
  readonly #kind: string;
  readonly #options: SupervisorOptions;
  #state: SourceState = "starting";
  #since: number;
  #error: string | undefined;
  #lastSyncedAt: number | undefined;
  #restarts = 0;
  #upstreamLogs: readonly string[] = [];
  /** The controller that aborts the current run; undefined between runs. */
  #run: AbortController | undefined;
  #permit: RunPermit | undefined;
  #mustRestart = false;

  constructor({ source, kind }: ConfiguredSource, options: SupervisorOptions) {
    this.source = source;
    this.#kind = kind;
    this.#options = options;
    this.#since = options.clock.now();
  }

  status(): SourceReport {
    const metrics = this.source.metrics?.();
    return {
      name: this.source.name,
      kind: this.#kind,
      status: this.#state,
      since: this.#since,
      ...(this.#error !== undefined && { error: this.#error }),
      ...(this.#lastSyncedAt !== undefined && { lastSyncedAt: this.#lastSyncedAt }),
      restarts: this.#restarts,
      ...(this.#upstreamLogs.length > 0 && { upstreamLogs: [...this.#upstreamLogs] }),
      ...(metrics && { metrics }),
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { permitFor } = this.#options;
    while (!signal.aborted) {
      const permit = await permitFor?.(this.source.name, signal, () => this.#setStandby());
      if (permitFor && !permit) break;
      this.#permit = permit;
      await this.#runUntil(permit ? AbortSignal.any([signal, permit.lost]) : signal);
      if (!signal.aborted) this.#setStandby();
      // The state is set before the release, which takes a while when NATS cannot be reached.
      await permit?.release();
    }
    this.#setState("stopped", undefined);
  }

  async #runUntil(signal: AbortSignal): Promise<void> {
    const { clock, minBackoffMs = 1000, maxBackoffMs = 60_000, random } = this.#options;
    this.#mustRestart = false;
    const backoff = createBackoff(minBackoffMs, maxBackoffMs, random);
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      const failure = await this.#runOnce(signal);
      if (signal.aborted) break;
      if (this.#mustRestart) {
        this.#mustRestart = false;
        this.#restarts++;
        continue;
      }
      this.#handleFailure(failure);
      if (clock.monotonic() - startedAt > maxBackoffMs) backoff.reset();
      await this.#waitBeforeRestart(backoff, signal);
    }
  }

  /** Sets standby. Until the next report of this node, the claims in the view are those that another node reported. */
  #setStandby(): void {
    this.#lastSyncedAt = undefined;
    this.#upstreamLogs = [];
    this.#setState("standby", undefined);
    this.#options.onStatus?.(this.source.name, "standby");
  }

  restart(): void {
    if (!this.#run) return;
    this.#mustRestart = true;
    this.#run.abort();
  }

  /** Resolves to the error that ended the run. */
  async #runOnce(signal: AbortSignal): Promise<unknown> {
    const run = new AbortController();
    this.#run = run;
    const abortRun = () => run.abort(signal.reason);
    signal.addEventListener("abort", abortRun, { once: true });
    try {
      await this.source.run(this.#createSink(run.signal), run.signal);
      return new SourceError("the source returned before it was stopped");
    } catch (error) {
      return error;
    } finally {
      signal.removeEventListener("abort", abortRun);
      run.abort();
      this.#run = undefined;
    }
  }

  async #waitBeforeRestart(backoff: Backoff, signal: AbortSignal): Promise<void> {
    const pauseMs = backoff.nextMs();
    await this.#options.clock.sleep(pauseMs, signal);
    if (!signal.aborted) this.#restarts++;
  }

  #createSink(run: AbortSignal): Sink {
    const claims = this.#options.sinkFor(this.source.name);
    const commit = async (write: () => Promise<void>) => {
      if (run.aborted) throw new SourceError("the source was stopped");
      await this.#whilePermitted(write());
      if (run.aborted) return;
      this.#lastSyncedAt = this.#options.clock.now();
      this.#setState("synced", undefined);
      this.#options.onStatus?.(this.source.name, "synced");
    };
    return {
      replace: (all) => commit(() => claims.replace(abortable(run, all))),
      apply: (changes) => commit(() => claims.apply(changes)),
      reject: claims.reject.bind(claims),
      ...(claims.lastClaims && { lastClaims: claims.lastClaims.bind(claims) }),
      markStale: (reason) => {
        if (!run.aborted) this.#markStale(reason);
      },
      setUpstreamLogs: (ids) => {
        if (!run.aborted) this.#upstreamLogs = ids;
      },
    };
  }

  /** Awaits a write until the permit is lost, so that a log that does not answer does not delay the end of the run. */
  async #whilePermitted(write: Promise<void>): Promise<void> {
    const lost = this.#permit?.lost;
    if (!lost) return write;
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const onLost = () => reject(new SourceError("another node may run the source"));
    lost.addEventListener("abort", onLost, { once: true });
    if (lost.aborted) onLost();
    try {
      await Promise.race([write, ended]);
    } finally {
      lost.removeEventListener("abort", onLost);
    }
  }

  /** Handles the end of a run. A SourceError is an expected failure. Any other error is a bug, so its stack is logged. */
  #handleFailure(failure: unknown): void {
    if (!(failure instanceof SourceError) && failure instanceof Error)
      this.#options.log.error("source crashed", { source: this.source.name, stack: failure.stack });
    this.#markStale(errorMessage(failure));
  }

  #markStale(reason: string): void {
    this.#setState(this.#lastSyncedAt === undefined ? "starting" : "stale", reason);
    this.#options.onStatus?.(this.source.name, "failed", reason);
  }

  #setState(state: SourceState, error: string | undefined): void {
    if (state === this.#state && error === this.#error) return;
    if (state !== this.#state) this.#since = this.#options.clock.now();
    this.#state = state;
    this.#error = error;
    const level = error === undefined ? "info" : "warn";
    this.#options.log[level](`source ${state}`, { source: this.source.name, error });
  }
}

/** Wraps claims so that iterating them throws once the run is aborted. So a million claims do not delay a stop. */
function abortable(run: AbortSignal, all: Claims): Claims {
  const guard = <T>(claims: Iterable<T> = []): Iterable<T> => ({
    *[Symbol.iterator]() {
      for (const claim of claims) {
        if (run.aborted) throw new SourceError("the source was stopped");
        yield claim;
      }
    },
  });
  return {
    isCanonical: all.isCanonical === true,
    devices: guard(all.devices),
    ports: guard(all.ports),
    links: guard(all.links),
    hosts: guard(all.hosts),
  };
}
