/** Disjoint sets of keys. A key that was never joined is a set of its own. */
export class UnionFind<K> {
  readonly #parents = new Map<K, K>();

  /** The key that represents the set. */
  find(key: K): K {
    let root = key;
    for (let up = this.#parents.get(root); up !== undefined; up = this.#parents.get(root)) root = up;
    // Shortens the path for the next search.
    for (let at = key; at !== root; ) {
      const up = this.#parents.get(at) ?? root;
      this.#parents.set(at, root);
      at = up;
    }
    return root;
  }

  /** Returns false when both keys were in one set already. */
  union(a: K, b: K): boolean {
    const rootA = this.find(a);
    const rootB = this.find(b);
    if (rootA === rootB) return false;
    this.#parents.set(rootA, rootB);
    return true;
  }
}
