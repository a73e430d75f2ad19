/**
 * A queue in which owners take turns. Within one owner items are in the order in which they were added last: an item that is
 * added again replaces the earlier one and moves to the end. Turns matter only when not all items are taken at once, which
 * is rare, so the items are sorted by owner only from `MAX_UNSORTED` on.
 */
interface Queued<Item> {
  readonly owner: string;
  readonly item: Item;
}

/** Of one owner before the next one has its turn. */
const ITEMS_PER_TURN = 64;
const MAX_UNSORTED = 2048;

export class FairQueue<Item> {
  readonly #items = new Map<string, Queued<Item>>();
  /** The keys of each owner, when items are sorted. The owner that is next comes first. */
  #owners: Map<string, Set<string>> | undefined;

  get size(): number {
    return this.#items.size;
  }

  add(owner: string, key: string, item: Item): void {
    this.#delete(key);
    this.#items.set(key, { owner, item });
    if (this.#owners) sortIn(this.#owners, owner, key);
    else if (this.#items.size > MAX_UNSORTED) this.#sort();
  }

  clear(): void {
    this.#items.clear();
    this.#owners = undefined;
  }

  /** Removes and returns up to `count` items. */
  take(count: number): Item[] {
    const taken: Item[] = [];
    if (this.#items.size <= count) {
      for (const { item } of this.#items.values()) taken.push(item);
      this.clear();
      return taken;
    }
    const owners = this.#owners ?? this.#sort();
    // The iteration continues with the owners that are appended during it.
    for (const [owner, keys] of owners) {
      if (taken.length >= count) break;
      this.#takeOf(keys, Math.min(ITEMS_PER_TURN, count - taken.length), taken);
      owners.delete(owner);
      if (keys.size > 0) owners.set(owner, keys);
    }
    return taken;
  }

  #takeOf(keys: Set<string>, count: number, taken: Item[]): void {
    let left = count;
    for (const key of keys) {
      if (left-- <= 0) return;
      const queued = this.#items.get(key);
      keys.delete(key);
      this.#items.delete(key);
      if (queued) taken.push(queued.item);
    }
  }

  #delete(key: string): void {
    if (!this.#owners) {
      this.#items.delete(key);
      return;
    }
    const queued = this.#items.get(key);
    if (!queued) return;
    this.#items.delete(key);
    const keys = this.#owners.get(queued.owner);
    keys?.delete(key);
    if (keys?.size === 0) this.#owners.delete(queued.owner);
  }

  #sort(): Map<string, Set<string>> {
    const owners = new Map<string, Set<string>>();
    for (const [key, { owner }] of this.#items) sortIn(owners, owner, key);
    this.#owners = owners;
    return owners;
  }
}

function sortIn(owners: Map<string, Set<string>>, owner: string, key: string): void {
  const keys = owners.get(owner);
  if (keys) keys.add(key);
  else owners.set(owner, new Set([key]));
}
