/** Whose clock is wrong: this node's, or that of NATS. */
import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { silentLogger } from "../lib/logger.ts";
import { ClockCheck, type ShownClock } from "./clock-check.ts";
import { WriteOutages } from "./leases.ts";

/** NATS and the other nodes have the right time. */
async function checkedClock(others: () => Promise<readonly ShownClock[]>) {
  const clock = new ManualClock();
  const start = clock.now() - clock.monotonic();
  const check = new ClockCheck(clock, others);
  const states: string[] = [];
  check.onChange((state) => states.push(state));
  /** Writes to NATS, which takes `ms`, and stamps in the middle of it. */
  const observe = async (ms = 10) => {
    const sentAt = clock.monotonic();
    await clock.advance(ms);
    await check.observe(start + sentAt + ms / 2, sentAt, clock.monotonic());
  };
  await observe();
  return { clock, check, states, observe, start };
}
const right = async () => [{ clockOffsetMs: 3 }, { clockOffsetMs: undefined }];

test("a clock that is set is noticed before the next commit, and right again when it is set back", async () => {
  const { clock, check, states, start } = await checkedClock(right);
  expect(await check.check()).toBe("right");
  expect(check.offsetMs).toBe(0);
  clock.setBy(7_200_000);
  const time = clock.now();
  expect(await check.check()).toBe("wrong");
  expect(check.natsClock.now()).toBeWithin(start, start + 20);
  expect(check.offsetMs).toBeWithin(7_199_980, 7_200_001);
  let isOver = false;
  const over = check.untilRight().then(() => {
    isOver = true;
  });
  await clock.advance(3_000);
  expect(isOver).toBe(false);
  clock.setBy(-7_200_000);
  expect(await check.check()).toBe("right");
  await over;
  expect(states).toEqual(["wrong", "right"]);
  // What was computed before is not published with its time.
  expect(check.isAhead(time)).toBe(true);
  expect(check.isAhead(start + clock.monotonic() + 1_000)).toBe(false);
});

test("two seconds are allowed, in both directions, and a slow answer of NATS is no difference", async () => {
  const { clock, check, observe } = await checkedClock(right);
  for (const [ms, state] of [
    [1_990, "right"],
    [2_020, "wrong"],
    [-1_990, "right"],
    [-2_020, "wrong"],
  ] as const) {
    clock.setBy(ms);
    expect(await check.check()).toBe(state);
    clock.setBy(-ms);
  }
  await observe(9_000);
  expect(check.offsetMs).toBe(0);
});

test("where no other node agrees with NATS, its clock is suspect; without an answer nothing is written", async () => {
  let others: readonly ShownClock[] | undefined = [{ clockOffsetMs: 7_000_000 }];
  const { clock, check, states } = await checkedClock(async () => {
    if (!others) throw new Error("unanswered");
    return others;
  });
  clock.setBy(7_200_000);
  expect(await check.check()).toBe("suspect");
  expect(check.isAhead(clock.now())).toBe(false);
  others = undefined;
  expect(await check.check()).toBe("suspect");
  others = [{ clockOffsetMs: 0 }];
  expect(await check.check()).toBe("wrong");
  others = undefined;
  expect(await check.check()).toBe("wrong");
  others = [];
  expect(await check.check()).toBe("suspect");
  expect(states).toEqual(["suspect", "wrong", "suspect"]);
});

test("with a wrong clock leases are given up at once, until it is right and the log can be written", async () => {
  const { clock, check } = await checkedClock(right);
  let onWriteFailing = (_: boolean) => {};
  const outages = new WriteOutages({
    writes: {
      onWriteFailing(listener) {
        onWriteFailing = listener;
      },
    },
    clockCheck: check,
    ttlMs: () => 16_000,
    clock,
    logger: silentLogger,
  });
  clock.setBy(3_000);
  await check.check();
  expect(outages.begun.aborted).toBe(true);
  onWriteFailing(true);
  await clock.advance(16_000);
  clock.setBy(-3_000);
  await check.check();
  expect(outages.begun.aborted).toBe(true);
  onWriteFailing(false);
  expect(outages.begun.aborted).toBe(false);
  await outages.untilOver(new AbortController().signal);
});

test("a node that started without NATS compares its clock before its first commit", async () => {
  const clock = new ManualClock();
  const time = clock.now();
  clock.setBy(7_200_000);
  const measure = async () => {
    await check.observe(time, clock.monotonic(), clock.monotonic());
    return true;
  };
  const check: ClockCheck = new ClockCheck(clock, right, measure);
  expect(await check.check()).toBe("wrong");
});

test("a comparison that fails is not repeated for each commit, one without NATS is", async () => {
  const clock = new ManualClock();
  const answers = [false, false, true];
  let tries = 0;
  const check = new ClockCheck(clock, right, async () => answers[tries++] ?? true);
  for (let commit = 0; commit < 6; commit++) expect(await check.check()).toBe("right");
  expect(tries).toBe(3);
});
