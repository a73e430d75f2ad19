/**
 * Times in which this node cannot store changes, for example because its disk is full. Only a failure that lasts longer than a
 * lease is an outage: a short one must not move sources. An outage ends with the next write that succeeds. A wrong clock, with
 * which nothing may be written, is an outage at once.
 */
import { aborted, orAborted } from "../lib/aborted.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { ClockCheck } from "./clock-check.ts";

/** The log of this node. */
export interface WatchedWrites {
  /** The listener is called with true when writes begin to fail, and with false when they no longer do. */
  onWriteFailing(listener: (isFailing: boolean) => void): void;
}

type Cause = "writes" | "clock";

export interface WriteOutagesOptions {
  readonly writes: WatchedWrites;
  readonly clockCheck?: Pick<ClockCheck, "onChange"> | undefined;
  /** Of a lease. */
  readonly ttlMs: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class WriteOutages {
  readonly #options: WriteOutagesOptions;
  readonly #causes = new Set<Cause>();
  #begun = new AbortController();
  #ended = new AbortController();
  /** Aborts when writes no longer fail. */
  #failing = new AbortController();

  constructor(options: WriteOutagesOptions) {
    this.#options = options;
    options.writes.onWriteFailing((isFailing) => {
      this.#failing.abort();
      if (isFailing) void this.#onFailing();
      else this.#end("writes");
    });
    options.clockCheck?.onChange((state) => {
      if (state === "wrong") this.#begin("clock");
      else this.#end("clock");
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
    this.#failing = new AbortController();
    const { signal } = this.#failing;
    await clock.sleep(ttlMs(), signal);
    if (signal.aborted) return;
    logger.warn("this node cannot write its log: it leaves its sources to other nodes until it can");
    this.#begin("writes");
  }

  #begin(cause: Cause): void {
    if (this.#causes.size === 0) this.#ended = new AbortController();
    this.#causes.add(cause);
    this.#begun.abort();
  }

  #end(cause: Cause): void {
    if (!this.#causes.delete(cause) || this.#causes.size > 0) return;
    this.#begun = new AbortController();
    this.#ended.abort();
  }
}
