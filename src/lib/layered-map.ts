/**
 * An immutable map whose changed copies are cheap: a copy shares the large base and has its own small layer of changes. A
 * layer that becomes too large is merged into a new base, in steps. A reader can use its map for as long as it needs.
 */
import { COST, Pause, type Steps } from "./steps.ts";

/**
 * Number of changes in a layer that is kept: this many, plus the square root of twice the base's size times the changes that
 * arrive together. Then copying the layer for each of them costs as much as merging it into the base from time to time.
 */
const MIN_LAYER_SIZE = 64;
/** A map of this size is copied in one step: the runtime copies a map five times as fast as a loop does. */
const MAX_COPIED_SIZE = 16_384;

export class LayeredMap<K, V extends {}> {
  readonly size: number;
  readonly #base: ReadonlyMap<K, V>;
  /** The changes; undefined means that the key is removed. */
  readonly #layer: ReadonlyMap<K, V | undefined>;

  constructor(
    base: ReadonlyMap<K, V> = new Map(),
    layer: ReadonlyMap<K, V | undefined> = new Map(),
    size = base.size,
  ) {
    this.#base = base;
    this.#layer = layer;
    this.size = size;
  }

  get(key: K): V | undefined {
    if (this.size === 0) return undefined;
    if (this.#layer.size === 0) return this.#base.get(key);
    const changed = this.#layer.get(key);
    return changed !== undefined || this.#layer.has(key) ? changed : this.#base.get(key);
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  *entries(): Generator<[key: K, value: V]> {
    for (const [key, value] of this.#base) if (!this.#layer.has(key)) yield [key, value];
    for (const [key, value] of this.#layer) if (value !== undefined) yield [key, value];
  }

  *values(): Generator<V> {
    for (const [key, value] of this.#base) if (!this.#layer.has(key)) yield value;
    for (const value of this.#layer.values()) if (value !== undefined) yield value;
  }

  /** Returns a map with these changes; undefined removes a key. */
  *with(changes: Iterable<readonly [K, V | undefined]>): Steps<LayeredMap<K, V>> {
    const layer = new Map(this.#layer);
    let { size } = this;
    let count = 0;
    const pause = new Pause();
    for (const [key, value] of changes) {
      count++;
      const exists = layer.has(key) ? layer.get(key) !== undefined : this.#base.has(key);
      size += (value === undefined ? 0 : 1) - (exists ? 1 : 0);
      layer.set(key, value);
      if (pause.due(COST.item)) yield;
    }
    const balanced = MIN_LAYER_SIZE + Math.sqrt(2 * this.#base.size * count);
    if (layer.size <= Math.min(MAX_COPIED_SIZE, balanced)) return new LayeredMap(this.#base, layer, size);
    return new LayeredMap(yield* merge(this.#base, layer));
  }
}

function* merge<K, V extends {}>(
  base: ReadonlyMap<K, V>,
  layer: ReadonlyMap<K, V | undefined>,
): Steps<ReadonlyMap<K, V>> {
  const isCopied = base.size <= MAX_COPIED_SIZE;
  const merged = new Map<K, V>(isCopied ? base : []);
  const pause = new Pause();
  if (!isCopied)
    for (const [key, value] of base) {
      merged.set(key, value);
      if (pause.due(COST.item)) yield;
    }
  for (const [key, value] of layer) {
    if (value === undefined) merged.delete(key);
    else merged.set(key, value);
    if (pause.due(COST.item)) yield;
  }
  return merged;
}
