/** What is wrong between this node and the stream, as an operator sees it: since when, and in words. Logged at each change. */
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import type { WriteFailure } from "../log.ts";
import type { StreamCondition, StreamError } from "./stream-error.ts";

/** Publishing and following fail independently: a full stream can still be read. */
type Activity = "publish" | "follow";

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
  /** When the view was last known to be complete: epoch milliseconds. */
  #completeAt: number;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
    this.#completeAt = clock.now();
  }

  /** The listener is called when `staleSince` is set, and when it is no longer. Returns the function that removes it. */
  onStale(listener: () => void): () => void {
    this.#staleListeners.add(listener);
    return () => this.#staleListeners.delete(listener);
  }

  /** `since` is now, where it is not given: epoch milliseconds. */
  report(activity: Activity, { condition, message }: StreamError, since = this.#clock.now()): void {
    const known = this.#troubles.get(activity);
    if (known?.condition !== condition)
      this.#logger.error("trouble with the log of the cluster", { activity, condition, why: message });
    this.#troubles.set(activity, { condition, message, since: known?.since ?? since });
    if (activity !== "follow" || known) return;
    this.#completeAt = Math.min(this.#completeAt, since);
    this.#announceStale();
  }

  clear(activity: Activity): void {
    if (activity === "follow") this.#completeAt = this.#clock.now();
    const known = this.#troubles.get(activity);
    if (!known) return;
    this.#troubles.delete(activity);
    if (activity === "follow") this.#announceStale();
    const seconds = Math.round((this.#clock.now() - known.since) / 1000);
    this.#logger.info("the trouble with the log of the cluster is over", { activity, seconds });
  }

  /** Undefined when all is well. Following comes first: without it the view becomes old. */
  get trouble(): StreamTrouble | undefined {
    return this.#troubles.get("follow") ?? this.#troubles.get("publish");
  }

  /** Set while the view may be older than the log: until then it was complete. Epoch milliseconds. */
  get staleSince(): number | undefined {
    return this.#troubles.has("follow") ? this.#completeAt : undefined;
  }

  #announceStale(): void {
    for (const listener of this.#staleListeners) listener();
  }

  get writeFailure(): WriteFailure | undefined {
    const trouble = this.#troubles.get("publish");
    return trouble && { error: trouble.message, since: trouble.since };
  }
}
