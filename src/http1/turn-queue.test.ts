import { expect, test } from "bun:test";
import { TurnQueue } from "./turn-queue.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Does `work` units, at most `perTurn` in a turn, and records each. */
function worker(queue: TurnQueue, name: string, work: number, perTurn: number, record: string[]) {
  let left = work;
  const taker = {
    onTurn() {
      for (let n = 0; n < perTurn && left > 0 && queue.take(); n++) {
        left--;
        record.push(name);
      }
      if (left > 0) queue.enqueue(taker);
    },
  };
  return taker;
}

test("no turn has more units than the quota, and all are done in the end", async () => {
  const queue = new TurnQueue(5);
  const record: string[] = [];
  for (let n = 0; n < 4; n++) worker(queue, String(n), 6, 2, record).onTurn();
  expect(record).toHaveLength(5);
  for (let before = record.length; record.length < 24; before = record.length) {
    await nextTurn();
    expect(record.length - before).toBeLessThanOrEqual(5);
  }
  expect(record.toSorted().join("")).toBe("000000111111222222333333");
});

test("one that comes later waits for one round, however much the others have left", async () => {
  const queue = new TurnQueue(4);
  const record: string[] = [];
  for (const name of ["a", "b", "c"]) worker(queue, name, 1000, 2, record).onTurn();
  worker(queue, "late", 1, 2, record).onTurn();
  while (!record.includes("late")) await nextTurn();
  expect(record.indexOf("late")).toBeLessThanOrEqual(4 + 6);
});

test("a quota that is not used up stays available without a turn", () => {
  const queue = new TurnQueue(3);
  expect([queue.take(), queue.take(), queue.take(), queue.take()]).toEqual([true, true, true, false]);
});
