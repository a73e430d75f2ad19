/**
 * A clock for the client. Backoffs take no time and are recorded; idle timeouts last until the test expires them.
 */
import { IDLE_TIMEOUT_MS } from "../../src/client/transport.ts";
import type { Clock } from "../../src/lib/clock.ts";

export class FastClock implements Clock {
  readonly backoffsMs: number[] = [];
  #now = 0;
  readonly #idleTimeouts = new Set<() => void>();

  monotonic(): number {
    return this.#now;
  }

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms !== IDLE_TIMEOUT_MS) {
      this.backoffsMs.push(ms);
      this.#now += ms;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idleTimeouts.add(resolve);
    signal?.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    this.#idleTimeouts.delete(resolve);
  }

  expireIdleTimeouts(): void {
    this.#now += IDLE_TIMEOUT_MS;
    for (const resolve of this.#idleTimeouts) resolve();
  }
}
