/**
 * Load shedding: measures how late the event loop runs its timers. While it is too late, the request handler rejects new
 * requests, so that those in flight get their responses. `/metrics` shows the delays as a histogram.
 */
import type { Clock } from "../../lib/clock.ts";
import { Histogram } from "../../lib/histogram.ts";

const MAX_LOOP_DELAY_MS = 2_000;
const CHECK_INTERVAL_MS = 50;

export class LoadShedder {
  /** Seconds. */
  readonly delays = new Histogram();
  #shedding = false;

  /** Whether new requests are to be rejected. */
  get shedding(): boolean {
    return this.#shedding;
  }

  async run(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      await clock.sleep(CHECK_INTERVAL_MS, signal);
      const delayMs = clock.monotonic() - startedAt - CHECK_INTERVAL_MS;
      this.delays.observe(Math.max(0, delayMs) / 1000);
      this.#shedding = delayMs > MAX_LOOP_DELAY_MS;
    }
  }
}
