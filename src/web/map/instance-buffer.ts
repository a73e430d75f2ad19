/**
 * The instances that one draw call draws, kept in one array and sent to the GPU in the range that changed. An item is one
 * or more instances under a key: a device is one, the line of a cable one for each of its segments. Slots are kept dense:
 * the last instance moves into the slot of a removed one, so the cost of a change depends on the item, not on the map.
 */
const INITIAL_SLOTS = 256;

export class InstanceBuffer {
  /** The number of 32-bit words of one instance. */
  readonly stride: number;
  #words: Uint32Array;
  #count = 0;
  readonly #slots = new Map<string, number[]>();
  /** For each slot, the key of its item and which of its instances it is. */
  readonly #owners: { key: string; index: number }[] = [];
  #dirtyFrom = Number.POSITIVE_INFINITY;
  #dirtyTo = 0;

  constructor(stride: number) {
    this.stride = stride;
    this.#words = new Uint32Array(INITIAL_SLOTS * stride);
  }

  get count(): number {
    return this.#count;
  }

  /** Writes an item of `words.length / stride` instances. Returns false if it has these words already. */
  set(key: string, words: Uint32Array): boolean {
    const wanted = words.length / this.stride;
    const slots = this.#slots.get(key) ?? [];
    if (slots.length === wanted && this.#isEqual(slots, words)) return false;
    if (slots.length === 0) this.#slots.set(key, slots);
    while (slots.length > wanted) this.#removeSlot(slots.pop() ?? 0);
    while (slots.length < wanted) slots.push(this.#addSlot({ key, index: slots.length }));
    for (const [index, slot] of slots.entries()) {
      const start = index * this.stride;
      this.#words.set(words.subarray(start, start + this.stride), slot * this.stride);
      this.#markDirty(slot);
    }
    return true;
  }

  delete(key: string): boolean {
    const slots = this.#slots.get(key);
    if (!slots) return false;
    this.#slots.delete(key);
    // Taken from the list before it is removed, because removing may move another slot of the same item.
    for (let slot = slots.pop(); slot !== undefined; slot = slots.pop()) this.#removeSlot(slot, slots);
    return true;
  }

  /** Passes what changed since the last call to `write`: all words when the array has grown, else a range. */
  flush(write: (words: Uint32Array, firstWord: number, length: number) => void): void {
    const [from, to] = [this.#dirtyFrom, Math.min(this.#dirtyTo, this.#count)];
    this.#dirtyFrom = Number.POSITIVE_INFINITY;
    this.#dirtyTo = 0;
    if (from < to) write(this.#words, from * this.stride, (to - from) * this.stride);
  }

  /** For a new GPU buffer, as after a lost context. */
  markAllDirty(): void {
    this.#dirtyFrom = 0;
    this.#dirtyTo = this.#count;
  }

  get capacityWords(): number {
    return this.#words.length;
  }

  #isEqual(slots: readonly number[], words: Uint32Array): boolean {
    for (const [index, slot] of slots.entries()) {
      const [start, own] = [index * this.stride, slot * this.stride];
      for (let i = 0; i < this.stride; i++) if (this.#words[own + i] !== words[start + i]) return false;
    }
    return true;
  }

  #addSlot(owner: { key: string; index: number }): number {
    const slot = this.#count++;
    this.#owners[slot] = owner;
    if (this.#count * this.stride > this.#words.length) {
      const grown = new Uint32Array(this.#words.length * 2);
      grown.set(this.#words);
      this.#words = grown;
      this.markAllDirty();
    }
    return slot;
  }

  /** `remaining` are the slots of the item that is being deleted and has no entry any more. */
  #removeSlot(slot: number, remaining?: number[]): void {
    const last = --this.#count;
    const owner = this.#owners[last];
    this.#owners.length = last;
    if (slot === last || !owner) return;
    this.#words.copyWithin(slot * this.stride, last * this.stride, (last + 1) * this.stride);
    this.#owners[slot] = owner;
    const slots = this.#slots.get(owner.key) ?? remaining;
    if (slots) slots[owner.index] = slot;
    this.#markDirty(slot);
  }

  #markDirty(slot: number): void {
    this.#dirtyFrom = Math.min(this.#dirtyFrom, slot);
    this.#dirtyTo = Math.max(this.#dirtyTo, slot + 1);
  }
}
