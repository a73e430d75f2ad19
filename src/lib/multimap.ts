/**
 * Maps from a key to several values. A `Multimap` has a set of values for each key that has any. `appendTo` adds to the list
 * of a key in an ordinary map, for groups that are built once and only read.
 */
export class Multimap<K, V> extends Map<K, Set<V>> {
  /** The values of the key; an empty set where it has none. */
  of(key: K): ReadonlySet<V> {
    return this.get(key) ?? NONE;
  }

  add(key: K, value: V): void {
    const values = this.get(key);
    if (values) values.add(value);
    else this.set(key, new Set([value]));
  }

  /** Returns whether the key had the value. A key whose last value is removed is deleted. */
  remove(key: K, value: V): boolean {
    const values = this.get(key);
    if (!values?.delete(value)) return false;
    if (values.size === 0) this.delete(key);
    return true;
  }
}

const NONE: ReadonlySet<never> = new Set();

export function appendTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
