/**
 * The storage of the service: the change log in the data folder, the view restored from it, and the committer,
 * history and compactor that work on both. `openStorage` returns with the view complete. `log.close()` comes last,
 * after the compactor has stopped.
 */
import { join } from "node:path";
import { isClustered } from "../config/cross-checks.ts";
import type { Config } from "../config/schema.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { Scheduler } from "../lib/scheduler.ts";
import { openEmbeddedLog } from "../log/embedded.ts";
import type { Log } from "../log/log.ts";
import { IN_MEMORY } from "../log/log-file.ts";
import type { MergeSettings } from "../model/merge-settings.ts";
import { Committer } from "../view/committer.ts";
import { Compactor } from "../view/compactor.ts";
import { History } from "../view/history.ts";
import { MergeRules } from "../view/merge-rules.ts";
import { repairLog, restoreView } from "../view/restore.ts";
import type { View } from "../view/view.ts";
import type { ClusterMember } from "./cluster/open-cluster.ts";
import { SnapshotPublisher } from "./cluster/snapshot-publisher.ts";
import { dataDirOf, LOG_FILE } from "./data-folder.ts";

/** Minimum difference that is reported. Smaller ones are corrections by a time server. */
const MIN_REPORTED_MS = 1000;

/**
 * Wraps a clock so that it logs when it was set back behind the last stored time. Stored times never decrease, so all changes
 * get that time until the clock has passed it, and an operator should know why. Logs one line for each set-back.
 */
export function reportClockSkew(clock: Clock, lastTime: () => number, logger: Logger): Clock {
  let isBehind = false;
  return {
    now() {
      const now = clock.now();
      const behindMs = lastTime() - now;
      if (behindMs <= 0) isBehind = false;
      else if (!isBehind && behindMs >= MIN_REPORTED_MS) {
        isBehind = true;
        logger.warn("the clock is behind the time of the last revision, which new revisions keep", {
          seconds: Math.round(behindMs / 1000),
        });
      }
      return now;
    },
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}

const DAY_MS = 86_400_000;

export interface ServiceStorage {
  readonly log: Log;
  readonly view: View;
  readonly committer: Committer;
  readonly history: History;
  readonly compactor: Compactor;
  /** The scheduler of the process. */
  readonly scheduler: Scheduler;
  /** The membership in a cluster; absent on a single node, like `snapshots`. */
  readonly cluster?: ClusterMember;
  readonly snapshots?: SnapshotPublisher;
}

/** Opens the storage. Rejects with `LogError` or `NatsError`, with a message for the operator. */
export async function openStorage(
  config: Config,
  settings: MergeSettings,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal = new AbortController().signal,
): Promise<ServiceStorage> {
  const dataDir = dataDirOf(config);
  if (isClustered(config)) {
    const { openCluster } = await import("./cluster/open-cluster.ts");
    const cluster = await openCluster(config, dataDir, clock, logger, signal);
    const store = openParts(
      config,
      cluster.log,
      await restore(cluster.log, clock, logger),
      undefined,
      clock,
      logger,
    );
    cluster.log.start();
    if (!cluster.log.isOpenedWithoutStream) await cluster.log.caughtUp(signal);
    const snapshots = new SnapshotPublisher(cluster, store.committer, clock, logger);
    return { ...store, cluster, snapshots };
  }
  const path = dataDir === undefined ? IN_MEMORY : join(dataDir, LOG_FILE);
  const log = openEmbeddedLog(path, { retry: { clock, logger } });
  return openParts(config, log, await restore(log, clock, logger), settings, clock, logger);
}

/** Interval at which the progress of a start is logged. A start that takes less is not logged. */
const PROGRESS_INTERVAL_MS = 2000;

async function restore(log: Log, clock: Clock, logger: Logger): Promise<View> {
  let loggedAt = clock.monotonic();
  const restored = restoreView(log, (what, part) => {
    const now = clock.monotonic();
    if (now - loggedAt < PROGRESS_INTERVAL_MS) return;
    loggedAt = now;
    logger.info(`reading the ${what} of the log`, { percent: Math.floor(part * 100) });
  });
  await repairLog(log, restored, logger);
  return restored.view;
}

/** Opens the parts that work on a log and its view. Uses the merge settings in the log where `settings` is undefined. */
function openParts(
  config: Config,
  log: Log,
  view: View,
  settings: MergeSettings | undefined,
  clock: Clock,
  logger: Logger,
): ServiceStorage {
  const scheduler = new Scheduler();
  const committer = new Committer(
    view,
    log,
    reportClockSkew(clock, () => view.time, logger),
    settings ?? MergeRules.read(view).settings,
    scheduler,
  );
  const history = new History(committer, config.limits.streamBufferBytes);
  // In a cluster, the limits of the history come from the log.
  const limits = () => committer.rules.settings.history ?? config.history;
  const compactor = new Compactor(view, log, clock, logger, {
    get retentionMs() {
      return limits().keepDays * DAY_MS;
    },
    get maxBytes() {
      return limits().maxBytes;
    },
    scheduler,
  });
  return { log, view, committer, history, compactor, scheduler };
}
