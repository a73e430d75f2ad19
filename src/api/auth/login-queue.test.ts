/** The order of first logins of one address. The attacks themselves are in test/hostile/login. */
import { expect, test } from "bun:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { FailureBuckets } from "./failure-buckets.ts";
import { type LoginAttempt, LoginQueue } from "./login-queue.ts";

const attemptOf = (pairKey: string): LoginAttempt => ({
  addressKey: "192.0.2.1",
  pairKey,
  connectionFailures: 0,
  isGone: () => false,
});

/** One check runs at a time, and ends when `finishOne` is called. */
function queueOf(maxWaiting: number) {
  const clock = new ManualClock();
  const rate = { burst: 100, refillMs: 1000 };
  const buckets = () => new FailureBuckets(clock, rate, 1000);
  const queue = new LoginQueue({
    clock,
    pairs: buckets(),
    addresses: buckets(),
    maxRunning: 1,
    maxWaiting,
    maxWaitingPerPair: 8,
  });
  const started: string[] = [];
  const refused: string[] = [];
  const running: (() => void)[] = [];
  return {
    started,
    refused,
    login(pair: string): void {
      const check = () => {
        started.push(pair);
        return new Promise<boolean>((resolve) => running.push(() => resolve(true)));
      };
      void queue.run(attemptOf(pair), check).then((refusal) => refusal && refused.push(pair));
    },
    async finishOne(): Promise<void> {
      running.shift()?.();
      await settled();
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("another user of an address waits for one guess at each name, not for all of them", async () => {
  const { login, finishOne, started } = queueOf(100);
  for (let round = 0; round < 10; round++) for (const name of ["ann", "bob", "eve"]) login(name);
  await settled();
  login("operator");
  for (let check = 0; check < 4; check++) await finishOne();
  expect(started).toContain("operator");
});

test("when too many wait, a guess at the name with the most is refused, not another user", async () => {
  const { login, refused } = queueOf(12);
  for (let guess = 0; guess < 13; guess++) login("ann");
  await settled();
  login("operator");
  await settled();
  expect(refused).toEqual(["ann"]);
});
