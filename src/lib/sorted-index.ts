/**
 * A multimap from text keys to ids, with lookups by key and by range of keys. Keys and ids are in tables of bytes
 * (`text-table.ts`), and a key has the numbers of its ids, so that a million entries are no million objects.
 *
 * Keys have no order until the first range is looked up: `sortKeys` computes it, and keys added later are in an unsorted
 * list until the next call. A tree would pay for the order at every change, with about twenty comparisons that miss the CPU
 * cache.
 *
 * A writer may prepare changes while others read. An id that it adds is found at once. An id that it removes with `retire`
 * is still found by `get`, `range` and `collect` until `dropRetired`, but not by `current`. So meanwhile readers find too
 * much, never too little.
 */

import { lowerBound } from "./sorted.ts";
import { COST, Pause, SharedSteps, type Steps, sortInSteps } from "./steps.ts";
import { TextTable } from "./text-table.ts";

/** Number of unsorted keys that a range lookup may scan: this many, plus one per 1024 sorted keys. */
const MAX_NEW_KEYS = 1024;
const SORTED_PER_NEW_KEY = 1024;

/**
 * The ids of a key are in an array, in which deleting one takes a search. It becomes a set of bits when it has more than
 * `MAX_ARRAY_IDS`, and enough that a set, whose size depends on the number of all ids, is not larger than the array.
 */
const MAX_ARRAY_IDS = 1024;
const BITS_PER_ARRAY_ID = 64;

/*
 * The value of a key is 0 if it has no id, one more than the number of its only id, or, below 0, the complement of its index in
 * `#lists`. All numbers have 31 bits and a sign, which the runtime has in registers; larger ones it converts from floating point.
 */

/** Numbers of ids. Each id has its number as long as an index has it, and until `freeUnused`. */
export class IdNumbers {
  /** The value of an id is the number of keys that have it. */
  readonly #ids = new TextTable();
  /** Numbers whose last key was deleted. May contain duplicates, and ids that have a key again. */
  #unused: number[] = [];

  get count(): number {
    return this.#ids.size;
  }

  find(id: string): number {
    return this.#ids.find(id);
  }

  has(number: number): boolean {
    return this.#ids.has(number);
  }

  text(number: number): string {
    return this.#ids.text(number);
  }

  /** The number of the id, which is new or has one already. */
  add(id: string): number {
    return this.#ids.add(id);
  }

  /** The same for an id whose bytes are ASCII. */
  addBytes(bytes: Uint8Array, start: number, end: number): number {
    return this.#ids.addBytes(bytes, start, end);
  }

  addKey(number: number): void {
    this.#ids.setValue(number, this.#ids.value(number) + 1);
  }

  removeKey(number: number): void {
    const keys = this.#ids.value(number) - 1;
    this.#ids.setValue(number, keys);
    if (keys === 0) this.#unused.push(number);
  }

  /** Frees the numbers of ids that no key has. No index may have retired ids, and none may change meanwhile. */
  *freeUnused(): Steps<void> {
    const unused = this.#unused;
    this.#unused = [];
    const pause = new Pause();
    for (const number of unused) {
      if (this.#ids.has(number) && this.#ids.value(number) === 0) this.#ids.delete(number);
      if (pause.due(COST.key)) yield;
    }
  }
}

export class SortedIndex {
  readonly #ids: IdNumbers;
  /** False for retired ids, which are dropped without visiting each. */
  readonly #countsKeys: boolean;
  readonly #keys = new TextTable();
  /** The ids of the keys that have several. */
  readonly #lists: (number[] | NumberSet)[] = [];
  readonly #unusedLists: number[] = [];
  #size = 0;
  /** The ids that were retired and that readers still find. */
  #retired: SortedIndex | undefined;
  /**
   * The numbers of the keys in order, from the first `sortKeys` on. Keys without ids stay in the table until they are left out
   * here, so that no other key gets their number.
   */
  #sortedKeys: Uint32Array | undefined;
  /** Keys added since the last sort began, and those that it adds. They may contain keys without ids, and duplicates. */
  #newKeys: number[] = [];
  #sortingKeys: readonly number[] = [];
  #sorting: SharedSteps<void> | undefined;
  /** Whether a range was looked up since the last sort. */
  #wasScanned = false;

  constructor(ids = new IdNumbers(), countsKeys = true) {
    this.#ids = ids;
    this.#countsKeys = countsKeys;
  }

  /** Number of ids, without retired ones. */
  get size(): number {
    return this.#size;
  }

  /** Adds an id, which the key must not have yet unless it is retired. */
  add(key: string, id: string): void {
    this.#retired?.delete(key, id);
    this.#link(this.#keys.add(key), this.#countsKeys ? this.#ids.add(id) : this.#ids.find(id));
  }

  /** The same by the number of the id, while no id is retired. */
  addNumber(key: string, number: number): void {
    this.#link(this.#keys.add(key), number);
  }

  /** The same for a key whose bytes are ASCII. */
  addBytes(bytes: Uint8Array, start: number, end: number, number: number): void {
    this.#link(this.#keys.addBytes(bytes, start, end), number);
  }

  #link(keyNumber: number, number: number): void {
    if (this.#countsKeys) this.#ids.addKey(number);
    const value = this.#keys.value(keyNumber);
    if (value === 0) {
      this.#keys.setValue(keyNumber, number + 1);
      if (this.#isOrdered) this.#newKeys.push(keyNumber);
    } else if (value >= 0) {
      const at = this.#unusedLists.pop() ?? this.#lists.length;
      this.#lists[at] = [value - 1, number];
      this.#keys.setValue(keyNumber, ~at);
    } else this.#addTo(~value, number);
    this.#size++;
  }

  #addTo(at: number, number: number): void {
    const ids = this.#lists[at];
    if (ids instanceof NumberSet) ids.add(number);
    else if (ids) {
      ids.push(number);
      if (ids.length > MAX_ARRAY_IDS && ids.length * BITS_PER_ARRAY_ID > this.#ids.count)
        this.#lists[at] = new NumberSet(ids);
    }
  }

  /** Deletes the id; does nothing when the key does not have it. */
  delete(key: string, id: string): void {
    const keyNumber = this.#keys.find(key);
    const number = this.#ids.find(id);
    if (keyNumber < 0 || number < 0) return;
    const value = this.#keys.value(keyNumber);
    if (value >= 0 ? value !== number + 1 : !this.#deleteFrom(~value, number)) return;
    this.#size--;
    if (this.#countsKeys) this.#ids.removeKey(number);
    if (value < 0) {
      if (this.#countOf(value) > 0) return;
      this.#lists[~value] = [];
      this.#unusedLists.push(~value);
    }
    this.#keys.setValue(keyNumber, 0);
    if (!this.#isOrdered) this.#keys.delete(keyNumber);
  }

  #deleteFrom(at: number, number: number): boolean {
    const ids = this.#lists[at];
    if (!ids || ids instanceof NumberSet) return ids?.delete(number) === true;
    const found = ids.indexOf(number);
    if (found >= 0) ids.splice(found, 1);
    return found >= 0;
  }

  /** Removes the id for the writer. Readers find it until `dropRetired`. */
  retire(key: string, id: string): void {
    this.delete(key, id);
    this.#retired ??= new SortedIndex(this.#ids, false);
    this.#retired.add(key, id);
  }

  /** Takes constant time, however much is retired. */
  dropRetired(): void {
    this.#retired = undefined;
  }

  has(key: string): boolean {
    return this.#valueOf(key) !== 0 || this.#retired?.has(key) === true;
  }

  /** The number of ids of a key, without retired ones. */
  count(key: string): number {
    return this.#countOf(this.#valueOf(key));
  }

  get(key: string): Iterable<string> {
    return this.#retired?.has(key) ? join(this.#retired.current(key), this.current(key)) : this.current(key);
  }

  /** The ids of a key, without retired ones. */
  current(key: string): Iterable<string> {
    return this.#idsOf(this.#valueOf(key));
  }

  /** The ids whose keys are in [from, to], in no particular order. An id with several such keys occurs several times. */
  *range(from: string, to: string): Generator<string> {
    if (this.#retired) yield* this.#retired.range(from, to);
    for (const key of this.#keysIn(from, to)) yield* this.#idsOf(this.#keys.value(key));
  }

  /** Adds the ids of `range` to `into`. Returns false, with `into` partly filled, when `into` would exceed `max` ids. */
  collect(from: string, to: string, into: string[], max: number): boolean {
    if (this.#retired && !this.#retired.collect(from, to, into, max)) return false;
    if (from === to) return this.#collect(this.#valueOf(from), into, max);
    for (const key of this.#keysIn(from, to))
      if (!this.#collect(this.#keys.value(key), into, max)) return false;
    return true;
  }

  #collect(value: number, into: string[], max: number): boolean {
    if (value === 0) return true;
    if (into.length + this.#countOf(value) > max) return false;
    if (value > 0) into.push(this.#ids.text(value - 1));
    else for (const id of this.#idsOf(value)) into.push(id);
    return true;
  }

  #valueOf(key: string): number {
    const number = this.#keys.find(key);
    return number < 0 ? 0 : this.#keys.value(number);
  }

  #countOf(value: number): number {
    if (value >= 0) return value === 0 ? 0 : 1;
    const ids = this.#lists[~value];
    return ids instanceof NumberSet ? ids.size : (ids?.length ?? 0);
  }

  #idsOf(value: number): Iterable<string> {
    if (value === 0) return NO_IDS;
    return value >= 0 ? [this.#ids.text(value - 1)] : this.#textsOf(this.#lists[~value] ?? []);
  }

  /** The caller may pause between two ids. One that is freed meanwhile is left out. */
  *#textsOf(ids: Iterable<number>): Generator<string> {
    for (const id of ids) if (this.#ids.has(id)) yield this.#ids.text(id);
  }

  /** All keys, in order. Only for an index with few keys. */
  keys(): string[] {
    return [...this.#allKeys()].map((key) => this.#keys.text(key)).sort();
  }

  /** All keys in no particular order, including those of retired ids. The caller may pause between them. */
  *unsortedKeys(): Generator<string> {
    const retired = this.#retired;
    for (const key of this.#allKeys()) yield this.#keys.text(key);
    if (retired) for (const key of retired.unsortedKeys()) if (this.#valueOf(key) === 0) yield key;
  }

  /** The numbers of the keys that have ids. */
  *#allKeys(): Generator<number> {
    for (const key of this.#keys.numbers()) if (this.#keys.value(key) !== 0) yield key;
  }

  /** Whether the order of keys was needed once, and is kept since then. */
  get #isOrdered(): boolean {
    return this.#sortedKeys !== undefined || this.#sorting !== undefined;
  }

  /** Whether range lookups have to scan many keys until `sortKeys` is called. */
  get isUnsorted(): boolean {
    const sorted = this.#sortedKeys;
    if (!sorted) return this.#keys.size > MAX_NEW_KEYS;
    const unsorted = this.#newKeys.length + this.#sortingKeys.length;
    return unsorted > MAX_NEW_KEYS + sorted.length / SORTED_PER_NEW_KEY;
  }

  /** Whether a range lookup had to scan many keys, or keys that were repeatedly added and removed accumulate. */
  get needsSorting(): boolean {
    const accumulate = this.#newKeys.length > MAX_NEW_KEYS + this.#keys.size;
    return this.#isOrdered && this.isUnsorted && (this.#wasScanned || accumulate);
  }

  /** Merges the new keys into the sorted ones, in steps. The index may change meanwhile. Concurrent callers share the work. */
  *sortKeys(): Steps<void> {
    this.#sorting ??= new SharedSteps(this.#sortKeys());
    yield* this.#sorting.result();
  }

  *#sortKeys(): Steps<void> {
    const pause = new Pause();
    const sorted = this.#sortedKeys ?? new Uint32Array();
    if (this.#sortedKeys) this.#sortingKeys = this.#newKeys.filter((key) => this.#keys.has(key));
    this.#newKeys = [];
    const added = [...this.#sortingKeys];
    if (!this.#sortedKeys)
      for (const key of this.#allKeys()) {
        added.push(key);
        if (pause.due(COST.item)) yield;
      }
    const inOrder = yield* sortInSteps(added, (a, b) => this.#keys.compare(a, b));
    const withoutIds: number[] = [];
    this.#sortedKeys = yield* this.#mergeKeys(sorted, inOrder, withoutIds);
    this.#sortingKeys = [];
    for (const key of withoutIds) {
      if (this.#keys.value(key) === 0) this.#keys.delete(key);
      if (pause.due(COST.key)) yield;
    }
    this.#sorting = undefined;
    this.#wasScanned = false;
  }

  /** Adds the keys without ids, which are not in the result, to `withoutIds`. */
  *#mergeKeys(sorted: Uint32Array, added: readonly number[], withoutIds: number[]): Steps<Uint32Array> {
    const merged = new Uint32Array(sorted.length + added.length);
    let length = 0;
    let last = -1;
    const pause = new Pause();
    for (let [at, addedAt] = [0, 0]; at < sorted.length || addedAt < added.length; ) {
      const [next, nextAdded] = [sorted[at], added[addedAt]];
      const takesSorted =
        nextAdded === undefined || (next !== undefined && this.#keys.compare(next, nextAdded) < 0);
      const key = (takesSorted ? next : nextAdded) ?? 0;
      if (takesSorted) at++;
      else addedAt++;
      if (pause.due(COST.item)) yield;
      // Only the first of duplicates decides, because the key may get or lose its ids between two steps.
      if (key === last) continue;
      last = key;
      if (this.#keys.value(key) === 0) withoutIds.push(key);
      else merged[length++] = key;
    }
    return merged.subarray(0, length);
  }

  /** The keys in [from, to]. They may include keys without ids. */
  *#keysIn(from: string, to: string): Generator<number> {
    this.#wasScanned = true;
    const sorted = this.#sortedKeys;
    const isInRange = (key: number) => {
      if (!this.#keys.has(key)) return false;
      const text = this.#keys.text(key);
      return text >= from && text <= to;
    };
    if (!sorted) {
      for (const key of this.#allKeys()) if (isInRange(key)) yield key;
      return;
    }
    const added = new Set<number>();
    for (const keys of [this.#sortingKeys, this.#newKeys])
      for (const key of keys) if (isInRange(key)) added.add(key);
    for (
      let at = lowerBound(sorted.length, (i) => this.#keys.text(sorted[i] ?? 0) < from);
      at < sorted.length;
      at++
    ) {
      const key = sorted[at] ?? 0;
      if (this.#keys.text(key) > to) break;
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

/** A set of small integers as bits: a set of a million takes 125 kB, and grows without a long pause. */
export class NumberSet implements Iterable<number> {
  #words = new Int32Array(32);
  #size = 0;

  constructor(members: Iterable<number> = []) {
    for (const member of members) this.add(member);
  }

  get size(): number {
    return this.#size;
  }

  add(member: number): void {
    const at = member >>> 5;
    if (at >= this.#words.length) {
      const words = new Int32Array(Math.max(at + 1, Math.ceil(this.#words.length * 1.5)));
      words.set(this.#words);
      this.#words = words;
    }
    const word = this.#words[at] ?? 0;
    const changed = word | (1 << (member & 31));
    if (changed === word) return;
    this.#words[at] = changed;
    this.#size++;
  }

  delete(member: number): boolean {
    const word = this.#words[member >>> 5] ?? 0;
    const bit = 1 << (member & 31);
    if ((word & bit) === 0) return false;
    this.#words[member >>> 5] = word & ~bit;
    this.#size--;
    return true;
  }

  /** The set may change meanwhile. A member that stays in it throughout is visited once. */
  *[Symbol.iterator](): Generator<number> {
    for (let at = 0; at < this.#words.length; at++) {
      for (let seen = 0; ; ) {
        const left = (this.#words[at] ?? 0) & ~seen;
        if (left === 0) break;
        const bit = left & -left;
        seen |= bit;
        // A removed lower bit is not visited again, and one that is added below the last one is not visited.
        seen |= bit - 1;
        yield at * 32 + (31 - Math.clz32(bit));
      }
    }
  }
}
