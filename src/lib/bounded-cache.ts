/**
 * A least-recently-used cache with a bound on the summed size of its entries. Every cache of the service is one of these,
 * so that no client can make a map grow without end.
 *
 * The bound is always `lru-cache`'s `maxSize`, never its `max`: with `max` the library allocates all slots at once, which
 * costs megabytes for a cache that may stay empty.
 */
import { LRUCache } from "lru-cache";

export interface BoundedCacheOptions<K, V> {
  /** The bound on the sum of sizes, in the unit of `sizeOf`: entries or bytes. */
  readonly maxSize: number;
  /** The size of one entry, at least 1. Default: every entry counts 1. */
  readonly sizeOf?: (value: V, key: K) => number;
  /** Called with an entry that was evicted ("evict"), replaced ("set") or deleted ("delete"). */
  readonly onRemove?: (value: V, key: K, reason: LRUCache.DisposeReason) => void;
}

export type BoundedCache<K extends {}, V extends {}> = Pick<
  LRUCache<K, V>,
  "get" | "set" | "has" | "delete" | "clear" | "size" | "calculatedSize" | "entries" | "values" | "peek"
>;

/** An entry larger than `maxSize` is not stored. */
export function createBoundedCache<K extends {}, V extends {}>({
  maxSize,
  sizeOf = () => 1,
  onRemove,
}: BoundedCacheOptions<K, V>): BoundedCache<K, V> {
  return new LRUCache<K, V>({ maxSize, sizeCalculation: sizeOf, ...(onRemove && { dispose: onRemove }) });
}

const MAX_MEMOIZED_TEXTS = 128;
const MAX_MEMOIZED_TEXT_LENGTH = 512;

/** Caches the results of a pure function of a text, such as a header value. Results for long texts are not cached. */
export function memoizeText<T extends {}>(compute: (text: string) => T): (text: string) => T {
  const results = createBoundedCache<string, T>({ maxSize: MAX_MEMOIZED_TEXTS });
  return (text) => {
    const cached = results.get(text);
    if (cached !== undefined) return cached;
    const result = compute(text);
    if (text.length <= MAX_MEMOIZED_TEXT_LENGTH) results.set(text, result);
    return result;
  };
}
