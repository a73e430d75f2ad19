/**
 * The pairs of devices of lost links, for the layout worker: it routes them as it does links, but they are no part of the
 * network. Each function yields after every pair, so that the caller can pause: a cut may lose thousands of links.
 */
import type { NetworkDiff } from "../layout/network-diff.ts";
import { pairKey } from "./bundles.ts";

export interface DevicePair {
  readonly a: string;
  readonly b: string;
}

/** Those of devices that the worker knows, as numbers, flat. */
export function* numberPairs(
  pairs: readonly DevicePair[],
  diff: NetworkDiff,
  numbers: number[],
): Generator<void> {
  for (const { a, b } of pairs) {
    const [p, q] = [diff.numberOf(a), diff.numberOf(b)];
    if (p !== undefined && q !== undefined) numbers.push(p, q);
    yield;
  }
}

/** Of pairs that are no longer lost and that no link joins. */
export function* dropRoutes(
  before: readonly DevicePair[],
  now: readonly DevicePair[],
  diff: NetworkDiff,
  routes: Map<string, Float64Array>,
): Generator<void> {
  const kept = new Set(now.map(({ a, b }) => pairKey(a, b)));
  for (const { a, b } of before) {
    const key = pairKey(a, b);
    if (!kept.has(key) && !diff.isConnected(a, b)) routes.delete(key);
    yield;
  }
}
