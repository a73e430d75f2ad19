/**
 * A depth-first search of the repaired graph from the largest part. A device and all that lies behind it are a range in the
 * order of the search, so that counts are differences of sums. `low` finds what a single device or cable separates
 * (Tarjan), and the blocks: within one, no single device or cable separates anything. The stack is explicit.
 */
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import { type RepairedGraph, ROOT } from "./repaired-graph.ts";

const NONE = -1;

export interface SearchTree {
  /** The nodes in the order of the search; the first is the root. */
  readonly order: Int32Array;
  /** By node: its place in the order, or -1 where nothing leads to it. */
  readonly place: Int32Array;
  /** By node: how many nodes its subtree has. */
  readonly size: Int32Array;
  readonly parent: Int32Array;
  /** By node: the lowest place that its subtree is joined to, other than by the only cable to its parent. */
  readonly low: Int32Array;
  /** By node: the node whose subtree is its block and all that lies behind that. */
  readonly blockTop: Int32Array;
}

export function* searchFromRoot(graph: RepairedGraph): Steps<SearchTree> {
  const count = graph.devices.length;
  const place = new Int32Array(count).fill(NONE);
  const low = new Int32Array(count);
  const size = new Int32Array(count).fill(1);
  const parent = new Int32Array(count).fill(NONE);
  const order: number[] = [];
  const stack: { readonly node: number; readonly neighbours: readonly number[]; next: number }[] = [];
  const enter = (node: number): void => {
    place[node] = low[node] = order.length;
    order.push(node);
    stack.push({ node, neighbours: graph.neighbours(node), next: 0 });
  };
  enter(ROOT);
  const pause = new Pause();
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    if (pause.due(COST.key)) yield;
    const { node } = top;
    const neighbour = top.neighbours[top.next++];
    if (neighbour === undefined) {
      stack.pop();
      const up = parent[node] ?? NONE;
      if (up === NONE) continue;
      low[up] = Math.min(low[up] ?? 0, low[node] ?? 0);
      size[up] = (size[up] ?? 0) + (size[node] ?? 0);
    } else if (place[neighbour] === NONE) {
      parent[neighbour] = node;
      enter(neighbour);
    } else if (neighbour !== parent[node] || graph.cables(node, neighbour) > 1)
      low[node] = Math.min(low[node] ?? 0, place[neighbour] ?? 0);
  }
  const blockTop = new Int32Array(count).fill(NONE);
  for (const node of order) {
    const up = parent[node] ?? NONE;
    const begins = up === NONE || (low[node] ?? 0) >= (place[up] ?? 0);
    blockTop[node] = begins ? node : (blockTop[up] ?? node);
  }
  return { order: Int32Array.from(order), place, size, parent, low, blockTop };
}
