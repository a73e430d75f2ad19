/** A set of small integers as bits: a set of a million takes 125 kB, and grows without a long pause. */
export class NumberSet implements Iterable<number> {
  #words = new Uint32Array(32);
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
      const words = new Uint32Array(Math.max(at + 1, Math.ceil(this.#words.length * 1.5)));
      words.set(this.#words);
      this.#words = words;
    }
    const word = this.#words[at] ?? 0;
    const changed = word | (1 << (member & 31));
    if (changed >>> 0 === word) return;
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
