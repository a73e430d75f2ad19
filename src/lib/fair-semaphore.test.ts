import { expect, test } from "bun:test";
import { FairSemaphore } from "./fair-semaphore.ts";

test("takes owners in turn, however many tasks each has", async () => {
  const semaphore = new FairSemaphore(1);
  const order: string[] = [];
  const task = (name: string) => async () => {
    order.push(name);
  };
  const greedy = Array.from({ length: 4 }, (_, i) => semaphore.run("greedy", task(`greedy ${i}`)));
  await Promise.all([...greedy, semaphore.run("other", task("other"))]);
  expect(order).toEqual(["greedy 0", "greedy 1", "other", "greedy 2", "greedy 3"]);
});

test("runs no more than so many at once, and goes on after a failure", async () => {
  const semaphore = new FairSemaphore(2);
  let running = 0;
  let highest = 0;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 9 }, (_, i) =>
      semaphore.run(`owner ${i % 3}`, async () => {
        highest = Math.max(highest, ++running);
        await Bun.sleep(0);
        running--;
        if (i === 1) throw new Error("failed");
      }),
    ),
  );
  expect(highest).toBe(2);
  expect(outcomes.map(({ status }) => status === "rejected")).toEqual(outcomes.map((_, i) => i === 1));
});

test("a slot that is given up while it waits is not granted to anybody", async () => {
  const semaphore = new FairSemaphore(1);
  const running = semaphore.request("first");
  const abandoned = semaphore.request("second");
  const next = semaphore.request("third");
  abandoned.release();
  abandoned.release();
  running.release();
  running.release();
  await next.granted;
  let isFourthRunning = false;
  const fourth = semaphore.request("fourth");
  void fourth.granted.then(() => {
    isFourthRunning = true;
  });
  await Promise.resolve();
  expect(isFourthRunning).toBe(false);
  next.release();
  await fourth.granted;
});
