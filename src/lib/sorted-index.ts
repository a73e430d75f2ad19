/**
 * A multimap from text keys to ids, with lookups by key and by range of keys.
 *
 * Keys are in a hash map. Their order is computed when `sortKeys` is called; keys added later are in an unsorted list until
 * the next call. A tree would pay for the order at every change, with about twenty string comparisons that miss the CPU
 * cache; here a change costs one or two hash lookups.
 *
 * A writer may prepare changes while others read. An id that it adds is found at once. An id that it removes with `retire`
 * is still found by `get`, `range` and `collect` until `dropRetired`, but not by `current` and `currentRange`. So meanwhile
 * readers find too much, never too little.
 */

import { ShardedMap, ShardedSet } from "./sharded-set.ts";
import { compareTexts, lowerBound } from "./sorted.ts";
import { COST, Pause, SharedSteps, type Steps, sortInSteps } from "./steps.ts";

/** Number of unsorted keys that a range lookup may scan: this many, plus one per 1024 sorted keys. */
const MAX_NEW_KEYS = 1024;
const SORTED_PER_NEW_KEY = 1024;

/**
 * The ids of a key are in an array, which needs a fraction of the memory and time of a set. It becomes a set when an id is
 * deleted from more than `MAX_SEARCHED_IDS`, or when it grows to `MAX_ARRAY_IDS`, because the conversion itself takes time.
 */
const MAX_SEARCHED_IDS = 64;
const MAX_ARRAY_IDS = 1024;

/** The ids of a key. A single id is stored without an array, because most keys of a large index have only one. */
type Ids = string | string[] | ShardedSet;

export class SortedIndex {
  readonly #ids = new ShardedMap<Ids>();
  /** The sorted keys. They may include removed ones. */
  #sortedKeys: readonly string[] = [];
  /** Keys that are being sorted. */
  #sortingKeys: readonly string[] = [];
  /** Keys added since the last sort, in order of addition. May contain removed keys and duplicates. */
  #newKeys: string[] = [];
  #sorting: SharedSteps<void> | undefined;
  /** Whether a range was looked up since the last sort. */
  #wasScanned = false;
  #size = 0;
  /** The ids that were retired and that readers still find. */
  #retired: SortedIndex | undefined;

  /** Number of ids, without retired ones. */
  get size(): number {
    return this.#size;
  }

  /** Adds an id, which the key must not have yet unless it is retired. */
  add(key: string, id: string): void {
    this.#retired?.delete(key, id);
    const ids = this.#ids.get(key);
    if (ids === undefined) {
      this.#ids.set(key, id);
      this.#newKeys.push(key);
    } else if (typeof ids === "string") this.#ids.set(key, [ids, id]);
    else if (ids instanceof ShardedSet) ids.add(id);
    else if (ids.length >= MAX_ARRAY_IDS) this.#ids.set(key, new ShardedSet(ids).add(id));
    else ids.push(id);
    this.#size++;
  }

  /** Deletes the id; does nothing when the key does not have it. */
  delete(key: string, id: string): void {
    const ids = this.#ids.get(key);
    if (ids === undefined) return;
    if (typeof ids === "string" ? ids !== id : !this.#deleteFrom(ids, key, id)) return;
    this.#size--;
    if (typeof ids !== "string" && idCount(ids) > 0) return;
    this.#ids.delete(key);
  }

  #deleteFrom(ids: string[] | ShardedSet, key: string, id: string): boolean {
    if (ids instanceof ShardedSet) return ids.delete(id);
    if (ids.length > MAX_SEARCHED_IDS) {
      const idSet = new ShardedSet(ids);
      this.#ids.set(key, idSet);
      return idSet.delete(id);
    }
    const at = ids.indexOf(id);
    if (at >= 0) ids.splice(at, 1);
    return at >= 0;
  }

  /** Removes the id for the writer. Readers find it until `dropRetired`. */
  retire(key: string, id: string): void {
    this.delete(key, id);
    this.#retired ??= new SortedIndex();
    this.#retired.add(key, id);
  }

  /** Takes constant time, however much is retired. */
  dropRetired(): void {
    this.#retired = undefined;
  }

  has(key: string): boolean {
    return this.#ids.has(key) || this.#retired?.has(key) === true;
  }

  /** The number of ids of a key, without retired ones. */
  count(key: string): number {
    const ids = this.#ids.get(key);
    return ids === undefined ? 0 : idCount(ids);
  }

  get(key: string): Iterable<string> {
    return this.#retired?.has(key) ? join(this.#retired.current(key), this.current(key)) : this.current(key);
  }

  /** The ids of a key, without retired ones. */
  current(key: string): Iterable<string> {
    const ids = this.#ids.get(key) ?? NO_IDS;
    return typeof ids === "string" ? [ids] : ids;
  }

  /** The ids whose keys are in [from, to], in no particular order. An id with several such keys occurs several times. */
  range(from: string, to: string): Iterable<string> {
    const current = this.currentRange(from, to);
    return this.#retired ? join(this.#retired.range(from, to), current) : current;
  }

  /** The ids whose keys are in [from, to], without retired ones. */
  currentRange(from: string, to: string): Iterable<string> {
    return from === to ? this.current(from) : this.#idsIn(from, to);
  }

  *#idsIn(from: string, to: string): Generator<string> {
    for (const key of this.#keysIn(from, to)) yield* this.current(key);
  }

  /** Adds the ids of `range` to `into`. Returns false, with `into` partly filled, when `into` would exceed `max` ids. */
  collect(from: string, to: string, into: string[], max: number): boolean {
    if (this.#retired && !this.#retired.collect(from, to, into, max)) return false;
    if (from === to) return collectIds(this.#ids.get(from), into, max);
    for (const key of this.#keysIn(from, to)) if (!collectIds(this.#ids.get(key), into, max)) return false;
    return true;
  }

  /** All keys, in order. Only for an index with few keys. */
  keys(): string[] {
    return [...this.#ids.keys()].sort();
  }

  /** All keys in no particular order, including those of retired ids. The caller may pause between them. */
  *unsortedKeys(): Generator<string> {
    const retired = this.#retired;
    yield* this.#ids.keys();
    if (retired) for (const key of retired.unsortedKeys()) if (!this.#ids.has(key)) yield key;
  }

  /** Whether range lookups have to scan many keys until `sortKeys` is called. */
  get isUnsorted(): boolean {
    const unsorted = this.#newKeys.length + this.#sortingKeys.length;
    return unsorted > MAX_NEW_KEYS + this.#sortedKeys.length / SORTED_PER_NEW_KEY;
  }

  /** Whether a range lookup had to scan many keys, or keys that were repeatedly added and removed accumulate. */
  get needsSorting(): boolean {
    return this.isUnsorted && (this.#wasScanned || this.#newKeys.length > MAX_NEW_KEYS + this.#ids.size);
  }

  /** Sorts all keys at once, which is faster than in steps. For startup. */
  sortKeysNow(): void {
    // If there are as many new keys as keys, they are the same. Keys that were added one after the other are sorted in a
    // fraction of the time, because they are adjacent in memory and often in order.
    const isNew = this.#newKeys.length === this.#ids.size && this.#sortedKeys.length === 0 && !this.#sorting;
    this.#sortedKeys = isNew ? this.#newKeys.sort() : this.keys();
    this.#newKeys = [];
  }

  /** Merges the new keys into the sorted ones, in steps. The index may change meanwhile. Concurrent callers share the work. */
  *sortKeys(): Steps<void> {
    this.#sorting ??= new SharedSteps(this.#sortKeys());
    yield* this.#sorting.result();
  }

  *#sortKeys(): Steps<void> {
    this.#sortingKeys = this.#newKeys;
    this.#newKeys = [];
    const added = yield* sortInSteps([...this.#sortingKeys], compareTexts);
    this.#sortedKeys = yield* this.#mergeKeys(this.#sortedKeys, added);
    this.#sortingKeys = [];
    this.#sorting = undefined;
    this.#wasScanned = false;
  }

  *#mergeKeys(sorted: readonly string[], added: readonly string[]): Steps<string[]> {
    const merged: string[] = [];
    const pause = new Pause();
    let at = 0;
    let addedAt = 0;
    while (at < sorted.length || addedAt < added.length) {
      const [next, nextAdded] = [sorted[at], added[addedAt]];
      const takesSorted = nextAdded === undefined || (next !== undefined && next < nextAdded);
      const key = (takesSorted ? next : nextAdded) ?? "";
      if (takesSorted) at++;
      else addedAt++;
      if (key !== merged.at(-1) && this.#ids.has(key)) merged.push(key);
      if (pause.due(COST.item)) yield;
    }
    return merged;
  }

  *#keysIn(from: string, to: string): Generator<string> {
    this.#wasScanned = true;
    const sorted = this.#sortedKeys;
    const added = new Set<string>();
    for (const keys of [this.#sortingKeys, this.#newKeys])
      for (const key of keys) if (key >= from && key <= to) added.add(key);
    for (let at = lowerBound(sorted.length, (i) => (sorted[i] ?? "") < from); at < sorted.length; at++) {
      const key = sorted[at] ?? "";
      if (key > to) break;
      added.delete(key);
      yield key;
    }
    yield* added;
  }
}

const NO_IDS: readonly string[] = [];

function* join(first: Iterable<string>, second: Iterable<string>): Generator<string> {
  yield* first;
  yield* second;
}

const idCount = (ids: Ids): number =>
  typeof ids === "string" ? 1 : ids instanceof ShardedSet ? ids.size : ids.length;

function collectIds(ids: Ids | undefined, into: string[], max: number): boolean {
  if (ids === undefined) return true;
  if (into.length + idCount(ids) > max) return false;
  if (typeof ids === "string") into.push(ids);
  else for (const id of ids) into.push(id);
  return true;
}
