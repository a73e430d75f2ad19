/**
 * Joins records of several layers that are one thing: those that a record is supported by, transitively. The same rule
 * holds for nodes (one device) and for termination points (one port).
 *
 * A record that is supported by several of one network is an aggregate of different things: an abstract node over a
 * whole site, a port over the members of a link aggregate. It is a thing of its own and joins none of them.
 */
import { UnionFind } from "../../lib/union-find.ts";
import { appendTo } from "./topology-records.ts";

export interface Layered {
  readonly key: string;
  readonly network: string;
  /** Breaks ties, so that the order of the records does not matter. */
  readonly name: string;
  readonly supporting: readonly { readonly key: string; readonly network: string }[];
}

/** Each group is in the order of its layers, the lowest last: what nothing in the records supports. */
export function joinLayers<T extends Layered>(records: readonly T[]): T[][] {
  const supporting = new Map(records.map((record) => [record.key, withoutAggregates(record)]));
  const levels = levelsOf(supporting);
  const sets = new UnionFind<string>();
  for (const [key, below] of supporting) for (const other of below) sets.union(key, other);
  const groups = new Map<string, T[]>();
  for (const record of records) {
    appendTo(groups, sets.find(record.key), record);
  }
  const level = (record: T) => levels.get(record.key) ?? Number.MAX_SAFE_INTEGER;
  for (const group of groups.values()) {
    group.sort((a, b) => level(b) - level(a) || compare(b.name, a.name) || compare(b.key, a.key));
  }
  return [...groups.values()];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function withoutAggregates({ supporting }: Layered): string[] {
  const byNetwork = new Map<string, Set<string>>();
  for (const { key, network } of supporting) {
    byNetwork.set(network, (byNetwork.get(network) ?? new Set()).add(key));
  }
  return [...byNetwork.values()].flatMap((keys) => (keys.size === 1 ? [...keys] : []));
}

/**
 * 0 for what nothing in the records supports, then one more a layer. Computed from below, layer by layer, because a peer
 * may send a chain of any length. Records in a circle have no level.
 */
function levelsOf(supporting: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const above = new Map<string, string[]>();
  const levels = new Map<string, number>();
  let layer: string[] = [];
  for (const [key, below] of supporting) {
    const known = below.filter((other) => supporting.has(other));
    if (known.length === 0) layer.push(key);
    for (const other of known) appendTo(above, other, key);
  }
  for (let level = 0; layer.length > 0; level++) {
    for (const key of layer) levels.set(key, level);
    // Each once: otherwise layers of two nodes over two nodes would double the list with every layer.
    const next = new Set(layer.flatMap((key) => above.get(key) ?? []));
    layer = [...next].filter((key) => !levels.has(key));
  }
  return levels;
}
