import { describe, expect, test } from "bun:test";
import { ManualClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/logger.ts";
import type { ClaimSink, Sink, Source } from "./source.ts";
import { SourceError } from "./source.ts";
import { createSupervisor, type SourceStatus, type Supervisor } from "./supervise.ts";

type Life = (sink: Sink, signal: AbortSignal) => Promise<void>;

/** A source whose nth life is the nth function; the last one is lived again and again. */
function scripted(...lives: Life[]): Source & { starts: number } {
  return {
    name: "s",
    starts: 0,
    async run(sink, signal) {
      const life = lives[Math.min(this.starts++, lives.length - 1)];
      await life?.(sink, signal);
    },
  };
}

const untilAborted: Life = (_sink, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
const syncThen =
  (next: Life): Life =>
  async (sink, signal) => {
    await sink.replace({});
    await next(sink, signal);
  };
const fail: Life = async () => {
  throw new SourceError("peer is gone");
};

const accepting: ClaimSink = { replace: async () => {}, apply: async () => {} };
const settle = () => new Promise((resolve) => setImmediate(resolve));

interface Bench {
  readonly clock: ManualClock;
  readonly supervisor: Supervisor;
  status(): SourceStatus;
  stop(): Promise<void>;
}

async function start(source: Source, sink: ClaimSink = accepting): Promise<Bench> {
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
  await settle();
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
  const cases: { name: string; life: Life[]; expected: Partial<SourceStatus> }[] = [
    { name: "nothing claimed yet", life: [untilAborted], expected: { status: "starting", restarts: 0 } },
    { name: "synced", life: [syncThen(untilAborted)], expected: { status: "synced", lastSyncedAt: 0 } },
    {
      name: "failed before it ever synced",
      life: [fail],
      expected: { status: "starting", error: "peer is gone" },
    },
    { name: "failed after", life: [syncThen(fail)], expected: { status: "stale", error: "peer is gone" } },
    {
      name: "returned though nobody asked it to",
      life: [syncThen(async () => {})],
      expected: { status: "stale", error: "ended by itself" },
    },
    {
      name: "trouble before it ever synced",
      life: [
        async (sink, signal) => {
          sink.trouble("no file");
          await untilAborted(sink, signal);
        },
      ],
      expected: { status: "starting", error: "no file" },
    },
    {
      name: "trouble after",
      life: [
        syncThen(async (sink, signal) => {
          sink.trouble("broken file");
          await untilAborted(sink, signal);
        }),
      ],
      expected: { status: "stale", error: "broken file", restarts: 0 },
    },
    {
      name: "trouble that passed",
      life: [
        syncThen(async (sink, signal) => {
          sink.trouble("broken file");
          await sink.apply([]);
          await untilAborted(sink, signal);
        }),
      ],
      expected: { status: "synced" },
    },
    {
      name: "a crash that is no Error",
      life: [
        async () => {
          throw "a string";
        },
      ],
      expected: { status: "starting", error: "a string" },
    },
  ];
  for (const { name, life, expected } of cases) {
    test(name, async () => {
      const bench = await start(scripted(...life));
      const status = bench.status();
      expect(status).toMatchObject({ name: "s", kind: "scripted", ...expected });
      expect(status.error).toBe(expected.error);
      await bench.stop();
      expect(bench.status()).toMatchObject({ status: "stopped" });
      expect(bench.status().error).toBeUndefined();
      expect(bench.clock.sleeping).toBe(0);
    });
  }
});

describe("restarts", () => {
  test("pauses double and are not reset by a run that dies young", async () => {
    const source = scripted(syncThen(fail));
    const bench = await start(source);
    const startsAt: number[] = [];
    for (let second = 0; second <= 8; second++) {
      startsAt.push(source.starts);
      await bench.clock.advance(1000);
    }
    // Lives begin at 0, 1, 3 and 7 s.
    expect(startsAt).toEqual([1, 2, 2, 3, 3, 3, 3, 4, 4]);
    expect(bench.status()).toMatchObject({ status: "stale", restarts: 3 });
    await bench.stop();
  });

  test("a long life earns short pauses again", async () => {
    let die: (error: unknown) => void = () => {};
    const long: Life = syncThen(() => new Promise((_resolve, reject) => (die = reject)));
    const source = scripted(fail, fail, fail, long, syncThen(untilAborted));
    const bench = await start(source);
    await bench.clock.advance(1000 + 2000 + 4000);
    expect(source.starts).toBe(4);
    await bench.clock.advance(120_000);
    die(new SourceError("at last"));
    await settle();
    expect(bench.status()).toMatchObject({ status: "stale", since: 127_000, error: "at last" });
    await bench.clock.advance(1000);
    expect(bench.status()).toMatchObject({
      status: "synced",
      since: 128_000,
      lastSyncedAt: 128_000,
      restarts: 4,
    });
    await bench.stop();
  });

  test("a life that ended is told so, and can no longer speak", async () => {
    let first: { sink: Sink; signal: AbortSignal } | undefined;
    const replaced: string[] = [];
    const bench = await start(
      scripted(async (sink, signal) => {
        first = { sink, signal };
        throw new SourceError("gone");
      }, untilAborted),
      { replace: async () => void replaced.push("replace"), apply: async () => {} },
    );
    await bench.clock.advance(1000);
    expect(first?.signal.aborted).toBe(true);
    await expect(first?.sink.replace({})).rejects.toThrow("told to stop");
    first?.sink.trouble("from the grave");
    expect(replaced).toEqual([]);
    expect(bench.status()).toMatchObject({ status: "starting", error: "gone" });
    await bench.stop();
  });

  test("a sink that fails is the source's failure, and it is tried again", async () => {
    let broken = true;
    const bench = await start(scripted(syncThen(untilAborted)), {
      replace: async () => {
        if (broken) throw new SourceError("disk is full");
      },
      apply: async () => {},
    });
    expect(bench.status()).toMatchObject({ status: "starting", error: "disk is full" });
    broken = false;
    await bench.clock.advance(1000);
    expect(bench.status()).toMatchObject({ status: "synced", restarts: 1 });
    await bench.stop();
  });
});

test("a source may ask what it claimed last, where the sink remembers", async () => {
  const recalled: unknown[] = [];
  const curious: Life = async (sink, signal) => {
    recalled.push(await sink.recall?.());
    await untilAborted(sink, signal);
  };
  const claims = { devices: [{ id: "of:1" }] };
  for (const sink of [accepting, { ...accepting, recall: async () => claims }]) {
    const bench = await start(scripted(curious), sink);
    expect(bench.status().status).toBe("starting");
    await bench.stop();
  }
  expect(recalled).toEqual([undefined, claims]);
});

test("a stop does not wait for all of a large set to be read", async () => {
  let read = 0;
  const endless = function* () {
    for (;;) yield { id: `of:${read}` };
  };
  const bench = await start(
    scripted(async (sink) => sink.replace({ devices: endless() })),
    {
      replace: async ({ devices = [] }) => {
        for (const _ of devices) if (++read % 100 === 0) await settle();
      },
      apply: async () => {},
    },
  );
  await bench.stop();
  expect(read).toBeGreaterThan(0);
  expect(bench.status()).toMatchObject({ status: "stopped" });
});

test("one source that fails does not disturb another, and run waits for all", async () => {
  const clock = new ManualClock(0);
  const good = { name: "good", metrics: () => ({ things: 3 }), run: syncThen(untilAborted) };
  const bad = { name: "bad", run: fail };
  const supervisor = createSupervisor({
    sources: [bad, good].map((source) => ({ kind: "k", source })),
    sinkFor: () => accepting,
    clock,
    log: silentLogger,
  });
  const abort = new AbortController();
  const ended = supervisor.run(abort.signal);
  await settle();
  await clock.advance(600_000);
  expect(supervisor.status().map((s) => s.status)).toEqual(["starting", "synced"]);
  expect(supervisor.status()[1]?.metrics).toEqual({ things: 3 });
  abort.abort();
  await ended;
  expect(supervisor.status().map((s) => s.status)).toEqual(["stopped", "stopped"]);
});
