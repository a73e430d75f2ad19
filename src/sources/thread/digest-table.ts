/**
 * Remembers a digest of the last claim of each entity, in place of the claim: an entity costs its id and twelve bytes. A
 * pass over a full set finds which claims differ, and at its end which entities were not in the set.
 */
const INITIAL_ENTRIES = 256;

export type DigestResult = "same" | "different" | "repeated";

export class DigestTable {
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  #digests = new BigUint64Array(INITIAL_ENTRIES);
  /** The pass in which an entry was seen last. */
  #passes = new Uint32Array(INITIAL_ENTRIES);
  #pass = 0;

  get size(): number {
    return this.#slots.size;
  }

  beginPass(): void {
    this.#pass++;
  }

  /** Stores the digest. `repeated` when the entity was in this pass already; then the first digest stays. */
  see(key: string, digest: bigint): DigestResult {
    const slot = this.#slots.get(key);
    if (slot !== undefined && this.#passes[slot] === this.#pass) return "repeated";
    return this.set(key, digest);
  }

  /** Stores the digest of an entity that changes apart from a pass. */
  set(key: string, digest: bigint): "same" | "different" {
    let slot = this.#slots.get(key);
    const isSame = slot !== undefined && this.#digests[slot] === digest;
    slot ??= this.#add(key);
    this.#digests[slot] = digest;
    this.#passes[slot] = this.#pass;
    return isSame ? "same" : "different";
  }

  /** Whether there was such an entry. */
  delete(key: string): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#slots.delete(key);
    this.#free.push(slot);
    return true;
  }

  /** Whether the entity has this digest. */
  has(key: string, digest: bigint): boolean {
    const slot = this.#slots.get(key);
    return slot !== undefined && this.#digests[slot] === digest;
  }

  /** Removes the entries that were not in this pass, and yields their keys. */
  *removeUnseen(): Generator<string> {
    for (const [key, slot] of this.#slots) {
      if (this.#passes[slot] === this.#pass) continue;
      this.delete(key);
      yield key;
    }
  }

  #add(key: string): number {
    const slot = this.#free.pop() ?? this.#slots.size;
    this.#slots.set(key, slot);
    if (slot >= this.#digests.length) this.#grow();
    return slot;
  }

  #grow(): void {
    const digests = new BigUint64Array(this.#digests.length * 2);
    const passes = new Uint32Array(this.#passes.length * 2);
    digests.set(this.#digests);
    passes.set(this.#passes);
    this.#digests = digests;
    this.#passes = passes;
  }
}
