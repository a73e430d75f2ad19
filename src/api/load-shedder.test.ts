import { expect, test } from "bun:test";
import { type Clock, ManualClock } from "../lib/clock.ts";
import { createRateLimiter, LoadShedder } from "./load-shedder.ts";

/** A clock whose sleeps end as late as it is told. */
class LateClock implements Clock {
  lateMs = 0;
  #now = 0;
  #wake: (() => void) | undefined;

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

test("the valve shuts while the event loop is late, and opens again", async () => {
  const clock = new LateClock();
  const valve = new LoadShedder();
  const ended = new AbortController();
  const watching = valve.watch(clock, ended.signal);
  await clock.tick();
  expect(valve.shut).toBe(false);
  clock.lateMs = 3_000;
  await clock.tick();
  expect(valve.shut).toBe(true);
  clock.lateMs = 10;
  await clock.tick();
  expect(valve.shut).toBe(false);
  ended.abort();
  await clock.tick();
  await watching;
});

test("each user has a share of its own, which fills again within the second", async () => {
  const clock = new ManualClock();
  const limiter = createRateLimiter(2, clock);
  limiter.take("ann");
  limiter.take("ann");
  expect(() => limiter.take("ann")).toThrow("2 requests a second");
  limiter.take("bob");
  await clock.advance(500);
  expect(limiter.take("ann")).toEqual({ RateLimit: '"user";r=0;t=1', "RateLimit-Policy": '"user";q=2;w=1' });
  expect(() => limiter.take("ann")).toThrow();
  await clock.advance(60_000);
  expect(limiter.take("ann").RateLimit).toBe('"user";r=1;t=1');
});

test("no limit costs nothing and says nothing", () => {
  const limiter = createRateLimiter(0, new ManualClock());
  for (let i = 0; i < 100; i++) expect(limiter.take("ann")).toEqual({});
});
