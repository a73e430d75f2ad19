/** Compares two values of one entity. */
import { sameJson } from "../lib/same-json.ts";

/** The top-level fields that differ, without `revision` and `lastChanged`, which change every time. */
export function diffFields<T extends object>(before: T, after: T): string[] {
  const changed: string[] = [];
  for (const field in after) {
    const oldValue = before[field];
    const newValue = after[field];
    if (oldValue === newValue || field === "revision" || field === "lastChanged") continue;
    if (typeof newValue !== "object" || !sameJson(oldValue, newValue)) changed.push(field);
  }
  for (const field in before) if (!(field in after)) changed.push(field);
  return changed;
}
