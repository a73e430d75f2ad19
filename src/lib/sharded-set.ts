/**
 * Maps and sets of texts that grow to millions without a long pause. A hash table that grows copies all of its entries at
 * once, which takes a third of a second for a million entries. Here the entries are divided among many small tables, each
 * of which grows separately.
 */

/** There are many shards, because the garbage collector scans the whole of every table that was written to since its last run. */
const SHARDS = 256;
/** Number of entries up to which there is one table. Dividing it takes about four milliseconds. */
const MAX_UNDIVIDED = 8192;

export class ShardedMap<V extends {}> {
  #shards: Map<string, V>[] = [new Map()];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    return this.#shardOf(key).get(key);
  }

  has(key: string): boolean {
    return this.#shardOf(key).has(key);
  }

  set(key: string, value: V): void {
    const shard = this.#shardOf(key);
    const before = shard.size;
    shard.set(key, value);
    if (shard.size === before) return;
    this.#size++;
    if (this.#shards.length === 1 && this.#size > MAX_UNDIVIDED) this.#divide(shard);
  }

  delete(key: string): boolean {
    if (!this.#shardOf(key).delete(key)) return false;
    this.#size--;
    return true;
  }

  /** The map may change during the iteration. An entry that stays in it throughout is visited once. */
  *keys(): Generator<string> {
    for (const shard of this.#shards) yield* shard.keys();
  }

  #divide(only: ReadonlyMap<string, V>): void {
    this.#shards = Array.from({ length: SHARDS }, () => new Map());
    for (const [key, value] of only) this.#shardOf(key).set(key, value);
  }

  #shardOf(key: string): Map<string, V> {
    const shards = this.#shards;
    // `shardNumber` is below `SHARDS`, so the shard exists.
    return shards[shards.length === 1 ? 0 : shardNumber(key)] as Map<string, V>;
  }
}

function shardNumber(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
  return (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (SHARDS - 1);
}

export class ShardedSet implements Iterable<string> {
  readonly #members = new ShardedMap<true>();

  constructor(members: Iterable<string> = []) {
    for (const member of members) this.add(member);
  }

  get size(): number {
    return this.#members.size;
  }

  add(member: string): this {
    this.#members.set(member, true);
    return this;
  }

  has(member: string): boolean {
    return this.#members.has(member);
  }

  delete(member: string): boolean {
    return this.#members.delete(member);
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#members.keys();
  }
}
