/** The view made from its log, as it was when the log was last written to: the newest snapshot and what came after. */
import { GcPacer } from "../lib/gc-pacer.ts";
import type { Log } from "../log/log.ts";
import { View } from "./view.ts";

export function restoreView(log: Log): View {
  const view = new View();
  const garbage = new GcPacer();
  const snapshot = log.snapshotAtOrBefore(Number.MAX_SAFE_INTEGER);
  if (snapshot) view.load(snapshot, garbage);
  for (const batch of log.read(view.revision)) {
    view.apply(batch);
    for (const { before, after } of batch.entries) garbage.addGarbage((before?.length ?? 0) + (after?.length ?? 0));
  }
  garbage.collect();
  return view;
}
