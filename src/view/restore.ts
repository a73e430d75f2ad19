/** Restores the view from its log: loads the newest snapshot and applies the batches after it. */
import { GcPacer } from "../lib/gc-pacer.ts";
import type { Log } from "../log/log.ts";
import { View } from "./view.ts";

export function restoreView(log: Log): View {
  const view = new View();
  const gcPacer = new GcPacer();
  const snapshot = log.snapshotAtOrBefore(Number.MAX_SAFE_INTEGER);
  if (snapshot) view.load(snapshot, gcPacer);
  for (const batch of log.read(view.revision)) {
    if (!batch) continue;
    view.apply(batch);
    for (const { before, after } of batch.entries)
      gcPacer.addGarbage((before?.length ?? 0) + (after?.length ?? 0));
  }
  gcPacer.collect();
  return view;
}
