/** Values as the collections store them: JSON text, and the parsed value. */
import type { StoreKind } from "../log/log.ts";
import type { StoredTypes } from "./indexes.ts";

/** A value as stored text and as parsed. Both are kept together, so that a value is parsed once. */
export interface StoredValue<K extends StoreKind> {
  readonly text: string;
  readonly value: StoredTypes[K];
}

export function storedValueOf<K extends StoreKind>(
  kind: K,
  text: string | null | undefined,
): StoredValue<K> | undefined {
  return text == null ? undefined : { text, value: parseStored(kind, text) };
}

/** Not validated: only a commit and the log produce this text. */
export function parseStored<K extends keyof StoredTypes>(_kind: K, text: string): StoredTypes[K] {
  return JSON.parse(text);
}
