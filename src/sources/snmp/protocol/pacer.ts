/**
 * Bounds the requests per second of all agents together: each caller waits for its turn, in the order of the calls. After
 * a pause a short burst is allowed, so that a small network is polled without delay.
 */
import type { Clock } from "../../../lib/clock.ts";

/** As much of the rate may be used at once after a pause. */
const BURST_MS = 50;

export class Pacer {
  readonly #clock: Clock;
  readonly #stepMs: number;
  #next = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#stepMs = 1000 / perSecond;
  }

  /** Resolves when the caller may send, or when the signal aborts, with the milliseconds that it has waited. */
  async turn(signal: AbortSignal): Promise<number> {
    const now = this.#clock.monotonic();
    this.#next = Math.max(this.#next, now - BURST_MS) + this.#stepMs;
    const waitMs = this.#next - now;
    if (waitMs <= 0) return 0;
    await this.#clock.sleep(waitMs, signal);
    return this.#clock.monotonic() - now;
  }
}
