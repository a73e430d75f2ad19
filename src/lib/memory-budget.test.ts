import { describe, expect, test } from "bun:test";
import { MemoryBudget, READ_BYTES } from "./memory-budget.ts";
import { Scheduler } from "./scheduler.ts";
import type { Steps } from "./steps.ts";

const openAccount = (budget: MemoryBudget, user: string, bytes: number) => {
  const account = budget.account(user);
  account.open();
  account.add(bytes);
  return account;
};

describe("admission", () => {
  test("a user over the budget is refused, others are not; nothing outstanding is never refused", () => {
    const budget = new MemoryBudget({ responseBytes: 10 * READ_BYTES, responseBytesPerUser: 2 * READ_BYTES });
    expect(budget.admits("a")).toBe(true);
    const large = openAccount(budget, "a", 50 * READ_BYTES);
    expect(budget.admits("a")).toBe(false);
    // The process is over its budget, but this user holds nothing.
    expect(budget.admits("b")).toBe(true);
    const small = openAccount(budget, "b", 1);
    expect(budget.admits("b")).toBe(false);
    large.release();
    expect([budget.admits("a"), budget.admits("b")]).toEqual([true, true]);
    small.release();
    expect([budget.bytes, budget.bytesOf("a"), budget.bytesOf("b")]).toEqual([0, 0, 0]);
  });

  test("reads that begin together count before they hold anything, and a body before its first byte", () => {
    const budget = new MemoryBudget({ responseBytes: 9 * READ_BYTES, responseBytesPerUser: 4 * READ_BYTES });
    const begin = (user: string) => {
      if (!budget.admits(user)) return undefined;
      const account = budget.account(user);
      account.open(READ_BYTES);
      return account;
    };
    const [first, second, third, fourth, fifth] = ["a", "a", "a", "a", "a"].map(begin);
    expect([fourth !== undefined, fifth]).toEqual([true, undefined]);
    expect(budget.bytesOf("a")).toBe(4 * READ_BYTES);
    // The oldest one of the user is never refused; others are, and count as before.
    expect([first?.reserve(10 * READ_BYTES), second?.reserve(2 * READ_BYTES)]).toEqual([true, false]);
    expect(budget.bytesOf("a")).toBe(13 * READ_BYTES);
    for (const account of [first, third, fourth]) account?.release();
    expect(second?.reserve(4 * READ_BYTES)).toBe(true);
    second?.add(3 * READ_BYTES);
    expect(budget.bytesOf("a")).toBe(4 * READ_BYTES);
    second?.add(2 * READ_BYTES);
    expect(budget.bytesOf("a")).toBe(5 * READ_BYTES);
    second?.add(-5 * READ_BYTES);
    expect(budget.bytesOf("a")).toBe(4 * READ_BYTES);
    second?.release();
    expect([budget.bytes, budget.bytesOf("a")]).toEqual([0, 0]);
  });

  test("shared memory counts once for the process and once for each user, and only while it is held", () => {
    const budget = new MemoryBudget({ responseBytes: 1000, responseBytesPerUser: 100 });
    const state = { heldBytes: 0 };
    const accounts = ["a", "a", "b"].map((user) => openAccount(budget, user, 0));
    for (const account of accounts) account.hold(state);
    expect(budget.bytes).toBe(0);
    state.heldBytes = 70;
    expect([budget.bytes, budget.bytesOf("a"), budget.bytesOf("b")]).toEqual([70, 70, 70]);
    accounts[0]?.release();
    expect(budget.bytesOf("a")).toBe(70);
    for (const account of accounts) account.release();
    expect([budget.bytes, budget.bytesOf("a"), budget.bytesOf("b")]).toEqual([0, 0, 0]);
  });
});

test("what is added before `open` counts from then on; after `release` nothing counts", () => {
  const budget = new MemoryBudget({ responseBytes: 1000, responseBytesPerUser: 100 });
  const account = budget.account("a");
  account.add(10);
  account.hold({ heldBytes: 5 });
  expect(budget.bytes).toBe(0);
  account.open();
  expect([budget.bytes, budget.bytesOf("a")]).toEqual([15, 15]);
  account.release();
  account.release();
  account.add(7);
  account.open();
  expect([budget.bytes, budget.bytesOf("a")]).toEqual([0, 0]);
});

test("over the budget responses wait for the oldest one of their user, which goes on; none waits for ever", async () => {
  const budget = new MemoryBudget({ responseBytes: 1000, responseBytesPerUser: 100 });
  const scheduler = new Scheduler();
  const order: string[] = [];
  const run = async (name: string) => {
    const account = budget.account(name.slice(0, 1));
    account.open();
    function* grow(): Steps<void> {
      for (let i = 0; i < 5; i++) {
        account.add(50);
        yield;
      }
    }
    await Promise.resolve();
    await scheduler.run(name, account.paced(grow()));
    order.push(name);
    account.release();
  };
  await Promise.all(["a1", "a2", "a3", "b1", "b2"].map(run));
  expect(order.filter((name) => name.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
  expect(order.filter((name) => name.startsWith("b"))).toEqual(["b1", "b2"]);
  expect(budget.bytes).toBe(0);
});

test("a computation that is ended early ends what it paces", () => {
  const budget = new MemoryBudget({ responseBytes: 1000, responseBytesPerUser: 100 });
  let ended = false;
  function* steps(): Steps<void> {
    try {
      yield;
    } finally {
      ended = true;
    }
  }
  const paced = budget.account("a").paced(steps());
  paced.next();
  paced.return();
  expect(ended).toBe(true);
});
