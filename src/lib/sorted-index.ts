/**
 * A multimap from text keys to ids that answers one key at once and a range of keys by their order.
 *
 * Keys are found by hash; their order is worked out when a range is first asked for, and keys that come later wait in
 * a short list beside it until there are enough of them to sort in. A tree or sorted blocks would pay for order at
 * every change, in twenty string comparisons all over memory; here a change costs one or two look-ups.
 */

/** How many fresh keys a range looks through one by one: so many, and one for so many in order. */
const MAX_NEW_KEYS = 1024;
const SORTED_PER_NEW_KEY = 128;

/**
 * Ids of one key stand in an array, which takes a fraction of the room and time of a set, until finding one in it would
 * take long: it becomes a set when one goes of more than so many, and before that would itself take long.
 */
const MAX_SEARCHED_IDS = 64;
const MAX_ARRAY_IDS = 1024;

/** One id is itself: most keys of a large index have one. */
type Ids = string | string[] | Set<string>;

export class SortedIndex {
  readonly #ids = new Map<string, Ids>();
  /** Keys in order. Some may be gone. */
  #sortedKeys: readonly string[] = [];
  /** Keys that came since, in order of coming. Some may be gone, or have gone and come again. */
  #newKeys: string[] = [];
  /** Whether any key has gone since the order was worked out. */
  #hasRemovedKeys = false;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Puts an id under a key, where the caller knows that it is not yet. */
  add(key: string, id: string): void {
    const there = this.#ids.get(key);
    if (there === undefined) {
      this.#ids.set(key, id);
      this.#newKeys.push(key);
      // Keys that come and go for ever must not pile up where nobody asks for a range.
      if (this.#newKeys.length > MAX_NEW_KEYS + this.#ids.size) this.sortKeys();
    } else if (typeof there === "string") this.#ids.set(key, [there, id]);
    else if (there instanceof Set) there.add(id);
    else if (there.length >= MAX_ARRAY_IDS) this.#ids.set(key, new Set(there).add(id));
    else there.push(id);
    this.#size++;
  }

  /** Takes an id away from a key; nothing happens where it is not. */
  delete(key: string, id: string): void {
    const there = this.#ids.get(key);
    if (there === undefined) return;
    if (typeof there === "string" ? there !== id : !this.#deleteFrom(there, key, id)) return;
    this.#size--;
    if (typeof there !== "string" && idCount(there) > 0) return;
    this.#ids.delete(key);
    this.#hasRemovedKeys = true;
  }

  #deleteFrom(there: string[] | Set<string>, key: string, id: string): boolean {
    if (there instanceof Set) return there.delete(id);
    if (there.length > MAX_SEARCHED_IDS) {
      const ids = new Set(there);
      this.#ids.set(key, ids);
      return ids.delete(id);
    }
    const at = there.indexOf(id);
    if (at >= 0) there.splice(at, 1);
    return at >= 0;
  }

  has(key: string): boolean {
    return this.#ids.has(key);
  }

  get(key: string): Iterable<string> {
    const there = this.#ids.get(key) ?? NO_IDS;
    return typeof there === "string" ? [there] : there;
  }

  /** The ids whose keys lie in [from, to], in no particular order; once for each of their keys there. */
  range(from: string, to: string): Iterable<string> {
    return from === to ? this.get(from) : this.#idsIn(from, to);
  }

  *#idsIn(from: string, to: string): Generator<string> {
    for (const key of this.#keysIn(from, to)) yield* this.get(key);
  }

  /** Puts the same into `into`, unless that would then hold more than `most`: false, and how far it came is left open. */
  collect(from: string, to: string, into: string[], most: number): boolean {
    if (from === to) return collectIds(this.#ids.get(from), into, most);
    for (const key of this.#keysIn(from, to)) if (!collectIds(this.#ids.get(key), into, most)) return false;
    return true;
  }

  /** Each different key once, in order. */
  keys(): string[] {
    return [...this.#ids.keys()].sort();
  }

  /** Sorts in what came: done at need, or beforehand by whoever would not have the first range wait for it. */
  sortKeys(): void {
    const order = this.#sortedKeys;
    const fresh = this.#newKeys.sort();
    // The first time, which is the large one, there is nothing to merge and nothing to leave out.
    this.#sortedKeys = order.length === 0 && !this.#hasRemovedKeys ? fresh : this.#mergeKeys(order, fresh);
    this.#newKeys = [];
    this.#hasRemovedKeys = false;
  }

  #mergeKeys(order: readonly string[], fresh: readonly string[]): string[] {
    const merged: string[] = [];
    const keep = (key: string) => {
      if (key !== merged.at(-1) && this.#ids.has(key)) merged.push(key);
    };
    let at = 0;
    for (const key of fresh) {
      for (let next = order[at]; next !== undefined && next < key; next = order[++at]) keep(next);
      keep(key);
    }
    for (; at < order.length; at++) keep(order[at] ?? "");
    return merged;
  }

  *#keysIn(from: string, to: string): Generator<string> {
    if (this.#newKeys.length > MAX_NEW_KEYS + this.#sortedKeys.length / SORTED_PER_NEW_KEY) this.sortKeys();
    const order = this.#sortedKeys;
    const fresh = new Set<string>();
    for (const key of this.#newKeys) if (key >= from && key <= to) fresh.add(key);
    for (let at = lowerBound(order, from); at < order.length; at++) {
      const key = order[at] ?? "";
      if (key > to) break;
      fresh.delete(key);
      yield key;
    }
    yield* fresh;
  }
}

const NO_IDS: readonly string[] = [];

const idCount = (ids: Ids): number =>
  typeof ids === "string" ? 1 : ids instanceof Set ? ids.size : ids.length;

function collectIds(ids: Ids | undefined, into: string[], most: number): boolean {
  if (ids === undefined) return true;
  if (into.length + idCount(ids) > most) return false;
  if (typeof ids === "string") into.push(ids);
  else for (const id of ids) into.push(id);
  return true;
}

function lowerBound(order: readonly string[], key: string): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((order[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
