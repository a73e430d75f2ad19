/** Attempts to publish, which are repeated until one has an answer. What goes wrong is a condition of publishing meanwhile. */
import { createBackoff } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import { LogError } from "../log.ts";
import type { Arrivals } from "./arrivals.ts";
import { StreamError } from "./stream-error.ts";
import type { StreamHealth } from "./stream-health.ts";

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

export interface AttemptParts {
  readonly health: StreamHealth;
  readonly clock: Clock;
  readonly arrivals: Arrivals;
}

export const closed = () => new LogError("write-failed", "the log is closed");

/** Tries until an attempt has an answer, or `decided` has one. */
export async function untilPublished<Result>(
  { health, clock, arrivals }: AttemptParts,
  attempt: () => Promise<Result>,
  signal: AbortSignal,
  decided: () => Result | undefined = () => undefined,
): Promise<Result> {
  const backoff = createBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
  for (;;) {
    try {
      const result = await attempt();
      health.clear("publish");
      return result;
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (signal.aborted) throw closed();
      health.report("publish", error);
      await Promise.race([clock.sleep(backoff.nextMs(), signal), arrivals.next(signal)]);
      if (signal.aborted) throw closed();
      const result = decided();
      if (result !== undefined) {
        health.clear("publish");
        return result;
      }
    }
  }
}
