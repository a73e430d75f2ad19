/** The current troubles between this node and the stream, for the operator: since when, and a message. Logged at each change. */
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import type { WriteFailure } from "../log.ts";
import type { StreamCondition, StreamError } from "./stream-error.ts";

/**
 * The activities that can fail independently: a full stream can still be read, and one that answers may send nothing. They
 * are in the order in which troubles are shown. The view becomes stale while one of `VIEW_ACTIVITIES` fails.
 */
const VIEW_ACTIVITIES = ["follow", "receive", "store"] as const;
const ACTIVITIES = [...VIEW_ACTIVITIES, "publish", "clock"] as const;
type Activity = (typeof ACTIVITIES)[number];

export interface StreamTrouble {
  readonly condition: StreamCondition;
  readonly message: string;
  /** The time at which the trouble began, in epoch milliseconds. */
  readonly since: number;
}

export class StreamHealth {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #troubles = new Map<Activity, StreamTrouble>();
  readonly #staleListeners = new Set<() => void>();
  readonly #viewTime: () => number;
  /** The last time at which the view was known to be complete; undefined while it never was. */
  #completeAt: number | undefined;
  /** The time since which a view that was never complete counts as stale. */
  #staleFrom = 0;

  /** `viewTime` returns the time of the last revision, the best known age of a view that was never complete. */
  constructor(clock: Clock, logger: Logger, viewTime: () => number) {
    this.#clock = clock;
    this.#logger = logger;
    this.#viewTime = viewTime;
  }

  /** Records that the view was complete at a time, in epoch milliseconds. */
  setComplete(at: number): void {
    this.#completeAt = at;
    if (this.#isStale) this.#announceStale();
  }

  /** Adds a listener that is called when `staleSince` has changed. Returns the function that removes it. */
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
    // The difference is negative if the clock of the machine was set back.
    const seconds = Math.max(0, Math.round((this.#clock.now() - known.since) / 1000));
    this.#logger.info("the trouble with the log of the cluster is over", { activity, seconds });
  }

  /** The current trouble; undefined when there is none. A trouble that makes the view stale precedes others. */
  get trouble(): StreamTrouble | undefined {
    for (const activity of ACTIVITIES) {
      const trouble = this.#troubles.get(activity);
      if (trouble) return trouble;
    }
    return undefined;
  }

  /** Whether no trouble with this activity is known. */
  isWell(activity: Activity): boolean {
    return !this.#troubles.has(activity);
  }

  /** The last time at which the view was complete, in epoch milliseconds. Set while the view may be older than the log. */
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
