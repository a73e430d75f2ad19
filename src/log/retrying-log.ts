/**
 * The embedded log of the service. A batch that cannot be written, because the disk is full or the writer ended, is
 * written again after a pause, until it is stored or the log is closed. Meanwhile sources keep their sessions, their claims
 * wait, and readers see the last revision. The beginning and the end of a failure are logged once each; `stats` reports the
 * failure, and listeners are called.
 */
import { createBackoff } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { EmbeddedLog, type EmbeddedLogOptions } from "./embedded.ts";
import { type Batch, LogError, type LogStats, type WriteFailure } from "./log.ts";
import { type LogFileOptions, openLogFile } from "./log-file.ts";

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

export interface RetryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Opens or creates the log at `path`, a file or `:memory:`. Throws `LogError`. */
export const openRetryingLog = (
  path: string,
  retry: RetryOptions,
  options: EmbeddedLogOptions & LogFileOptions = {},
): RetryingLog => new RetryingLog(path, retry, options);

export class RetryingLog extends EmbeddedLog {
  readonly #retry: RetryOptions;
  readonly #closing = new AbortController();
  #failure: WriteFailure | undefined;
  #failures = 0;
  readonly #failingListeners = new Set<(isFailing: boolean) => void>();

  constructor(path: string, retry: RetryOptions, options: EmbeddedLogOptions & LogFileOptions) {
    super(openLogFile(path, options), path, options);
    this.#retry = retry;
  }

  override async store(batch: Batch, position?: string): Promise<void> {
    const { clock, logger } = this.#retry;
    const backoff = createBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
    const startedAt = clock.monotonic();
    for (;;) {
      try {
        await super.store(batch, position);
        break;
      } catch (error) {
        if (!(error instanceof LogError) || this.#closing.signal.aborted) throw error;
        this.#onFailure(error.message);
        await clock.sleep(backoff.nextMs(), this.#closing.signal);
      }
    }
    if (!this.#failure) return;
    this.#failure = undefined;
    this.#announce(false);
    const seconds = Math.round((clock.monotonic() - startedAt) / 1000);
    logger.info("the log is written again", { seconds });
  }

  /** Adds a listener. It gets true when writes of batches begin to fail, and false when they succeed again or the log closes. */
  onFailing(listener: (isFailing: boolean) => void): void {
    this.#failingListeners.add(listener);
  }

  #announce(isFailing: boolean): void {
    for (const listener of this.#failingListeners) listener(isFailing);
  }

  #onFailure(error: string): void {
    const { clock, logger } = this.#retry;
    this.#failures++;
    const isFirst = !this.#failure;
    if (isFirst) logger.error("the log cannot be written; changes wait until it can", { why: error });
    this.#failure = { error, since: this.#failure?.since ?? clock.now() };
    if (isFirst) this.#announce(true);
  }

  override stats(): LogStats {
    const stats = super.stats();
    if (this.#failures === 0) return stats;
    return {
      ...stats,
      writeFailures: this.#failures,
      ...(this.#failure && { writeFailure: this.#failure }),
    };
  }

  override async close(): Promise<void> {
    this.#closing.abort();
    if (this.#failure) this.#announce(false);
    await super.close();
  }
}
