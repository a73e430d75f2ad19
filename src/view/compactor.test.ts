import { expect, test } from "bun:test";
import { ClaimedNetwork } from "../../test/support/claims.ts";
import { until } from "../../test/support/until.ts";
import { createLogger, silentLogger } from "../lib/logger.ts";
import type { Log } from "../log/log.ts";
import { Compactor, type CompactorOptions } from "./compactor.ts";

const DAY = 86_400_000;
const RETAIN_ALL: CompactorOptions = { retentionMs: 36_500 * DAY, maxBytes: 1e12, snapshotAfterChanges: 10 };

function compactorOf(network: ClaimedNetwork, options: Partial<CompactorOptions> = {}): Compactor {
  return new Compactor(network.view, network.log, network.clock, silentLogger, { ...RETAIN_ALL, ...options });
}

async function change(network: ClaimedNetwork, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await network.clock.advance(1000);
    await network.set("first", "devices", { id: `of:${n % 3}`, sw: String(network.view.revision) });
  }
}

test("a snapshot is written after enough changes, and not before", async () => {
  const network = new ClaimedNetwork();
  const compactor = compactorOf(network);
  await change(network, 2);
  await compactor.compact();
  expect(network.log.stats().snapshots).toBe(0);
  await change(network, 10);
  await compactor.compact();
  expect(network.log.stats().snapshots).toBe(1);
  await compactor.compact();
  expect(network.log.stats().snapshots).toBe(1);
});

test("a snapshot is written after an hour with changes, and not after one without", async () => {
  const network = new ClaimedNetwork();
  const compactor = compactorOf(network, { snapshotAfterChanges: 1e6 });
  await change(network, 1);
  await network.clock.advance(3_600_000);
  await compactor.compact();
  expect(network.log.stats().snapshots).toBe(1);
  await network.clock.advance(3_600_000);
  await compactor.compact();
  expect(network.log.stats().snapshots).toBe(1);
});

test("history beyond the retention period is pruned up to a snapshot", async () => {
  const network = new ClaimedNetwork();
  const compactor = compactorOf(network, { retentionMs: DAY });
  for (let day = 0; day < 5; day++) {
    await change(network, 12);
    await compactor.compact();
    await network.clock.advance(DAY);
  }
  await compactor.compact();
  const { oldestTime, oldest, newest } = network.log.stats();
  expect(oldestTime).toBeGreaterThan(network.clock.now() - 2.5 * DAY);
  expect(oldest).toBeGreaterThan(20);
  expect(newest).toBe(60);
});

test("history larger than allowed is pruned, even when it is recent", async () => {
  const network = new ClaimedNetwork();
  const compactor = compactorOf(network, { maxBytes: 1 });
  await change(network, 30);
  await compactor.compact();
  expect(network.log.stats().oldest).toBe(30);
});

test("runs until the signal aborts and writes a last snapshot", async () => {
  const network = new ClaimedNetwork();
  const compactor = compactorOf(network, { snapshotAfterChanges: 1e6 });
  const abort = new AbortController();
  const running = compactor.run(abort.signal);
  await change(network, 3);
  abort.abort();
  await running;
  expect(network.log.snapshotAtOrBefore(Number.MAX_SAFE_INTEGER)?.revision).toBe(3);
});

test("a network that is being loaded gets one snapshot, once it grows no more", async () => {
  const network = new ClaimedNetwork();
  const compactor = compactorOf(network, { intervalMs: 5000 });
  const abort = new AbortController();
  const running = compactor.run(abort.signal);
  for (let n = 0; n < 100; n++) {
    await network.set("first", "devices", { id: `of:${n}` });
    if (n % 10 === 9) await network.clock.advance(5000);
  }
  expect(network.log.stats().snapshots).toBe(0);
  await network.clock.advance(5000);
  await until(() => network.log.stats().snapshots === 1, { what: "the snapshot" });
  expect(network.log.snapshotAtOrBefore(Number.MAX_SAFE_INTEGER)?.revision).toBe(100);
  abort.abort();
  await running;
});

test("a failed write is logged and tried again", async () => {
  const network = new ClaimedNetwork();
  const lines: string[] = [];
  let full = true;
  const broken: Log = {
    ...methodsOf(network.log),
    writeSnapshot: (snapshot) =>
      full ? Promise.reject(new Error("disk full")) : network.log.writeSnapshot(snapshot),
  };
  const logger = createLogger((line) => lines.push(line));
  const compactor = new Compactor(network.view, broken, network.clock, logger, RETAIN_ALL);
  await change(network, 12);
  await compactor.compact();
  expect(lines.join("")).toContain('snapshot failed why="disk full"');
  full = false;
  await compactor.compact();
  expect(network.log.stats().snapshots).toBe(1);
});

/** The log as a plain object, so that a test can replace a method. */
function methodsOf(log: Log): Log {
  return {
    id: log.id,
    signingKey: log.signingKey,
    append: log.append.bind(log),
    read: log.read.bind(log),
    snapshotAtOrBefore: log.snapshotAtOrBefore.bind(log),
    writeSnapshot: log.writeSnapshot.bind(log),
    dropSnapshot: log.dropSnapshot.bind(log),
    revisionAt: log.revisionAt.bind(log),
    timeOf: log.timeOf.bind(log),
    histogram: log.histogram.bind(log),
    prune: log.prune.bind(log),
    stats: log.stats.bind(log),
    close: log.close.bind(log),
  };
}
