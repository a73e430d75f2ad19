/** What the monitor makes of what a stream says of itself. */
import { describe, expect, test } from "bun:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import type { StreamInfo } from "./log-stream.ts";
import { StreamError } from "./stream-error.ts";
import { StreamHealth } from "./stream-health.ts";
import { StreamMonitor } from "./stream-monitor.ts";

const VIEW_AGE_MS = 3_600_000;

function monitored(lastSequence = 10) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = (_message: string, fields?: Readonly<Record<string, unknown>>) => {
    lines.push(String(fields?.condition ?? "over"));
  };
  const viewTime = clock.now() - VIEW_AGE_MS;
  const logger = { debug: log, info: log, warn: log, error: log, audit: log };
  const health = new StreamHealth(clock, logger, () => viewTime);
  let info: StreamInfo = {
    created: "then",
    firstSequence: 1,
    lastSequence,
    messages: lastSequence,
    bytes: 1000,
    replicas: 1,
    followers: [],
  };
  let applied = 10;
  let arrived = 10;
  let [isFull, isEndDeleted] = [false, false];
  /** The last message of a snapshot; there is none with -1. */
  let snapshot = -1;
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
      stream: { info: read, hasAllAfter: async () => !isEndDeleted },
      connection,
      health,
      clock,
      chain: { check: async () => {}, requireCheck() {} },
      created: "then",
      canLoad: async (beyond) => snapshot >= beyond,
      loadedTo: -1,
    },
    {
      applied: () => applied,
      arrived: () => arrived,
      isFull: () => isFull,
      followAgain: () => {
        followed++;
      },
    },
  );
  monitor.isCaughtUp = true;
  const arrive = (sequence: number) => {
    if (sequence > arrived) {
      arrived = sequence;
      monitor.onArrival();
    }
  };
  const ended = monitor.run(stop.signal);
  return {
    monitor,
    health,
    lines,
    clock,
    async connect(isNow: boolean) {
      isConnected = isNow;
      onConnection();
      await this.settled();
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
      arrive(applied);
      await this.settled();
      await clock.advance(2_000);
    },
    /** The read is answered, and the monitor waits. */
    async settled() {
      await new Promise((resolve) => setImmediate(resolve));
    },
    async streamHas(lastSequence: number) {
      await this.settled();
      info = { ...info, lastSequence };
    },
    async advance(ms: number) {
      await this.settled();
      await clock.advance(ms);
      await this.settled();
    },
    arrive,
    /** Nothing of it will arrive. */
    deleteEnd() {
      isEndDeleted = true;
    },
    storeSnapshot(sequence: number) {
      snapshot = sequence;
    },
    fill(isNow: boolean) {
      isFull = isNow;
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
    node.arrive(5_000);
    await node.set({ lastSequence: 5_000 });
    expect(node.health.trouble).toBeUndefined();
    node.arrive(6_000);
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
    expect(node.lines).toEqual(["unreachable", "over"]);
  });

  test("gives up a stream that is another one, or that has gone on without the node", async () => {
    await using replaced = monitored();
    await replaced.set({ created: "now" });
    expect(replaced.health.trouble?.condition).toBe("replaced");
    expect(replaced.monitor.lost.aborted).toBe(true);
    await using passed = monitored();
    passed.storeSnapshot(15);
    await passed.set({ firstSequence: 11, lastSequence: 20 });
    expect(passed.monitor.lost.aborted).toBe(false);
    await passed.set({ firstSequence: 12 });
    expect(passed.health.trouble?.condition).toBe("passed");
    expect(passed.monitor.lost.aborted).toBe(true);
  });

  test("waits with a gap for the snapshot that repairs it, and writes nothing meanwhile", async () => {
    await using passed = monitored();
    await passed.set({ firstSequence: 12, lastSequence: 20 });
    await passed.set({});
    expect(passed.lines).toEqual(["gap"]);
    expect(passed.monitor.blocked.aborted).toBe(true);
    expect(passed.monitor.lost.aborted).toBe(false);
    passed.storeSnapshot(20);
    await passed.set({});
    expect(passed.health.trouble?.condition).toBe("passed");
    expect(passed.monitor.lost.aborted).toBe(true);

    await using lacking = monitored();
    lacking.monitor.block(new StreamError("gap", "a message is missing"));
    await lacking.set({});
    expect(lacking.monitor.lost.aborted).toBe(false);
    lacking.storeSnapshot(20);
    await lacking.set({});
    expect(lacking.monitor.lost.aborted).toBe(true);
  });

  test("loads a snapshot also where the end of the stream is deleted, so that nothing arrives", async () => {
    await using node = monitored();
    await node.set({ lastSequence: 20 });
    node.deleteEnd();
    await node.set({});
    expect(node.health.trouble?.condition).toBe("silent");
    expect(node.monitor.blocked.aborted).toBe(false);
    node.storeSnapshot(20);
    await node.set({});
    expect(node.health.trouble?.condition).toBe("passed");
    expect(node.monitor.lost.aborted).toBe(true);
  });

  describe("of a node that receives nothing", () => {
    test("says silent two seconds after the last arrival, follows anew, and is done when what was missing has arrived", async () => {
      await using node = monitored();
      await node.set({ lastSequence: 20 }, 20);
      node.arrive(21);
      await node.streamHas(30);
      const at = node.clock.now();
      await node.advance(1_900);
      expect(node.health.staleSince).toBeUndefined();
      await node.advance(100);
      expect(node.health.trouble).toMatchObject({ condition: "silent", since: at + 2_000 });
      // When the end was last read, and the view had everything.
      expect(node.health.staleSince).toBe(at);
      expect(node.followed()).toBe(1);
      await node.streamHas(40);
      await node.advance(4_900);
      expect(node.followed()).toBe(1);
      await node.advance(100);
      expect(node.followed()).toBe(2);
      node.arrive(29);
      await node.advance(500);
      expect(node.health.trouble?.condition).toBe("silent");
      node.arrive(30);
      expect(node.health.staleSince).toBeUndefined();
      expect(node.lines).toEqual(["silent", "over"]);
    });

    test("asks again where no answer comes, and says after three seconds that the stream does not answer", async () => {
      await using node = monitored();
      await node.set({ lastSequence: 20 }, 20);
      node.arrive(21);
      node.answer(false);
      await node.advance(2_900);
      expect(node.health.staleSince).toBeUndefined();
      await node.advance(100);
      expect(node.health.trouble?.condition).toBe("unanswered");
      // An answer in between: what it says is as good as an arrival that was awaited.
      await using late = monitored();
      await late.set({ lastSequence: 20 }, 20);
      late.arrive(21);
      await late.streamHas(30);
      late.answer(false);
      await late.advance(1_900);
      late.answer(true);
      await late.advance(1_100);
      expect(late.health.trouble?.condition).toBe("silent");
    });

    test("is well while something arrives, while what has arrived waits, and when a message is on its way", async () => {
      await using node = monitored();
      await node.streamHas(1_000);
      for (let arrived = 11; arrived < 40; arrived++) {
        await node.advance(900);
        node.arrive(arrived);
      }
      node.fill(true);
      await node.advance(20_000);
      node.fill(false);
      await node.advance(900);
      node.arrive(1_000);
      for (let sequence = 1_001; sequence < 1_010; sequence++) {
        // The end is read just before it arrives.
        await node.advance(950);
        await node.streamHas(sequence);
        await node.advance(100);
        node.arrive(sequence);
      }
      expect([node.lines, node.followed()]).toEqual([[], 0]);
    });

    test("counts from the last revision where the view was never complete", async () => {
      await using node = monitored(30);
      const at = node.clock.now();
      await node.advance(3_000);
      expect(node.health.trouble?.condition).toBe("silent");
      expect(node.health.staleSince).toBe(at - VIEW_AGE_MS);
    });
  });
});
