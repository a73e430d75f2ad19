import { expect, test } from "bun:test";
import { ClaimedNetwork } from "../../test/support/claims.ts";
import { createLogger, silentLogger } from "../lib/logger.ts";
import type { Log } from "../log/log.ts";
import { Compactor, type CompactorOptions } from "./compactor.ts";

const DAY = 86_400_000;
const KEEP_ALL: CompactorOptions = { retentionMs: 36_500 * DAY, maxBytes: 1e12, snapshotAfterChanges: 10 };

function keeperOf(network: ClaimedNetwork, options: Partial<CompactorOptions> = {}): Compactor {
  return new Compactor(network.view, network.log, network.clock, silentLogger, { ...KEEP_ALL, ...options });
}

async function change(network: ClaimedNetwork, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await network.clock.advance(1000);
    await network.set("first", "devices", { id: `of:${n % 3}`, sw: String(network.view.revision) });
  }
}

test("a snapshot once enough has changed, and not before", async () => {
  const network = new ClaimedNetwork();
  const keeper = keeperOf(network);
  await change(network, 2);
  await keeper.compact();
  expect(network.log.stats().snapshots).toBe(0);
  await change(network, 10);
  await keeper.compact();
  expect(network.log.stats().snapshots).toBe(1);
  await keeper.compact();
  expect(network.log.stats().snapshots).toBe(1);
});

test("a snapshot after an hour in which anything changed, and none in a quiet one", async () => {
  const network = new ClaimedNetwork();
  const keeper = keeperOf(network, { snapshotAfterChanges: 1e6 });
  await change(network, 1);
  await network.clock.advance(3_600_000);
  await keeper.compact();
  expect(network.log.stats().snapshots).toBe(1);
  await network.clock.advance(3_600_000);
  await keeper.compact();
  expect(network.log.stats().snapshots).toBe(1);
});

test("what is older than is kept is forgotten, up to the snapshot that still tells it", async () => {
  const network = new ClaimedNetwork();
  const keeper = keeperOf(network, { retentionMs: DAY });
  for (let day = 0; day < 5; day++) {
    await change(network, 12);
    await keeper.compact();
    await network.clock.advance(DAY);
  }
  await keeper.compact();
  const { oldestTime, oldest, newest } = network.log.stats();
  expect(oldestTime).toBeGreaterThan(network.clock.now() - 2.5 * DAY);
  expect(oldest).toBeGreaterThan(20);
  expect(newest).toBe(60);
});

test("history larger than allowed is cut, even when it is young", async () => {
  const network = new ClaimedNetwork();
  const keeper = keeperOf(network, { maxBytes: 1 });
  await change(network, 30);
  await keeper.compact();
  expect(network.log.stats().oldest).toBe(30);
});

test("runs until it is told to stop, and leaves a last snapshot", async () => {
  const network = new ClaimedNetwork();
  const keeper = keeperOf(network, { snapshotAfterChanges: 1e6 });
  const ended = new AbortController();
  const running = keeper.run(ended.signal);
  await change(network, 3);
  ended.abort();
  await running;
  expect(network.log.snapshotAtOrBefore(Number.MAX_SAFE_INTEGER)?.revision).toBe(3);
});

test("a log that cannot be written is told of, tried again, and stops nothing", async () => {
  const network = new ClaimedNetwork();
  const lines: string[] = [];
  let full = true;
  const broken: Log = {
    ...partsOf(network.log),
    writeSnapshot: (snapshot, breathe) =>
      full ? Promise.reject(new Error("disk full")) : network.log.writeSnapshot(snapshot, breathe),
  };
  const logger = createLogger("error", (line) => lines.push(line));
  const keeper = new Compactor(network.view, broken, network.clock, logger, KEEP_ALL);
  await change(network, 12);
  await keeper.compact();
  expect(lines.join("")).toContain('snapshot failed why="disk full"');
  full = false;
  await keeper.compact();
  expect(network.log.stats().snapshots).toBe(1);
});

/** A log as a plain object, to replace a part of it. */
function partsOf(log: Log): Log {
  return {
    id: log.id,
    signingKey: log.signingKey,
    append: log.append.bind(log),
    read: log.read.bind(log),
    snapshotAtOrBefore: log.snapshotAtOrBefore.bind(log),
    writeSnapshot: log.writeSnapshot.bind(log),
    revisionAt: log.revisionAt.bind(log),
    timeOf: log.timeOf.bind(log),
    histogram: log.histogram.bind(log),
    prune: log.prune.bind(log),
    stats: log.stats.bind(log),
    close: log.close.bind(log),
  };
}
