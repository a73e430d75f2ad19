import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { createPoll } from "./poll.ts";

const yieldToLoop = () => new Promise((resolve) => setImmediate(resolve));

function start(refresh: (count: number, nudge: () => void) => Promise<void>) {
  const clock = new ManualClock(0);
  const abort = new AbortController();
  const poll = createPoll({ intervalMs: 1000, clock, signal: abort.signal });
  const state = { count: 0 };
  const ended = poll.run(() => refresh(++state.count, poll.nudge));
  return { clock, poll, state, ended, abort };
}

test("refreshes at once, then at every interval, until stopped", async () => {
  const { clock, state, ended, abort } = start(async () => {});
  await yieldToLoop();
  expect(state.count).toBe(1);
  await clock.advance(3000);
  expect(state.count).toBe(4);
  abort.abort();
  await ended;
  expect(clock.sleeping).toBe(0);
});

test("a nudge ends the wait; a nudge during a refresh causes another refresh", async () => {
  const { clock, poll, state, ended, abort } = start(async (count, nudge) => {
    if (count === 2) nudge();
  });
  await yieldToLoop();
  poll.nudge();
  await yieldToLoop();
  expect(state.count).toBe(3);
  expect(clock.now()).toBe(0);
  abort.abort();
  await ended;
});

test("an error of a refresh ends the loop", async () => {
  const { ended } = start(async () => {
    throw new Error("no");
  });
  await expect(ended).rejects.toThrow("no");
});
