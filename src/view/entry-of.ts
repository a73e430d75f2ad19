/** The entry of a batch for the change of one value. */
import type { LogEntry, StoreKind } from "../log/log.ts";
import type { StoredValue } from "./view.ts";

export function entryOf<K extends StoreKind>(
  kind: K,
  id: string,
  before: StoredValue<K> | undefined,
  after: StoredValue<K> | undefined,
  changed: readonly string[],
): LogEntry {
  return { kind, id, before: before?.text ?? null, after: after?.text ?? null, changed };
}
