/**
 * Times in which this node cannot store changes, for example because its disk is full. Only a failure that lasts longer than a
 * lease is an outage: a short one must not move sources. An outage ends with the next write that succeeds.
 */
import { aborted, orAborted } from "../lib/aborted.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";

/** The log of this node. */
export interface WatchedWrites {
  /** The listener is called with true when writes begin to fail, and with false when they no longer do. */
  onWriteFailing(listener: (isFailing: boolean) => void): void;
}

export interface WriteOutagesOptions {
  readonly writes: WatchedWrites;
  /** Of a lease. */
  readonly ttlMs: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class WriteOutages {
  readonly #options: WriteOutagesOptions;
  #begun = new AbortController();
  #ended = new AbortController();

  constructor(options: WriteOutagesOptions) {
    this.#options = options;
    options.writes.onWriteFailing((isFailing) => {
      if (isFailing) void this.#onFailing();
      else this.#onWritten();
    });
  }

  /** Aborts when an outage begins; the outage after that has another signal. */
  get begun(): AbortSignal {
    return this.#begun.signal;
  }

  /** Resolves when this node can write again, and when `signal` aborts. */
  async untilOver(signal: AbortSignal): Promise<void> {
    while (this.begun.aborted && !signal.aborted) await orAborted(aborted(this.#ended.signal), signal);
  }

  async #onFailing(): Promise<void> {
    const { ttlMs, clock, logger } = this.#options;
    const ended = new AbortController();
    this.#ended = ended;
    await clock.sleep(ttlMs(), ended.signal);
    if (ended.signal.aborted) return;
    logger.warn("this node cannot write its log: it leaves its sources to other nodes until it can");
    this.#begun.abort();
  }

  #onWritten(): void {
    if (this.begun.aborted) this.#begun = new AbortController();
    this.#ended.abort();
  }
}
