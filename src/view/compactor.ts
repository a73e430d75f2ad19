/**
 * Compacts the log in the background: writes a snapshot when replaying the changes since the last one would cost more than
 * loading a new one, and prunes history beyond the configured age and size. The pages of a snapshot are rewritten and
 * encoded in steps; the writing itself is not on the event loop.
 */
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Logger } from "../lib/logger.ts";
import { Scheduler } from "../lib/scheduler.ts";
import type { Log } from "../log/log.ts";
import { KINDS } from "../model/ids.ts";
import { snapshotOf, type View } from "./view.ts";

/** The bounds of the history. They are read at each use, because they may change. */
interface HistoryBounds {
  readonly retentionMs: number;
  readonly maxBytes: number;
}

export interface CompactorOptions extends HistoryBounds {
  readonly intervalMs?: number;
  /** Maximum interval between snapshots while anything changes, because history is pruned from snapshot to snapshot. */
  readonly snapshotIntervalMs?: number;
  /** Number of changes after which a snapshot is written, or a quarter of the number of entities if that is more. */
  readonly snapshotAfterChanges?: number;
  readonly scheduler?: Scheduler;
}

/** The owner of compaction on the scheduler. */
const OWNER = "log";
/** A network that has grown by this factor since the last check is being loaded. */
const LOADING_GROWTH = 1.1;

export class Compactor {
  readonly #view: View;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #bounds: HistoryBounds;
  readonly #options: Required<Omit<CompactorOptions, keyof HistoryBounds>>;
  #changesAtSnapshot: number;
  #snapshotTime: number;

  constructor(view: View, log: Log, clock: Clock, logger: Logger, options: CompactorOptions) {
    this.#view = view;
    this.#log = log;
    this.#clock = clock;
    this.#logger = logger;
    this.#bounds = options;
    this.#options = {
      intervalMs: 5_000,
      snapshotIntervalMs: 3_600_000,
      snapshotAfterChanges: 5_000,
      scheduler: new Scheduler(),
      ...options,
    };
    this.#changesAtSnapshot = 0;
    this.#snapshotTime = clock.now();
  }

  /** Returns on abort, after a last snapshot, so that the next start has no batches to replay. */
  async run(signal: AbortSignal): Promise<void> {
    for (let before = this.#entities; !signal.aborted; ) {
      await this.#clock.sleep(this.#options.intervalMs, signal);
      const entities = this.#entities;
      // While a network is being loaded, every snapshot would soon be outdated by another one that contains all of it again.
      const isLoading = entities > before * LOADING_GROWTH;
      before = entities;
      if (!signal.aborted && !isLoading) await this.compact();
    }
    if (this.#changesSinceSnapshot > 0) await this.#try("snapshot", () => this.#writeSnapshot());
  }

  async compact(): Promise<void> {
    const { snapshotIntervalMs, snapshotAfterChanges } = this.#options;
    const { retentionMs, maxBytes } = this.#bounds;
    const manyChanges = this.#changesSinceSnapshot >= Math.max(snapshotAfterChanges, this.#entities / 4);
    const intervalOver =
      this.#changesSinceSnapshot > 0 && this.#clock.now() - this.#snapshotTime >= snapshotIntervalMs;
    const tooLarge = this.#log.stats().bytes > maxBytes && this.#changesSinceSnapshot > 0;
    if (manyChanges || intervalOver || tooLarge) await this.#try("snapshot", () => this.#writeSnapshot());
    await this.#try("pruning", () => this.#log.prune(this.#clock.now() - retentionMs, maxBytes));
  }

  get #entities(): number {
    return KINDS.reduce((sum, kind) => sum + this.#view.size(kind), 0);
  }

  get #changesSinceSnapshot(): number {
    return this.#view.changesApplied - this.#changesAtSnapshot;
  }

  async #writeSnapshot(): Promise<void> {
    const changes = this.#view.changesApplied;
    const time = this.#clock.now();
    const snapshot = await this.#options.scheduler.run(OWNER, snapshotOf(this.#view.capture()));
    await this.#log.writeSnapshot(snapshot);
    // These are set after the write, because a snapshot that failed is still due.
    this.#changesAtSnapshot = changes;
    this.#snapshotTime = time;
  }

  /** Logs an error, and the next run tries again, because a full disk must not stop the service. */
  async #try(what: string, task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.#logger.error(`${what} failed`, { why: errorMessage(error) });
    }
  }
}
