/**
 * A multimap from text keys to ids, with look-ups by key and by range of keys.
 *
 * Keys are in a hash map. Their order is computed at the first range look-up; keys added later are in a short unsorted
 * list until there are enough to merge. A tree would pay for the order at every change, with about twenty string
 * comparisons that miss the CPU cache; here a change costs one or two hash look-ups.
 */

/** Unsorted keys that a range look-up scans: this many, and one per 128 sorted keys. */
const MAX_NEW_KEYS = 1024;
const SORTED_PER_NEW_KEY = 128;

/**
 * The ids of a key are in an array, which needs a fraction of the memory and time of a set. It becomes a set when an id is
 * deleted from more than `MAX_SEARCHED_IDS`, or when it grows to `MAX_ARRAY_IDS`, because the conversion itself takes time.
 */
const MAX_SEARCHED_IDS = 64;
const MAX_ARRAY_IDS = 1024;

/** A single id is stored without an array: most keys of a large index have one. */
type Ids = string | string[] | Set<string>;

export class SortedIndex {
  readonly #ids = new Map<string, Ids>();
  /** May contain keys that were removed. */
  #sortedKeys: readonly string[] = [];
  /** Keys added since the last sort, in order of addition. May contain removed keys and duplicates. */
  #newKeys: string[] = [];
  /** Whether a key was removed since the last sort. */
  #hasRemovedKeys = false;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The key must not have the id yet. */
  add(key: string, id: string): void {
    const ids = this.#ids.get(key);
    if (ids === undefined) {
      this.#ids.set(key, id);
      this.#newKeys.push(key);
      // Without range look-ups, keys that are added and removed again and again would pile up.
      if (this.#newKeys.length > MAX_NEW_KEYS + this.#ids.size) this.sortKeys();
    } else if (typeof ids === "string") this.#ids.set(key, [ids, id]);
    else if (ids instanceof Set) ids.add(id);
    else if (ids.length >= MAX_ARRAY_IDS) this.#ids.set(key, new Set(ids).add(id));
    else ids.push(id);
    this.#size++;
  }

  /** Does nothing when the key does not have the id. */
  delete(key: string, id: string): void {
    const ids = this.#ids.get(key);
    if (ids === undefined) return;
    if (typeof ids === "string" ? ids !== id : !this.#deleteFrom(ids, key, id)) return;
    this.#size--;
    if (typeof ids !== "string" && idCount(ids) > 0) return;
    this.#ids.delete(key);
    this.#hasRemovedKeys = true;
  }

  #deleteFrom(ids: string[] | Set<string>, key: string, id: string): boolean {
    if (ids instanceof Set) return ids.delete(id);
    if (ids.length > MAX_SEARCHED_IDS) {
      const idSet = new Set(ids);
      this.#ids.set(key, idSet);
      return idSet.delete(id);
    }
    const at = ids.indexOf(id);
    if (at >= 0) ids.splice(at, 1);
    return at >= 0;
  }

  has(key: string): boolean {
    return this.#ids.has(key);
  }

  get(key: string): Iterable<string> {
    const ids = this.#ids.get(key) ?? NO_IDS;
    return typeof ids === "string" ? [ids] : ids;
  }

  /** The ids whose keys are in [from, to], in no particular order. An id with several such keys occurs several times. */
  range(from: string, to: string): Iterable<string> {
    return from === to ? this.get(from) : this.#idsIn(from, to);
  }

  *#idsIn(from: string, to: string): Generator<string> {
    for (const key of this.#keysIn(from, to)) yield* this.get(key);
  }

  /** Adds the same ids to `into`. Returns false, with `into` partly filled, when `into` would exceed `max` ids. */
  collect(from: string, to: string, into: string[], max: number): boolean {
    if (from === to) return collectIds(this.#ids.get(from), into, max);
    for (const key of this.#keysIn(from, to)) if (!collectIds(this.#ids.get(key), into, max)) return false;
    return true;
  }

  /** All keys, in order. */
  keys(): string[] {
    return [...this.#ids.keys()].sort();
  }

  /** Merges the new keys into the sorted ones. Called when needed, or earlier to keep the first range look-up fast. */
  sortKeys(): void {
    const sorted = this.#sortedKeys;
    const added = this.#newKeys.sort();
    // The first and largest sort has nothing to merge and nothing to leave out.
    this.#sortedKeys = sorted.length === 0 && !this.#hasRemovedKeys ? added : this.#mergeKeys(sorted, added);
    this.#newKeys = [];
    this.#hasRemovedKeys = false;
  }

  #mergeKeys(sorted: readonly string[], added: readonly string[]): string[] {
    const merged: string[] = [];
    const append = (key: string) => {
      if (key !== merged.at(-1) && this.#ids.has(key)) merged.push(key);
    };
    let at = 0;
    for (const key of added) {
      for (let next = sorted[at]; next !== undefined && next < key; next = sorted[++at]) append(next);
      append(key);
    }
    for (; at < sorted.length; at++) append(sorted[at] ?? "");
    return merged;
  }

  *#keysIn(from: string, to: string): Generator<string> {
    if (this.#newKeys.length > MAX_NEW_KEYS + this.#sortedKeys.length / SORTED_PER_NEW_KEY) this.sortKeys();
    const sorted = this.#sortedKeys;
    const added = new Set<string>();
    for (const key of this.#newKeys) if (key >= from && key <= to) added.add(key);
    for (let at = lowerBound(sorted, from); at < sorted.length; at++) {
      const key = sorted[at] ?? "";
      if (key > to) break;
      added.delete(key);
      yield key;
    }
    yield* added;
  }
}

const NO_IDS: readonly string[] = [];

const idCount = (ids: Ids): number =>
  typeof ids === "string" ? 1 : ids instanceof Set ? ids.size : ids.length;

function collectIds(ids: Ids | undefined, into: string[], max: number): boolean {
  if (ids === undefined) return true;
  if (into.length + idCount(ids) > max) return false;
  if (typeof ids === "string") into.push(ids);
  else for (const id of ids) into.push(id);
  return true;
}

/** The index of the first key that is not before `key`. */
function lowerBound(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
