/** What must hold of the log of any view: its batches replay to the view, and undo it to nothing. */
import { expect } from "bun:test";
import type { Batch, Log, LogEntry } from "../../src/log/log.ts";
import { restoreView } from "../../src/view/restore.ts";
import type { View } from "../../src/view/view.ts";
import { storedBy } from "./view-contents.ts";

/** The view that the log leads to, which must have the same values. */
export function expectReplayed(view: View, log: Log): View {
  const restored = restoreView(log).view;
  expect(storedBy(restored)).toEqual(storedBy(view));
  return restored;
}

/** `batches` are all of the view, the oldest first. */
export function expectUndone(
  view: View,
  batches: readonly Batch[],
  onEntry: (entry: LogEntry) => void = () => {},
): void {
  const stored = storedBy(view);
  for (const { entries } of batches.toReversed()) {
    for (const entry of entries.toReversed()) {
      const key = `${entry.kind} ${entry.id}`;
      // Compared first: an `expect` for each of thousands of entries takes longer than all the rest.
      if ((stored.get(key) ?? null) !== entry.after) expect(stored.get(key) ?? null).toBe(entry.after);
      onEntry(entry);
      if (entry.before === null) stored.delete(key);
      else stored.set(key, entry.before);
    }
  }
  expect(stored.size).toBe(0);
}
