import { describe, expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { silentLogger } from "../lib/logger.ts";
import type { SourceReport } from "../model/source-status.ts";
import type { ClaimSink, Sink, Source } from "./source.ts";
import { SourceError } from "./source.ts";
import { createSupervisor, type Supervisor } from "./supervise.ts";

type Run = (sink: Sink, signal: AbortSignal) => Promise<void>;

/** A source whose nth run is the nth function; the last function is repeated. */
function scripted(...runs: Run[]): Source & { starts: number } {
  return {
    name: "s",
    starts: 0,
    async run(sink, signal) {
      const run = runs[Math.min(this.starts++, runs.length - 1)];
      await run?.(sink, signal);
    },
  };
}

const untilAborted: Run = (_sink, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
const syncThen =
  (next: Run): Run =>
  async (sink, signal) => {
    await sink.replace({});
    await next(sink, signal);
  };
const fail: Run = async () => {
  throw new SourceError("peer is gone");
};

const acceptingSink: ClaimSink = { replace: async () => {}, apply: async () => {}, reject: () => {} };
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

interface TestSupervisor {
  readonly clock: ManualClock;
  readonly supervisor: Supervisor;
  status(): SourceReport;
  stop(): Promise<void>;
}

async function start(source: Source, sink: ClaimSink = acceptingSink): Promise<TestSupervisor> {
  const clock = new ManualClock(0);
  const supervisor = createSupervisor({
    sources: [{ kind: "scripted", source }],
    sinkFor: () => sink,
    clock,
    log: silentLogger,
    random: () => 1,
  });
  const abort = new AbortController();
  const ended = supervisor.run(abort.signal);
  await nextTurn();
  return {
    clock,
    supervisor,
    status() {
      const [first] = supervisor.status();
      if (!first) throw new Error("there is one source");
      return first;
    },
    async stop() {
      abort.abort();
      await ended;
    },
  };
}

describe("status of a source", () => {
  const cases: { name: string; runs: Run[]; expected: Partial<SourceReport> }[] = [
    { name: "nothing claimed yet", runs: [untilAborted], expected: { status: "starting", restarts: 0 } },
    { name: "synced", runs: [syncThen(untilAborted)], expected: { status: "synced", lastSyncedAt: 0 } },
    {
      name: "a failure before the first sync",
      runs: [fail],
      expected: { status: "starting", error: "peer is gone" },
    },
    {
      name: "a failure after a sync",
      runs: [syncThen(fail)],
      expected: { status: "stale", error: "peer is gone" },
    },
    {
      name: "a return without an abort",
      runs: [syncThen(async () => {})],
      expected: { status: "stale", error: "the source returned before it was stopped" },
    },
    {
      name: "marked stale before the first sync",
      runs: [
        async (sink, signal) => {
          sink.markStale("no file");
          await untilAborted(sink, signal);
        },
      ],
      expected: { status: "starting", error: "no file" },
    },
    {
      name: "marked stale after a sync",
      runs: [
        syncThen(async (sink, signal) => {
          sink.markStale("broken file");
          await untilAborted(sink, signal);
        }),
      ],
      expected: { status: "stale", error: "broken file", restarts: 0 },
    },
    {
      name: "synced again after it was marked stale",
      runs: [
        syncThen(async (sink, signal) => {
          sink.markStale("broken file");
          await sink.apply([]);
          await untilAborted(sink, signal);
        }),
      ],
      expected: { status: "synced" },
    },
    {
      name: "a thrown value that is not an Error",
      runs: [
        async () => {
          throw "a string";
        },
      ],
      expected: { status: "starting", error: "a string" },
    },
  ];
  for (const { name, runs, expected } of cases) {
    test(name, async () => {
      const running = await start(scripted(...runs));
      const status = running.status();
      expect(status).toMatchObject({ name: "s", kind: "scripted", ...expected });
      expect(status.error).toBe(expected.error);
      await running.stop();
      expect(running.status()).toMatchObject({ status: "stopped" });
      expect(running.status().error).toBeUndefined();
      expect(running.clock.sleeping).toBe(0);
    });
  }
});

describe("restarts", () => {
  test("pauses double, and a short run does not reset them", async () => {
    const source = scripted(syncThen(fail));
    const running = await start(source);
    const startsAt: number[] = [];
    for (let second = 0; second <= 8; second++) {
      startsAt.push(source.starts);
      await running.clock.advance(1000);
    }
    // Runs begin at 0, 1, 3 and 7 s.
    expect(startsAt).toEqual([1, 2, 2, 3, 3, 3, 3, 4, 4]);
    expect(running.status()).toMatchObject({ status: "stale", restarts: 3 });
    await running.stop();
  });

  test("a run longer than the maximum pause resets the pause", async () => {
    let failRun: (error: unknown) => void = () => {};
    const longRun: Run = syncThen(() => new Promise((_resolve, reject) => (failRun = reject)));
    const source = scripted(fail, fail, fail, longRun, syncThen(untilAborted));
    const running = await start(source);
    await running.clock.advance(1000 + 2000 + 4000);
    expect(source.starts).toBe(4);
    await running.clock.advance(120_000);
    failRun(new SourceError("at last"));
    await nextTurn();
    expect(running.status()).toMatchObject({ status: "stale", since: 127_000, error: "at last" });
    await running.clock.advance(1000);
    expect(running.status()).toMatchObject({
      status: "synced",
      since: 128_000,
      lastSyncedAt: 128_000,
      restarts: 4,
    });
    await running.stop();
  });

  test("after a run ends, its signal is aborted and its sink rejects claims", async () => {
    let first: { sink: Sink; signal: AbortSignal } | undefined;
    const replaced: string[] = [];
    const running = await start(
      scripted(async (sink, signal) => {
        first = { sink, signal };
        throw new SourceError("gone");
      }, untilAborted),
      { replace: async () => void replaced.push("replace"), apply: async () => {}, reject: () => {} },
    );
    await running.clock.advance(1000);
    expect(first?.signal.aborted).toBe(true);
    await expect(first?.sink.replace({})).rejects.toThrow("the source was stopped");
    first?.sink.markStale("from the ended run");
    expect(replaced).toEqual([]);
    expect(running.status()).toMatchObject({ status: "starting", error: "gone" });
    await running.stop();
  });

  test("a sink that fails ends the run, and the source is restarted", async () => {
    let broken = true;
    const running = await start(scripted(syncThen(untilAborted)), {
      replace: async () => {
        if (broken) throw new SourceError("disk is full");
      },
      apply: async () => {},
      reject: () => {},
    });
    expect(running.status()).toMatchObject({ status: "starting", error: "disk is full" });
    broken = false;
    await running.clock.advance(1000);
    expect(running.status()).toMatchObject({ status: "synced", restarts: 1 });
    await running.stop();
  });
});

test("a source can read its last claims where the sink stores them", async () => {
  const results: unknown[] = [];
  const readLastClaims: Run = async (sink, signal) => {
    results.push(await sink.lastClaims?.());
    await untilAborted(sink, signal);
  };
  const claims = { devices: [{ id: "of:1" }] };
  for (const sink of [acceptingSink, { ...acceptingSink, lastClaims: async () => claims }]) {
    const running = await start(scripted(readLastClaims), sink);
    expect(running.status().status).toBe("starting");
    await running.stop();
  }
  expect(results).toEqual([undefined, claims]);
});

test("a stop does not wait until a large set is read to its end", async () => {
  let read = 0;
  const endless = function* () {
    for (;;) yield { id: `of:${read}` };
  };
  const running = await start(
    scripted(async (sink) => sink.replace({ devices: endless() })),
    {
      replace: async ({ devices = [] }) => {
        for (const _ of devices) if (++read % 100 === 0) await nextTurn();
      },
      apply: async () => {},
      reject: () => {},
    },
  );
  await running.stop();
  expect(read).toBeGreaterThan(0);
  expect(running.status()).toMatchObject({ status: "stopped" });
});

test("a source that fails does not affect another, and run waits for all of them", async () => {
  const clock = new ManualClock(0);
  const good = { name: "good", metrics: () => ({ items: 3 }), run: syncThen(untilAborted) };
  const bad = { name: "bad", run: fail };
  const supervisor = createSupervisor({
    sources: [bad, good].map((source) => ({ kind: "k", source })),
    sinkFor: () => acceptingSink,
    clock,
    log: silentLogger,
  });
  const abort = new AbortController();
  const ended = supervisor.run(abort.signal);
  await nextTurn();
  await clock.advance(600_000);
  expect(supervisor.status().map((s) => s.status)).toEqual(["starting", "synced"]);
  expect(supervisor.status()[1]?.metrics).toEqual({ items: 3 });
  abort.abort();
  await ended;
  expect(supervisor.status().map((s) => s.status)).toEqual(["stopped", "stopped"]);
});

test("replacing the set stops removed sources, starts added ones, and does not touch the others", async () => {
  const runs: string[] = [];
  const create = (name: string) => ({
    kind: "k",
    source: {
      name,
      run: async (sink: Sink, signal: AbortSignal) => {
        runs.push(`${name} starts`);
        await syncThen(untilAborted)(sink, signal);
        runs.push(`${name} ends`);
      },
    },
  });
  const [kept, removed, added] = [create("kept"), create("removed"), create("added")];
  const supervisor = createSupervisor({
    sources: [removed, kept],
    sinkFor: () => acceptingSink,
    clock: new ManualClock(0),
    log: silentLogger,
  });
  const abort = new AbortController();
  const ended = supervisor.run(abort.signal);
  await nextTurn();
  await supervisor.replace([kept, added]);
  await nextTurn();
  expect(supervisor.status().map(({ name, status }) => `${name} ${status}`)).toEqual([
    "kept synced",
    "added synced",
  ]);
  expect(runs).toEqual(["removed starts", "kept starts", "removed ends", "added starts"]);
  abort.abort();
  await ended;
  expect(runs.slice(4).sort()).toEqual(["added ends", "kept ends"]);
});

test("every report and every failure is notified in order, and none after a stop", async () => {
  const statuses: string[] = [];
  const source = scripted(
    async (sink) => {
      sink.markStale("no file");
      await sink.replace({});
      await sink.apply([]);
      throw new SourceError("peer is gone");
    },
    async (sink, signal) => {
      await untilAborted(sink, signal);
      sink.markStale("late");
    },
  );
  const clock = new ManualClock(0);
  const supervisor = createSupervisor({
    sources: [{ kind: "k", source }],
    sinkFor: () => acceptingSink,
    onStatus: (name, status) => statuses.push(`${name} ${status}`),
    clock,
    log: silentLogger,
    random: () => 1,
  });
  const abort = new AbortController();
  const ended = supervisor.run(abort.signal);
  await nextTurn();
  await clock.advance(1000);
  expect(source.starts).toBe(2);
  abort.abort();
  await ended;
  expect(statuses).toEqual(["s failed", "s synced", "s synced", "s failed"]);
});

test("a restart ends the run, refuses what it still reports, and starts the next one at once", async () => {
  const refused: unknown[] = [];
  const source = scripted(
    syncThen(async (sink, signal) => {
      sink.markStale("no answer");
      await untilAborted(sink, signal);
      refused.push(await sink.apply([]).catch((error: unknown) => error));
    }),
    untilAborted,
  );
  const running = await start(source);
  running.supervisor.restart("other");
  expect(source.starts).toBe(1);
  running.supervisor.restart("s");
  await nextTurn();
  expect(source.starts).toBe(2);
  expect(refused).toEqual([new SourceError("the source was stopped")]);
  expect(running.status()).toMatchObject({ status: "stale", error: "no answer", restarts: 1 });
  await running.stop();
});
