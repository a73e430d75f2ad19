/**
 * Keys that earlier versions had. A value that still has one is either refused with advice on what to do instead of a bare
 * "unknown key", or the key is ignored. The tables are beside the formats: src/config/gone-keys.ts is the one of the
 * configuration.
 */
import { isRecord } from "./is-record.ts";
import { formatPath, type KeyPath, type SchemaFault } from "./schema-faults.ts";

export interface GoneKey {
  /** The path of the key without list positions: `limits.urlBytes`, `views.arrangement.background`. */
  readonly key: string;
  /** The advice to the operator, as the end of the sentence "… is gone; ". */
  readonly advice: string;
  /** `key`: the key is dropped, and the rest of the value is used. `entry`: the entry of a list that has the key is dropped. */
  readonly ignored?: "key" | "entry";
}

const nameOf = (path: KeyPath): string => formatPath(path.filter((part) => typeof part === "string"));

const messageOf = ({ advice }: GoneKey): string => `is gone; ${advice}`;

/** The message for the key with this name; undefined when earlier versions had no such key. */
export function goneKeyMessage(name: string, gone: readonly GoneKey[]): string | undefined {
  const row = gone.find(({ key }) => key === name);
  return row && messageOf(row);
}

/** Returns the fault, with the advice as message if its key is in the table. `parents` is the path to the value of the fault. */
export function adviseGoneKey<F extends SchemaFault>(
  fault: F,
  gone: readonly GoneKey[],
  parents: KeyPath = [],
): F {
  const message = fault.atKey && goneKeyMessage(nameOf([...parents, ...fault.path]), gone);
  return message ? { ...fault, message } : fault;
}

const DROPPED = Symbol("dropped");

export interface WithoutIgnoredKeys {
  /** A copy of the value without the ignored keys. */
  readonly value: unknown;
  /** A fault for every key or entry that was dropped, with its path in the original value. */
  readonly dropped: readonly SchemaFault[];
  /** Returns the path in the original value of a path in the copy, whose lists may have fewer entries. */
  originalPath(path: KeyPath): KeyPath;
}

/** Drops the ignored keys. `parents` is the path to the value; all other paths begin at the value. */
export function dropIgnoredKeys(
  value: unknown,
  gone: readonly GoneKey[],
  parents: KeyPath = [],
): WithoutIgnoredKeys {
  const ignored = new Map(gone.flatMap((row) => (row.ignored ? [[row.key, row] as const] : [])));
  const dropped: SchemaFault[] = [];
  /** The original indexes of the entries of each list, by the original path of the list. */
  const indexes = new Map<string, readonly number[]>();
  const copy = (part: unknown, path: KeyPath): unknown => {
    if (Array.isArray(part)) {
      const items = part.map((item, index) => ({ index, item: copy(item, [...path, index]) }));
      const kept = items.filter(({ item }) => item !== DROPPED);
      if (kept.length < items.length)
        indexes.set(
          formatPath(path),
          kept.map(({ index }) => index),
        );
      return kept.map(({ item }) => item);
    }
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
  const originalPath = (path: KeyPath): KeyPath => {
    const original: (string | number)[] = [];
    for (const part of path)
      original.push(typeof part === "number" ? (indexes.get(formatPath(original))?.[part] ?? part) : part);
    return original;
  };
  return { value: copy(value, []), dropped, originalPath };
}
