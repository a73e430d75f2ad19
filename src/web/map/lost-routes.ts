/**
 * The pairs of devices of lost links, for the layout worker: it routes them as it does links, but they are no part of the
 * network. Each function yields now and then, so that the caller can pause: a cut may lose thousands of links.
 */
import type { NetworkDiff } from "../layout/network-diff.ts";
import { pairKey } from "./bundles.ts";

export interface DevicePair {
  readonly a: string;
  readonly b: string;
}

/** The number of pairs between two pauses. */
const STEP = 200;

/** Those of devices that the worker knows, as numbers, flat. */
export function* numberPairs(
  pairs: readonly DevicePair[],
  diff: NetworkDiff,
  numbers: number[],
): Generator<void> {
  for (const [i, { a, b }] of pairs.entries()) {
    const [p, q] = [diff.numberOf(a), diff.numberOf(b)];
    if (p !== undefined && q !== undefined) numbers.push(p, q);
    if (i % STEP === 0) yield;
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
  for (const [i, { a, b }] of before.entries()) {
    const key = pairKey(a, b);
    if (!kept.has(key) && !diff.isConnected(a, b)) routes.delete(key);
    if (i % STEP === 0) yield;
  }
}
