import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { aborted } from "../lib/aborted.ts";
import { silentLogger } from "../lib/logger.ts";
import type { ClaimSink, Sink, Source } from "./source.ts";
import { createSupervisor, type RunPermit } from "./supervise.ts";

const acceptingSink: ClaimSink = { replace: async () => {}, apply: async () => {}, reject: () => {} };
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test("a source runs only with a permit: it is on standby before, and again once the permit is lost", async () => {
  const events: string[] = [];
  const sinks: Sink[] = [];
  const source: Source = {
    name: "s",
    async run(sink, signal) {
      sinks.push(sink);
      await sink.replace({});
      await aborted(signal);
      events.push("run ended");
    },
  };
  let grant = (_permit: RunPermit) => {};
  const permitFor = (_: string, signal: AbortSignal, onWait: () => void): Promise<RunPermit | undefined> => {
    onWait();
    return Promise.race([
      new Promise<RunPermit>((resolve) => {
        grant = resolve;
      }),
      aborted(signal).then(() => undefined),
    ]);
  };
  const supervisor = createSupervisor({
    sources: [{ kind: "scripted", source }],
    sinkFor: () => acceptingSink,
    onStatus: (_, status) => events.push(status),
    permitFor,
    clock: new ManualClock(0),
    log: silentLogger,
  });
  const stop = new AbortController();
  const ended = supervisor.run(stop.signal);
  const status = () => supervisor.status()[0];
  await nextTurn();
  expect(status()).toMatchObject({ status: "standby", restarts: 0 });

  const lost = new AbortController();
  const release = async () => {
    events.push("released");
  };
  grant({ lost: lost.signal, release });
  await nextTurn();
  expect(status()?.status).toBe("synced");

  lost.abort();
  await nextTurn();
  expect(status()).toMatchObject({ status: "standby", restarts: 0 });
  expect(status()?.lastSyncedAt).toBeUndefined();
  expect(sinks[0]?.replace({})).rejects.toThrow("the source was stopped");
  expect(events.slice(0, 5)).toEqual(["standby", "synced", "run ended", "standby", "released"]);

  grant({ lost: new AbortController().signal, release });
  await nextTurn();
  expect(status()?.status).toBe("synced");
  stop.abort();
  await ended;
  expect(status()?.status).toBe("stopped");
  expect(events.filter((event) => event === "released").length).toBe(2);
});

test("a source whose permit is lost ends its run, though the log does not answer", async () => {
  const events: string[] = [];
  const source: Source = {
    name: "s",
    async run(sink) {
      events.push("run");
      // Never answered.
      await sink.replace({}).finally(() => events.push("run ended"));
    },
  };
  const permits: ((permit: RunPermit) => void)[] = [];
  const supervisor = createSupervisor({
    sources: [{ kind: "scripted", source }],
    sinkFor: () => ({ ...acceptingSink, replace: () => new Promise(() => {}) }),
    permitFor: (_, signal) =>
      Promise.race([
        new Promise<RunPermit>((resolve) => permits.push(resolve)),
        aborted(signal).then(() => undefined),
      ]),
    clock: new ManualClock(0),
    log: silentLogger,
  });
  const stop = new AbortController();
  const ended = supervisor.run(stop.signal);
  await nextTurn();
  const lost = new AbortController();
  permits[0]?.({ lost: lost.signal, release: async () => {} });
  await nextTurn();
  expect(events).toEqual(["run"]);
  lost.abort();
  await nextTurn();
  expect(events).toEqual(["run", "run ended"]);
  expect(supervisor.status()[0]?.status).toBe("standby");
  stop.abort();
  await ended;
});
