/**
 * Reads batches of the log, all of them or none: `log.read` ends where history was pruned, and history may be pruned while
 * a reader pauses.
 */
import type { Paced } from "../lib/steps.ts";
import type { Batch, Log } from "../log/log.ts";

/** The error when history was pruned while it was read. */
export class HistoryPruned extends Error {
  override readonly name = "HistoryPruned";
}

/** The batches in (from, to]. Throws `HistoryPruned` if some were pruned. */
export function* readAll(log: Log, from: number, to: number): Generator<Batch | undefined, void, void> {
  let last = from;
  const batches: Paced<Batch> = log.read(from, to);
  for (const batch of batches) {
    if (batch && batch.revision !== last + 1) break;
    if (batch) last = batch.revision;
    yield batch;
  }
  if (last !== to) throw new HistoryPruned(`revision ${last + 1} was pruned`);
}
