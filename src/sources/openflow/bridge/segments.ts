/** Segments: ports that receive each other's broadcast probes, so a bridge without OpenFlow connects them. In steps. */
import { pausing, type Steps, sortInSteps } from "../../../lib/steps.ts";
import { type PortRef, portKey } from "../codec/port-ref.ts";
import type { DiscoveredLink } from "../discovery/link-table.ts";

const LINKS_PER_STEP = 128;

interface SegmentPort {
  readonly ref: PortRef;
  readonly others: PortRef[];
}

/** Returns each segment's name and its ports. */
export function* findSegments(links: readonly DiscoveredLink[]): Steps<Map<string, PortRef[]>> {
  const neighbours = new Map<string, SegmentPort>();
  const connect = (ref: PortRef, other: PortRef) => {
    const known = neighbours.get(portKey(ref)) ?? { ref, others: [] };
    known.others.push(other);
    neighbours.set(portKey(ref), known);
  };
  for (const link of pausing(links, LINKS_PER_STEP)) {
    if (!link) {
      yield;
      continue;
    }
    connect(link.src, link.dst);
    connect(link.dst, link.src);
  }
  const segments = new Map<string, PortRef[]>();
  const visited = new Set<string>();
  for (const key of yield* sortInSteps([...neighbours.keys()], (a, b) => (a < b ? -1 : 1))) {
    if (visited.has(key)) continue;
    segments.set(`segment ${key}`, yield* reachablePorts(key, neighbours, visited));
  }
  return segments;
}

function* reachablePorts(
  first: string,
  neighbours: ReadonlyMap<string, SegmentPort>,
  visited: Set<string>,
): Steps<PortRef[]> {
  const ports: PortRef[] = [];
  const queue = [first];
  visited.add(first);
  for (const next of queue) {
    const node = neighbours.get(next);
    if (!node) continue;
    ports.push(node.ref);
    for (const other of node.others.map(portKey)) {
      if (!visited.has(other)) queue.push(other);
      visited.add(other);
    }
    yield;
  }
  return ports;
}
