import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { Withdrawals } from "./withdrawals.ts";

const DAY_SECONDS = 86_400;

function create(seconds: Record<string, number>) {
  const clock = new ManualClock();
  const withdrawn: string[] = [];
  const withdrawals = new Withdrawals(
    clock,
    (source) => seconds[source],
    (source) => withdrawn.push(source),
  );
  return { clock, withdrawn, withdrawals };
}

test("the claims of a stale source are withdrawn once, after its time", async () => {
  const { clock, withdrawn, withdrawals } = create({ a: 60 });
  withdrawals.schedule("a", clock.now());
  withdrawals.schedule("never", clock.now());
  await clock.advance(30_000);
  withdrawals.schedule("a", clock.now());
  await clock.advance(29_999);
  expect(withdrawn).toEqual([]);
  await clock.advance(1);
  expect(withdrawn).toEqual(["a"]);
  withdrawals.schedule("a", clock.now());
  await clock.advance(600_000);
  expect(withdrawn).toEqual(["a"]);
});

test("a source that reports again is not withdrawn, and its time begins anew", async () => {
  const { clock, withdrawn, withdrawals } = create({ a: 60 });
  withdrawals.schedule("a", clock.now());
  await clock.advance(59_000);
  withdrawals.cancel("a");
  expect(clock.sleeping).toBe(0);
  withdrawals.schedule("a", clock.now());
  await clock.advance(59_000);
  expect(withdrawn).toEqual([]);
  await clock.advance(1000);
  expect(withdrawn).toEqual(["a"]);
});

test("the time before a restart of the service counts; a clock that was set does not", async () => {
  const { clock, withdrawn, withdrawals } = create({ a: 60, b: 60, c: 60 });
  withdrawals.schedule("a", clock.now() - 50_000);
  withdrawals.schedule("b", clock.now() + 3_600_000);
  withdrawals.schedule("c", clock.now());
  clock.setBy(7_200_000);
  await clock.advance(10_000);
  expect(withdrawn).toEqual(["a"]);
  await clock.advance(50_000);
  expect(withdrawn).toEqual(["a", "b", "c"]);
});

test("a changed time applies to a source that is stale already; a year is no short timer", async () => {
  const seconds = { a: 60 };
  const { clock, withdrawn, withdrawals } = create(seconds);
  withdrawals.schedule("a", clock.now());
  seconds.a = 300 * DAY_SECONDS;
  withdrawals.reschedule();
  await clock.advance(299 * DAY_SECONDS * 1000);
  expect(withdrawn).toEqual([]);
  await clock.advance(DAY_SECONDS * 1000);
  expect(withdrawn).toEqual(["a"]);
  withdrawals.cancelAll();
  expect(clock.sleeping).toBe(0);
});
