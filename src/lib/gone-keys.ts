/**
 * Keys that earlier versions had. A value that still has one is either refused, with what to do instead of a bare
 * "unknown key", or the key is ignored. The tables are beside the formats: src/config/gone-keys.ts is the one of the
 * configuration.
 */
import { isRecord } from "./is-record.ts";
import { formatPath, type KeyPath, type SchemaFault } from "./schema-faults.ts";

export interface GoneKey {
  /** The names on the way to the key, without positions in lists: `limits.urlBytes`, `views.arrangement.background`. */
  readonly key: string;
  /** What the operator does now, as the end of the sentence "… is gone; ". */
  readonly advice: string;
  /** `key`: the key is dropped, and the rest of the value is used. `entry`: the entry of a list that has the key is dropped. */
  readonly ignored?: "key" | "entry";
}

const nameOf = (path: KeyPath): string => formatPath(path.filter((part) => typeof part === "string"));

const messageOf = ({ advice }: GoneKey): string => `is gone; ${advice}`;

/** What to do about the key with this name; undefined when it was never one. */
export function goneKeyMessage(name: string, gone: readonly GoneKey[]): string | undefined {
  const row = gone.find(({ key }) => key === name);
  return row && messageOf(row);
}

/** The same fault; that of a key in the table says what to do. `parents` lead to the value that the path begins at. */
export function adviseGoneKey<F extends SchemaFault>(
  fault: F,
  gone: readonly GoneKey[],
  parents: KeyPath = [],
): F {
  const message = fault.atKey && goneKeyMessage(nameOf([...parents, ...fault.path]), gone);
  return message ? { ...fault, message } : fault;
}

const DROPPED = Symbol("dropped");

/**
 * A copy of the value without what is ignored, and a fault for everything that was dropped. `parents` lead to the value;
 * the paths of the faults begin at it.
 */
export function dropIgnoredKeys(
  value: unknown,
  gone: readonly GoneKey[],
  parents: KeyPath = [],
): { readonly value: unknown; readonly dropped: readonly SchemaFault[] } {
  const ignored = new Map(gone.flatMap((row) => (row.ignored ? [[row.key, row] as const] : [])));
  if (ignored.size === 0) return { value, dropped: [] };
  const dropped: SchemaFault[] = [];
  const copy = (part: unknown, path: KeyPath): unknown => {
    if (Array.isArray(part))
      return part.map((item, index) => copy(item, [...path, index])).filter((item) => item !== DROPPED);
    if (!isRecord(part)) return part;
    const entries: [string, unknown][] = [];
    for (const [key, item] of Object.entries(part)) {
      const row = ignored.get(nameOf([...parents, ...path, key]));
      if (!row) entries.push([key, copy(item, [...path, key])]);
      else dropped.push({ path: [...path, key], message: messageOf(row), atKey: true });
      if (row?.ignored === "entry") return DROPPED;
    }
    return Object.fromEntries(entries);
  };
  return { value: copy(value, []), dropped };
}
