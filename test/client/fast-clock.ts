/**
 * A clock for the client: pauses before a new connection take no time and are written down; the wait for a silent
 * peer lasts until the test says that it is over.
 */
import { IDLE_TIMEOUT_MS } from "../../src/client/transport.ts";
import type { Clock } from "../../src/lib/clock.ts";

export class HastyClock implements Clock {
  readonly pauses: number[] = [];
  #now = 0;
  readonly #waiting = new Set<() => void>();

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms !== IDLE_TIMEOUT_MS) {
      this.pauses.push(ms);
      this.#now += ms;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal?.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    this.#waiting.delete(resolve);
  }

  /** Whoever waits for a word has waited long enough. */
  silence(): void {
    this.#now += IDLE_TIMEOUT_MS;
    for (const resolve of this.#waiting) resolve();
  }
}
