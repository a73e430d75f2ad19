import { describe, expect, test } from "bun:test";
import { Cancelled, Scheduler } from "./scheduler.ts";
import { type Steps, waitFor } from "./steps.ts";

/** A scheduler whose time passes only in steps: `run` records them, and each takes `costMs`. */
function manualScheduler() {
  let now = 0;
  const turns: (() => void)[] = [];
  const stepped: string[] = [];
  const scheduler = new Scheduler({ now: () => now, nextTurn: (callback) => turns.push(callback) });
  function* work(name: string, steps: number, costMs = 1): Steps<string> {
    for (let i = 0; i < steps; i++) {
      now += costMs;
      stepped.push(name);
      yield;
    }
    return name;
  }
  return {
    scheduler,
    work,
    stepped,
    /** Runs one turn. Returns the steps that were made in it. */
    turn: () => {
      stepped.length = 0;
      turns.shift()?.();
      return [...stepped];
    },
    get hasTurns() {
      return turns.length > 0;
    },
  };
}

const countOf = (stepped: readonly string[], name: string) => stepped.filter((one) => one === name).length;

describe("a short computation", () => {
  test("ends within the call", () => {
    const { scheduler, work } = manualScheduler();
    expect(scheduler.run("alice", work("a", 3, 0.1))).toBe("a");
  });

  test("throws what the computation throws", () => {
    const { scheduler } = manualScheduler();
    // biome-ignore lint/correctness/useYield: it fails before its first pause
    function* fail(): Steps<void> {
      throw new Error("no such thing");
    }
    expect(() => scheduler.run("alice", fail())).toThrow("no such thing");
  });

  test("waits for its slice when short ones have filled the turn", async () => {
    const { scheduler, work, turn } = manualScheduler();
    for (let i = 0; i < 5; i++) expect(scheduler.run(`user ${i}`, work("short", 1, 0.9))).toBe("short");
    const waiting = scheduler.run("another", work("late", 1, 0.9));
    expect(waiting).toBeInstanceOf(Promise);
    expect(turn()).toEqual(["late"]);
    expect(await waiting).toBe("late");
    expect(scheduler.run("another", work("next", 1, 0.9))).toBe("next");
  });
});

describe("long computations", () => {
  test("a turn of the event loop makes no more steps than its quota", () => {
    const { scheduler, work, turn } = manualScheduler();
    void scheduler.run("alice", work("a", 1000));
    for (let i = 0; i < 20; i++) expect(turn()).toHaveLength(4);
  });

  test("owners get equal time, however many computations they have", () => {
    const { scheduler, work, turn, stepped } = manualScheduler();
    for (let i = 0; i < 100; i++) void scheduler.run("greedy", work("greedy", 1000));
    void scheduler.run("modest", work("modest", 1000));
    const all: string[] = [];
    for (let i = 0; i < 50; i++) all.push(...turn());
    expect(countOf(all, "modest")).toBeWithin(95, 106);
    expect(stepped.length).toBeGreaterThan(0);
  });

  test("owners get equal time when the steps of one are longer", () => {
    const { scheduler, work, turn } = manualScheduler();
    void scheduler.run("long steps", work("long", 1000, 3));
    void scheduler.run("short steps", work("short", 1000, 0.5));
    const all: string[] = [];
    for (let i = 0; i < 50; i++) all.push(...turn());
    const ratio = (countOf(all, "long") * 3) / (countOf(all, "short") * 0.5);
    expect(ratio).toBeGreaterThan(0.9);
    expect(ratio).toBeLessThan(1.1);
  });

  test("the computations of one owner take turns", () => {
    const { scheduler, work, turn } = manualScheduler();
    void scheduler.run("alice", work("first", 100));
    void scheduler.run("alice", work("second", 100));
    const all: string[] = [];
    for (let i = 0; i < 5; i++) all.push(...turn());
    expect(Math.abs(countOf(all, "first") - countOf(all, "second"))).toBeLessThanOrEqual(1);
  });

  test("an owner that was idle does not hold back the others afterwards", () => {
    const { scheduler, work, turn } = manualScheduler();
    void scheduler.run("busy", work("busy", 10_000));
    for (let i = 0; i < 500; i++) turn();
    void scheduler.run("idle so far", work("new", 1000));
    const all: string[] = [];
    for (let i = 0; i < 10; i++) all.push(...turn());
    expect(countOf(all, "busy")).toBeWithin(18, 23);
  });

  test("what an owner used while it was alone is not held against it", () => {
    const { scheduler, work, turn } = manualScheduler();
    void scheduler.run("early", work("before", 1000));
    for (let i = 0; i < 260; i++) turn();
    for (let i = 0; i < 1000; i++) {
      scheduler.run("early", work("short", 1, 0.5));
      if (i % 4 === 3) turn();
    }
    void scheduler.run("late", work("late", 1000));
    void scheduler.run("early", work("early", 1000));
    const all: string[] = [];
    for (let i = 0; i < 50; i++) all.push(...turn());
    expect(countOf(all, "early")).toBeWithin(95, 106);
  });

  test("ends, runs its finally blocks and frees its place when its signal aborts", async () => {
    const { scheduler, turn, work, ...rest } = manualScheduler();
    const abort = new AbortController();
    let hasEnded = false;
    function* guarded(): Steps<string> {
      try {
        return yield* work("abandoned", 1000);
      } finally {
        hasEnded = true;
      }
    }
    const running = Promise.resolve(scheduler.run("alice", guarded(), abort.signal));
    turn();
    abort.abort();
    expect(turn()).toEqual([]);
    expect(await running.catch((error: unknown) => error)).toBeInstanceOf(Cancelled);
    expect(hasEnded).toBe(true);
    expect(rest.hasTurns).toBe(false);
  });

  test("takes no time while it waits for a promise, and goes on with its result", async () => {
    const { scheduler, turn, work } = manualScheduler();
    const { promise, resolve } = Promise.withResolvers<string>();
    function* waiting(): Steps<string> {
      yield* work("before", 2);
      return `${yield* waitFor(promise)} ${yield* work("after", 2)}`;
    }
    const result = scheduler.run("alice", waiting());
    void scheduler.run("bob", work("bob", 8));
    expect(turn()).toEqual(["before", "bob", "bob", "bob"]);
    expect([...scheduler.usage()].find(({ owner }) => owner === "alice")?.running).toBe(1);
    expect(turn()).toEqual(["bob", "bob", "bob", "bob"]);
    resolve("arrived");
    await Bun.sleep(0);
    expect(countOf(turn(), "after")).toBe(2);
    expect(await result).toBe("arrived after");
  });

  test("throws what a promise it waits for is rejected with", async () => {
    const { scheduler, turn } = manualScheduler();
    function* waiting(): Steps<string> {
      try {
        return yield* waitFor(Promise.reject(new Error("the thread failed")));
      } catch (error) {
        return String(error);
      }
    }
    const result = scheduler.run("alice", waiting());
    turn();
    await Bun.sleep(0);
    turn();
    expect(await result).toBe("Error: the thread failed");
  });

  test("ends while it waits when its signal aborts", async () => {
    const scheduler = new Scheduler();
    const signal = { aborted: false };
    let isEnded = false;
    function* waiting(): Steps<void> {
      try {
        yield* waitFor(new Promise(() => {}));
      } finally {
        isEnded = true;
      }
    }
    const result = Promise.resolve(scheduler.run("alice", waiting(), signal));
    signal.aborted = true;
    expect(await result.catch((error: unknown) => error)).toBeInstanceOf(Cancelled);
    expect(isEnded).toBe(true);
    expect([...scheduler.usage()]).toMatchObject([{ owner: "alice", running: 0 }]);
  });

  test("a computation that fails rejects its promise and no other", async () => {
    const { scheduler, turn, work } = manualScheduler();
    function* failing(): Steps<string> {
      yield* work("failing", 3);
      throw new Error("broken");
    }
    const failed = Promise.resolve(scheduler.run("alice", failing())).catch((error: unknown) => error);
    const other = scheduler.run("alice", work("other", 3));
    for (let i = 0; i < 5; i++) turn();
    expect(await failed).toEqual(new Error("broken"));
    expect(await other).toBe("other");
  });
});

test("reports what each owner has used, and counts steps that are too long", () => {
  const { scheduler, work, turn } = manualScheduler();
  void scheduler.run("alice", work("a", 6));
  void scheduler.run("bob", work("b", 2, 11));
  while (turn().length > 0);
  expect([...scheduler.usage()]).toEqual([
    { owner: "bob", loopMs: 22, running: 0, waiting: 0 },
    { owner: "alice", loopMs: 6, running: 0, waiting: 0 },
  ]);
  expect(scheduler.longSteps).toBe(1);
});
