/**
 * What happens to the map when the network changes: nothing moves. A device that comes is put on a free spot near its
 * neighbours; one that goes leaves its spot free. Only when most of the network is another one is it laid out anew.
 */

import type { Topology } from "./cluster-assignment.ts";
import { type Arrangement, arrange, SPACING } from "./map-layout.ts";

export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly block: number;
}

/** Beyond this share of newcomers, a fresh picture is better than a patched one. */
const MAX_NEW = 0.3;
const FARTHEST_RING = 60;

/** Answers the arrangement and leaves in `kept` where everything is, for the next time. */
export function rearrange(graph: Topology, kept: Map<string, Spot>): Arrangement {
  const fresh = graph.nodes.filter((node) => !kept.has(node.id)).length;
  if (fresh > graph.nodes.length * MAX_NEW) return start(graph, kept);
  const taken = new Set<string>();
  for (const node of graph.nodes) {
    const spot = kept.get(node.id);
    if (spot) taken.add(cell(spot.x, spot.y));
  }
  // Those with a settled neighbour first, so that a chain of newcomers grows from its end.
  let waiting = graph.nodes.map((_, i) => i).filter((i) => !kept.has(graph.nodes[i]?.id ?? ""));
  for (let last = -1; waiting.length !== last; ) {
    last = waiting.length;
    waiting = waiting.filter((node) => !settle(graph, node, kept, taken));
  }
  const aside = outside(kept);
  for (const node of waiting) {
    kept.set(graph.nodes[node]?.id ?? "", { ...freeSpot(aside.x, aside.y, taken), block: aside.block });
  }
  return collected(graph, kept);
}

function start(graph: Topology, kept: Map<string, Spot>): Arrangement {
  const arrangement = arrange(graph);
  kept.clear();
  for (const [i, { id }] of graph.nodes.entries()) {
    kept.set(id, {
      x: arrangement.positions[i * 2] ?? 0,
      y: arrangement.positions[i * 2 + 1] ?? 0,
      block: arrangement.blockOf[i] ?? 0,
    });
  }
  return arrangement;
}

function collected({ nodes }: Topology, kept: ReadonlyMap<string, Spot>): Arrangement {
  const positions = new Float64Array(nodes.length * 2);
  const blockOf = new Uint32Array(nodes.length);
  for (const [i, { id }] of nodes.entries()) {
    const spot = kept.get(id);
    positions[i * 2] = spot?.x ?? 0;
    positions[i * 2 + 1] = spot?.y ?? 0;
    blockOf[i] = spot?.block ?? 0;
  }
  return { positions, blockOf };
}

const cell = (x: number, y: number): string =>
  `${Math.round(x / SPACING.width)},${Math.round(y / SPACING.height)}`;

function settle(graph: Topology, node: number, kept: Map<string, Spot>, taken: Set<string>): boolean {
  const anchors = (graph.neighbours[node] ?? []).flatMap(
    (other) => kept.get(graph.nodes[other]?.id ?? "") ?? [],
  );
  const [first] = anchors;
  if (first === undefined) return false;
  const x = anchors.reduce((sum, spot) => sum + spot.x, 0) / anchors.length;
  const y = anchors.reduce((sum, spot) => sum + spot.y, 0) / anchors.length + SPACING.height;
  kept.set(graph.nodes[node]?.id ?? "", { ...freeSpot(x, y, taken), block: first.block });
  return true;
}

/** Below everything, in a block of its own: where those go that nobody here is connected to. */
function outside(kept: ReadonlyMap<string, Spot>): Spot {
  let [x, y, block] = [0, 0, 0];
  for (const spot of kept.values()) {
    x = Math.min(x, spot.x);
    y = Math.max(y, spot.y);
    block = Math.max(block, spot.block);
  }
  return { x, y: y + SPACING.height * 2, block: block + 1 };
}

/** The nearest cell nobody stands on, looking in growing rings. */
function freeSpot(x: number, y: number, taken: Set<string>): { x: number; y: number } {
  for (let ring = 0; ring <= FARTHEST_RING; ring++) {
    for (let dy = 0; dy <= ring; dy++) {
      for (const dx of dy === ring ? steps(ring) : [-ring, ring]) {
        const at = { x: x + dx * SPACING.width, y: y + dy * SPACING.height };
        const key = cell(at.x, at.y);
        if (taken.has(key)) continue;
        taken.add(key);
        return at;
      }
    }
  }
  return { x, y };
}

const steps = (ring: number): number[] => Array.from({ length: ring * 2 + 1 }, (_, i) => i - ring);
