/** What is wrong between this node and the stream, as an operator sees it: since when, and in words. Logged at each change. */
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import type { WriteFailure } from "../log.ts";
import type { StreamCondition, StreamError } from "./stream-error.ts";

/**
 * What can fail by itself: a full stream can still be read, and one that answers may send nothing. In the order in which
 * troubles are shown; without the first ones the view becomes old.
 */
const VIEW_ACTIVITIES = ["follow", "receive", "store"] as const;
const ACTIVITIES = [...VIEW_ACTIVITIES, "publish", "clock"] as const;
type Activity = (typeof ACTIVITIES)[number];

export interface StreamTrouble {
  readonly condition: StreamCondition;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

export class StreamHealth {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #troubles = new Map<Activity, StreamTrouble>();
  readonly #staleListeners = new Set<() => void>();
  readonly #viewTime: () => number;
  /** Undefined while the view was never complete. */
  #completeAt: number | undefined;
  /** The time since which a view that was never complete counts as stale. */
  #staleFrom = 0;

  /** `viewTime` is that of the last revision: how old a view is that was never complete is not known better. */
  constructor(clock: Clock, logger: Logger, viewTime: () => number) {
    this.#clock = clock;
    this.#logger = logger;
    this.#viewTime = viewTime;
  }

  /** The view had everything then, epoch milliseconds. */
  setComplete(at: number): void {
    this.#completeAt = at;
    if (this.#isStale) this.#announceStale();
  }

  /** The listener is called when `staleSince` has changed. Returns the function that removes it. */
  onStale(listener: () => void): () => void {
    this.#staleListeners.add(listener);
    return () => this.#staleListeners.delete(listener);
  }

  report(activity: Activity, { condition, message }: StreamError): void {
    const known = this.#troubles.get(activity);
    if (known?.condition !== condition)
      this.#logger.error("trouble with the log of the cluster", { activity, condition, why: message });
    const wasStale = this.#isStale;
    this.#troubles.set(activity, { condition, message, since: known?.since ?? this.#clock.now() });
    if (wasStale || !this.#isStale) return;
    this.#staleFrom = this.#viewTime();
    this.#announceStale();
  }

  clear(activity: Activity): void {
    const known = this.#troubles.get(activity);
    if (!known) return;
    const wasStale = this.#isStale;
    this.#troubles.delete(activity);
    if (wasStale && !this.#isStale) this.#announceStale();
    // The clock of the machine may have been set back.
    const seconds = Math.max(0, Math.round((this.#clock.now() - known.since) / 1000));
    this.#logger.info("the trouble with the log of the cluster is over", { activity, seconds });
  }

  /** Undefined when all is well. What makes the view old comes first. */
  get trouble(): StreamTrouble | undefined {
    for (const activity of ACTIVITIES) {
      const trouble = this.#troubles.get(activity);
      if (trouble) return trouble;
    }
    return undefined;
  }

  /** Whether the stream can be used for this, as far as is known. */
  isWell(activity: Activity): boolean {
    return !this.#troubles.has(activity);
  }

  /** Set while the view may be older than the log: until then it was complete. Epoch milliseconds. */
  get staleSince(): number | undefined {
    return this.#isStale ? (this.#completeAt ?? this.#staleFrom) : undefined;
  }

  get #isStale(): boolean {
    return VIEW_ACTIVITIES.some((activity) => this.#troubles.has(activity));
  }

  #announceStale(): void {
    for (const listener of this.#staleListeners) listener();
  }

  get writeFailure(): WriteFailure | undefined {
    const trouble = this.#troubles.get("publish");
    return trouble && { error: trouble.message, since: trouble.since };
  }
}
