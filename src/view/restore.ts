/**
 * Restores the view from its log: loads the newest snapshot and applies the batches after it. A damaged file must not
 * prevent every start of the service. If a snapshot cannot be read, the previous one is used with the batches since then,
 * which lead to the same state. If the newest revision cannot be restored in any way, the best state that can be read
 * becomes the state of the newest revision, history begins there, and the loss is logged.
 */
import { errorMessage } from "../lib/error-message.ts";
import { GcPacer } from "../lib/gc-pacer.ts";
import type { Logger } from "../lib/logger.ts";
import { runToEnd, withoutPauses } from "../lib/steps.ts";
import { type Log, type Snapshot, STORE_KINDS } from "../log/log.ts";
import { snapshotOf, View } from "./view.ts";

export interface Restored {
  readonly view: View;
  readonly damagedSnapshots: readonly { readonly revision: number; readonly error: string }[];
  /** Set when changes are lost. The view has the state of `lastRevision`, but the number of the newest revision. */
  readonly loss: { readonly lastRevision: number; readonly error: string } | undefined;
}

/** Calls `onProgress` at every page and batch, with the part of the snapshot, and then of the batches, that is restored. */
export function restoreView(log: Log, onProgress: OnProgress = () => {}): Restored {
  const { newest, oldest } = log.stats();
  const damagedSnapshots: { revision: number; error: string }[] = [];
  let best = new View();
  let error = "";
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const snapshot = log.snapshotAtOrBefore(before);
    if (!snapshot && oldest > 0) break;
    const attempt = restoreFrom(log, snapshot, onProgress);
    if (snapshot && !attempt.snapshotIsGood)
      damagedSnapshots.push({ revision: snapshot.revision, error: attempt.error });
    if (attempt.view.revision >= best.revision) best = attempt.view;
    if (best.revision >= newest) return { view: best, damagedSnapshots, loss: undefined };
    error = attempt.error;
    if (!snapshot) break;
    before = snapshot.revision - 1;
  }
  const lastRevision = best.revision;
  best.apply({ revision: newest, time: best.time, entries: [] });
  return { view: best, damagedSnapshots, loss: { lastRevision, error } };
}

type OnProgress = (what: "snapshot" | "changes", restored: number) => void;

interface Attempt {
  /** The restored view: empty when the snapshot cannot be read, otherwise complete up to its revision. */
  readonly view: View;
  readonly snapshotIsGood: boolean;
  readonly error: string;
}

function restoreFrom(log: Log, snapshot: Snapshot | undefined, onProgress: OnProgress): Attempt {
  const view = new View();
  const gcPacer = new GcPacer();
  const { newest } = log.stats();
  const pages = STORE_KINDS.reduce((sum, kind) => sum + (snapshot?.pages[kind].length ?? 0), 0);
  let loaded = 0;
  try {
    if (snapshot)
      view.load(
        snapshot,
        () => onProgress("snapshot", ++loaded / pages),
        (length) => gcPacer.addGarbage(length),
      );
  } catch (error) {
    return { view: new View(), snapshotIsGood: false, error: errorMessage(error) };
  }
  try {
    for (const batch of withoutPauses(log.read(view.revision))) {
      if (batch.revision !== view.revision + 1) throw new Error(`revision ${view.revision + 1} is missing`);
      view.apply(batch);
      onProgress(
        "changes",
        (batch.revision - (snapshot?.revision ?? 0)) / (newest - (snapshot?.revision ?? 0)),
      );
      for (const { before, after } of batch.entries)
        gcPacer.addGarbage((before?.length ?? 0) + (after?.length ?? 0));
    }
    return { view, snapshotIsGood: true, error: "" };
  } catch (error) {
    return { view, snapshotIsGood: true, error: errorMessage(error) };
  } finally {
    gcPacer.collect();
  }
}

/** Logs what was damaged, and removes it from the log. If this fails, the log is repaired at the next start. */
export async function repairLog(log: Log, restored: Restored, logger: Logger): Promise<void> {
  const { view, damagedSnapshots, loss } = restored;
  for (const { revision, error } of damagedSnapshots)
    logger.error("a snapshot of the log is damaged and was not used", { revision, why: error });
  if (loss) {
    logger.error("the log is damaged: changes and history are lost, sources report the network again", {
      restoredRevision: loss.lastRevision,
      newestRevision: view.revision,
      why: loss.error,
    });
  } else if (damagedSnapshots.length > 0) {
    logger.warn("the network was restored from an older snapshot and the changes since; nothing is lost", {
      revision: view.revision,
    });
  }
  try {
    for (const { revision } of damagedSnapshots) await log.dropSnapshot(revision);
    if (!loss) return;
    await log.writeSnapshot(runToEnd(snapshotOf(view.capture())));
    await log.prune(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  } catch (error) {
    logger.error("the damaged log could not be repaired", { why: errorMessage(error) });
  }
}
