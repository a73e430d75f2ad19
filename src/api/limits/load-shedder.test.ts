import { expect, test } from "bun:test";
import type { Clock } from "../../lib/clock.ts";
import { LoadShedder } from "./admission.ts";

/** A clock whose sleeps end `lateMs` after their time. */
class LateClock implements Clock {
  lateMs = 0;
  #now = 0;
  #wake: (() => void) | undefined;

  monotonic(): number {
    return this.#now;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#now += ms + this.lateMs;
        resolve();
      };
    });
  }

  async tick(): Promise<void> {
    this.#wake?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("sheds load while the event loop is late, and stops when it is on time again", async () => {
  const clock = new LateClock();
  const shedder = new LoadShedder();
  const abort = new AbortController();
  const ended = shedder.run(clock, abort.signal);
  await clock.tick();
  expect(shedder.shedding).toBe(false);
  clock.lateMs = 3_000;
  await clock.tick();
  expect(shedder.shedding).toBe(true);
  clock.lateMs = 10;
  await clock.tick();
  expect(shedder.shedding).toBe(false);
  abort.abort();
  await clock.tick();
  await ended;
});
