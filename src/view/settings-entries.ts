/** The collection `settings`: what the log has of the rules of merging, and what has to be written when they change. */
import type { LogEntry } from "../log/log.ts";
import type { MergeRules } from "./merge-rules.ts";
import type { View } from "./view.ts";

/** The setting that the log has while values may have been merged by earlier rules. */
export const UNMERGED = "unmerged";

export interface StoredSettings {
  readonly rules: MergeRules;
  /** Whether `UNMERGED` is set. */
  readonly isUnmerged: boolean;
}

/** What differs from the settings that the log has. */
export function settingsEntries(view: View, { rules, isUnmerged }: StoredSettings): LogEntry[] {
  const next = new Map([...rules.stored()].map(([id, value]) => [id, JSON.stringify(value)]));
  if (isUnmerged) next.set(UNMERGED, "{}");
  const before = new Map(Array.from(view.range("settings", "", "\uffff"), ({ id, text }) => [id, text]));
  const entries: LogEntry[] = [];
  for (const id of new Set([...before.keys(), ...next.keys()])) {
    const [from = null, to = null] = [before.get(id), next.get(id)];
    if (from !== to) entries.push({ kind: "settings", id, before: from, after: to, changed: [] });
  }
  return entries;
}
