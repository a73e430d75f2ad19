/** What the monitor makes of what a stream says of itself. */
import { describe, expect, test } from "bun:test";
import { ManualClock } from "../../lib/clock.ts";
import type { StreamInfo } from "./log-stream.ts";
import { StreamError } from "./stream-error.ts";
import { StreamHealth } from "./stream-health.ts";
import { StreamMonitor } from "./stream-monitor.ts";

function monitored() {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = (_message: string, fields?: Readonly<Record<string, unknown>>) => {
    lines.push(String(fields?.condition ?? "over"));
  };
  const health = new StreamHealth(clock, { debug: log, info: log, warn: log, error: log, audit: log });
  let info: StreamInfo = {
    created: "then",
    firstSequence: 1,
    lastSequence: 10,
    messages: 10,
    bytes: 1000,
    replicas: 1,
    followers: [],
  };
  let applied = 10;
  let followed = 0;
  const stop = new AbortController();
  let [isConnected, isAnswered] = [true, true];
  let onConnection = () => {};
  const connection = {
    get isConnected() {
      return isConnected;
    },
    onConnection(listener: () => void) {
      onConnection = listener;
      return () => {};
    },
  };
  const read = async () => {
    if (!isConnected) throw new StreamError("unreachable", "NATS is unreachable");
    return isAnswered ? info : new Promise<StreamInfo>(() => {});
  };
  const monitor = new StreamMonitor(
    {
      stream: { info: read },
      connection,
      health,
      clock,
      chain: { check: async () => {}, suspect() {} },
      created: "then",
    },
    {
      applied: () => applied,
      arrived: () => applied,
      followAgain: () => {
        followed++;
      },
    },
  );
  monitor.isCaughtUp = true;
  const ended = monitor.run(stop.signal);
  return {
    monitor,
    health,
    lines,
    clock,
    async connect(isNow: boolean) {
      isConnected = isNow;
      onConnection();
      while (!isNow && clock.sleeping === 0) await Promise.resolve();
    },
    /** Whether requests from now on are answered. */
    answer(isNow: boolean) {
      isAnswered = isNow;
    },
    /** How often the stream was followed anew. */
    followed: () => followed,
    async set(changed: Partial<StreamInfo>, appliedNow = applied) {
      info = { ...info, ...changed };
      applied = appliedNow;
      while (clock.sleeping === 0) await Promise.resolve();
      await clock.advance(2_000);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

describe("the monitor", () => {
  test("calls a node slow that is far behind, until it is nearly up to date; logged once", async () => {
    await using node = monitored();
    await node.set({ lastSequence: 5_000 });
    expect(node.health.trouble).toBeUndefined();
    await node.set({ lastSequence: 6_000 });
    expect(node.health.trouble?.condition).toBe("slow");
    expect(node.monitor.lag).toBe(5_990);
    await node.set({}, 4_000);
    expect(node.health.trouble?.condition).toBe("slow");
    await node.set({}, 5_950);
    expect(node.health.trouble).toBeUndefined();
    expect(node.lines).toEqual(["slow", "over"]);
    expect(node.monitor.lost.aborted).toBe(false);
  });

  test("calls a stream truncated that ends before what was applied, and not only for a moment", async () => {
    await using node = monitored();
    await node.set({ lastSequence: 8 });
    await node.set({ lastSequence: 10 });
    expect(node.lines).toEqual([]);
    for (let checks = 0; checks < 6; checks++) await node.set({ lastSequence: 8 });
    expect(node.health.trouble?.condition).toBe("truncated");
    expect(node.lines).toEqual(["truncated"]);
    expect(node.monitor.lost.aborted).toBe(false);
  });

  test("knows of a lost connection, and that it is there again, at once: also while no answer comes", async () => {
    await using node = monitored();
    await node.set({});
    node.answer(false);
    await node.clock.advance(2_000);
    // A check is under way now, and is never answered.
    expect(node.clock.sleeping).toBe(0);
    await node.connect(false);
    await node.clock.advance(499);
    // There may be another server.
    expect(node.health.trouble).toBeUndefined();
    await node.clock.advance(1);
    expect(node.health.trouble?.condition).toBe("unreachable");
    expect(node.health.staleSince).toBeDefined();
    node.answer(true);
    await node.connect(true);
    while (node.clock.sleeping === 0) await Promise.resolve();
    expect(node.health.trouble).toBeUndefined();
    expect(node.followed()).toBe(1);
    expect(node.lines).toEqual(["unreachable", "over"]);
    // One that is there again soon is no trouble.
    await node.connect(false);
    await node.connect(true);
    await node.set({});
    expect(node.lines).toHaveLength(2);
  });

  test("gives up a stream that is another one, or that has gone on without the node", async () => {
    await using replaced = monitored();
    await replaced.set({ created: "now" });
    expect(replaced.health.trouble?.condition).toBe("replaced");
    expect(replaced.monitor.lost.aborted).toBe(true);
    await using passed = monitored();
    await passed.set({ firstSequence: 11, lastSequence: 20 });
    expect(passed.monitor.lost.aborted).toBe(false);
    await passed.set({ firstSequence: 12 });
    expect(passed.health.trouble?.condition).toBe("passed");
    expect(passed.monitor.lost.aborted).toBe(true);
  });

  test("follows the stream anew when it has more and nothing arrives; not when something does", async () => {
    await using node = monitored();
    await node.set({ lastSequence: 20 });
    for (let arrived = 11; arrived < 20; arrived++) await node.set({}, arrived);
    expect(node.followed()).toBe(0);
    for (let checks = 0; checks < 3; checks++) await node.set({});
    expect(node.followed()).toBe(1);
    await node.set({}, 20);
    for (let checks = 0; checks < 5; checks++) await node.set({});
    expect(node.followed()).toBe(1);
  });
});
