import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { createPollLoop, type PollResult } from "./poll-loop.ts";

const yieldToLoop = () => new Promise((resolve) => setImmediate(resolve));
const failure = (message: string): PollResult => ({ ok: false, message });

async function start(intervalMs: number, poll: (count: number) => PollResult) {
  const clock = new ManualClock(0);
  const abort = new AbortController();
  const reasons: string[] = [];
  const pollsAt: number[] = [];
  const loop = createPollLoop({
    sink: { markStale: (reason) => void reasons.push(reason) },
    intervalMs,
    clock,
    signal: abort.signal,
    random: () => 1,
  });
  const ended = loop.run(async () => poll(pollsAt.push(clock.now())));
  await yieldToLoop();
  const stop = async () => {
    abort.abort();
    await ended;
    expect(clock.sleeping).toBe(0);
  };
  return { clock, abort, reasons, pollsAt, loop, stop };
}

test("the wait after failures grows from the interval to a minute, and a success resets it", async () => {
  const running = await start(10_000, (count) => (count < 6 ? failure(`no ${count}`) : { ok: true }));
  await running.clock.advance(10_000 * (1 + 2 + 4 + 6 + 6 + 1 + 1));
  expect(running.pollsAt.map((ms) => ms / 10_000)).toEqual([0, 1, 3, 7, 13, 19, 20, 21]);
  expect(running.reasons).toEqual(["no 1", "no 2", "no 3", "no 4", "no 5"]);
  await running.stop();
});

test("an interval of more than a minute is the wait after failures too", async () => {
  const running = await start(600_000, () => failure("no"));
  await running.clock.advance(1_800_000);
  expect(running.pollsAt).toEqual([0, 600_000, 1_200_000, 1_800_000]);
  await running.stop();
});

test("no wait is shorter than the interval", async () => {
  const clock = new ManualClock(0);
  const abort = new AbortController();
  let polls = 0;
  const options = { sink: { markStale: () => {} }, intervalMs: 1000, clock, signal: abort.signal };
  const ended = createPollLoop({ ...options, random: () => 0 }).run(async () => {
    polls++;
    return failure("no");
  });
  await yieldToLoop();
  await clock.advance(999);
  expect(polls).toBe(1);
  await clock.advance(1);
  expect(polls).toBe(2);
  abort.abort();
  await ended;
});

test("a nudge ends the wait after a failure", async () => {
  const running = await start(60_000, () => failure("no"));
  running.loop.nudge();
  await yieldToLoop();
  expect(running.pollsAt).toEqual([0, 0]);
  await running.stop();
});

test("a poll that fails because of the stop does not mark the source stale", async () => {
  const clock = new ManualClock(0);
  const abort = new AbortController();
  const reasons: string[] = [];
  await createPollLoop({
    sink: { markStale: (reason) => void reasons.push(reason) },
    intervalMs: 1000,
    clock,
    signal: abort.signal,
  }).run(async () => {
    abort.abort();
    return failure("aborted");
  });
  expect(reasons).toEqual([]);
});
