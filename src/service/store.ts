/**
 * The memory of the service put together: the log in the data folder, the view made from it, and who writes, follows
 * and prunes them. Opening it reads everything back; closing it leaves nothing to redo.
 */
import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { openEmbeddedLog } from "../log/embedded.ts";
import type { Log } from "../log/log.ts";
import { Committer } from "../view/committer.ts";
import { Compactor } from "../view/compactor.ts";
import { History } from "../view/history.ts";
import { restoreView } from "../view/restore.ts";
import type { View } from "../view/view.ts";

export const MEMORY = ":memory:";
const DAY_MS = 86_400_000;

export interface Store {
  readonly log: Log;
  readonly view: View;
  readonly ledger: Committer;
  readonly history: History;
  readonly keeper: Compactor;
}

/** Throws `LogError`, with a message for the operator. */
export function openStore(
  config: Config,
  precedence: readonly string[],
  clock: Clock,
  logger: Logger,
): Store {
  const log = openEmbeddedLog(config.data === MEMORY ? MEMORY : join(config.data, "log.sqlite"));
  const view = restoreView(log);
  const ledger = new Committer(view, log, clock, precedence);
  const { keepDays, maxBytes } = config.history;
  const keeper = new Compactor(view, log, clock, logger, { keepMs: keepDays * DAY_MS, maxBytes });
  return { log, view, ledger, history: new History(ledger, config.limits.streamBufferBytes), keeper };
}
