/**
 * Keeps the log in shape beside the writing: a snapshot whenever enough has changed that redoing it would cost more
 * than reading one, and forgetting what is older or more than configured. Both work in slices between other work.
 */
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Log } from "../log/log.ts";
import { KINDS } from "../model/ids.ts";
import type { View } from "./view.ts";

export interface CompactorOptions {
  readonly retentionMs: number;
  readonly maxBytes: number;
  readonly intervalMs?: number;
  /** A snapshot at least this often while anything changes, so that history can be forgotten in small pieces. */
  readonly snapshotIntervalMs?: number;
  /** A snapshot after this many changes, or a quarter of what there is, whichever is more. */
  readonly snapshotAfterChanges?: number;
}

const yieldToLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Compactor {
  readonly #view: View;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #options: Required<CompactorOptions>;
  #changesAtSnapshot: number;
  #snapshotTime: number;

  constructor(view: View, log: Log, clock: Clock, logger: Logger, options: CompactorOptions) {
    this.#view = view;
    this.#log = log;
    this.#clock = clock;
    this.#logger = logger;
    this.#options = {
      intervalMs: 5_000,
      snapshotIntervalMs: 3_600_000,
      snapshotAfterChanges: 5_000,
      ...options,
    };
    this.#changesAtSnapshot = 0;
    this.#snapshotTime = clock.now();
  }

  /** Returns on abort, with a last snapshot written, so that the next start has nothing to redo. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(this.#options.intervalMs, signal);
      if (!signal.aborted) await this.compact();
    }
    if (this.#changesSinceSnapshot > 0) await this.#try("snapshot", () => this.#writeSnapshot());
  }

  async compact(): Promise<void> {
    const { snapshotIntervalMs, snapshotAfterChanges, retentionMs, maxBytes } = this.#options;
    const things = KINDS.reduce((sum, kind) => sum + this.#view.size(kind), 0);
    const enough = this.#changesSinceSnapshot >= Math.max(snapshotAfterChanges, things / 4);
    const old = this.#changesSinceSnapshot > 0 && this.#clock.now() - this.#snapshotTime >= snapshotIntervalMs;
    const large = this.#log.stats().bytes > maxBytes && this.#changesSinceSnapshot > 0;
    if (enough || old || large) await this.#try("snapshot", () => this.#writeSnapshot());
    await this.#try("pruning", () => this.#log.prune(this.#clock.now() - retentionMs, maxBytes, yieldToLoop));
  }

  get #changesSinceSnapshot(): number {
    return this.#view.changesApplied - this.#changesAtSnapshot;
  }

  async #writeSnapshot(): Promise<void> {
    const changes = this.#view.changesApplied;
    const time = this.#clock.now();
    await this.#log.writeSnapshot(this.#view.snapshot(), yieldToLoop);
    // Only now: one that could not be written is still due.
    this.#changesAtSnapshot = changes;
    this.#snapshotTime = time;
  }

  /** A full disk must not stop the service: it goes on without, says so, and tries again. */
  async #try(what: string, task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.#logger.error(`${what} failed`, { why: error instanceof Error ? error.message : String(error) });
    }
  }
}
