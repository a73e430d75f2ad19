/**
 * A queue in which owners take turns. Within one owner items are in the order in which they were added last: an item that is
 * added again replaces the earlier one and moves to the end.
 */
interface Queued<Item> {
  readonly owner: string;
  readonly item: Item;
}

/** Of one owner before the next one has its turn. */
const ITEMS_PER_TURN = 64;

export class FairQueue<Item> {
  readonly #items = new Map<string, Queued<Item>>();
  /** The keys of each owner. The owner that is next comes first. */
  readonly #owners = new Map<string, Set<string>>();

  get size(): number {
    return this.#items.size;
  }

  add(owner: string, key: string, item: Item): void {
    this.#delete(key);
    this.#items.set(key, { owner, item });
    const keys = this.#owners.get(owner);
    if (keys) keys.add(key);
    else this.#owners.set(owner, new Set([key]));
  }

  clear(): void {
    this.#items.clear();
    this.#owners.clear();
  }

  /** Removes and returns up to `count` items. */
  take(count: number): Item[] {
    const taken: Item[] = [];
    // The iteration continues with the owners that are appended during it.
    for (const [owner, keys] of this.#owners) {
      if (taken.length >= count) break;
      this.#takeOf(keys, Math.min(ITEMS_PER_TURN, count - taken.length), taken);
      this.#owners.delete(owner);
      if (keys.size > 0) this.#owners.set(owner, keys);
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
    const queued = this.#items.get(key);
    if (!queued) return;
    this.#items.delete(key);
    const keys = this.#owners.get(queued.owner);
    keys?.delete(key);
    if (keys?.size === 0) this.#owners.delete(queued.owner);
  }
}
